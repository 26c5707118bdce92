"""Files of paths: any order in, user and time order out; hostile and broken files are refused without showing a place."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.errors import DeniableError, InvalidParameter, Malformed
from deniable.studies import Paths, in_pieces, read_paths, stream_paths, write_paths
from deniable.studies.trajectories.json_events import JsonEvents
from deniable.studies.trajectories.readers_csv import read_csv

TRACKS = Paths.of([[(10.0, 50.0), (10.5, 50.25), (10.125, 50.5)], [(-70.5, -33.25)], [(11.0, 51.0), (11.5, 51.5)]])


def saved(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def same(one: Paths, other: Paths) -> bool:
    return bool(np.array_equal(one.starts, other.starts) and np.allclose(one.places, other.places, rtol=0, atol=1e-9))


@pytest.mark.parametrize("ending", [".csv", ".gpx", ".geojson", ".json"])
def test_what_is_written_is_read_again_whole_or_in_pieces(tmp_path: Path, ending: str) -> None:
    path = write_paths(TRACKS, tmp_path / f"tracks{ending}")
    assert same(read_paths(path).paths, TRACKS)
    assert same(stream_paths(path).collect().paths, TRACKS)
    again = write_paths(stream_paths(path), tmp_path / f"again{ending}")
    assert again.read_bytes() == path.read_bytes()


def test_rows_in_any_order_become_paths_by_user_and_time(tmp_path: Path) -> None:
    rows = [
        "lng;when;Lat;User ID",
        "2;2012-01-02;0;b",
        "1;2012-01-02 10:00:00;0;a",
        "3;2012-01-01T23:00:00Z;0;b",
        "4;2012-01-01;0;a",
    ]
    path = saved(tmp_path, "checkins.csv", "\r\n".join(rows))
    found = read_csv(path, columns={"time": "when"}, keep_users=True)
    assert [path[:, 0].tolist() for path in found.paths] == [[3, 2], [4, 1]]
    assert found.users == ("b", "a")
    assert read_csv(path, columns={"time": "when"}).users is None
    with pytest.raises(InvalidParameter, match="not together"):
        stream_paths(path, columns={"time": "when"}).collect()


def test_a_stream_out_of_time_order_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.csv", "user,time,x,y\na,2,0,0\na,1,0,0\n")
    with pytest.raises(InvalidParameter, match=r"line 3.*time order"):
        stream_paths(path).collect()
    assert read_paths(path).unit == "plane"


def test_the_times_of_all_three_kinds_are_ordered(tmp_path: Path) -> None:
    rows = ["a,Sat Dec 08 05:56:34 +0000 2012,1,0", "a,Sat Dec 08 05:56:34 +0900 2012,2,0", "a,Fri Nov 30 05:56:34 +0000 2012,3,0"]
    path = saved(tmp_path, "t.csv", "user,utc time,x,y\n" + "\n".join(rows))
    assert read_paths(path).paths.places[:, 0].tolist() == [3, 2, 1]
    bad = saved(tmp_path, "bad.csv", "user,time,x,y\na,yesterday,1,1\n")
    with pytest.raises(InvalidParameter, match="line 2: the time cannot be read"):
        read_paths(bad)


def test_latin_text_is_read_when_it_is_not_utf8(tmp_path: Path) -> None:
    path = saved(tmp_path, "l.csv", "user,café,lat,lon\nJosé,1,2,3\n".encode("latin-1"))
    assert read_csv(path, keep_users=True).users == ("José",)
    marked = saved(tmp_path, "m.csv", "\ufeffuser,lat,lon\nJosé,2,3\n")
    assert read_csv(marked, keep_users=True).users == ("José",)


SECRET = "77.4242"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("swapped.csv", f"lat,lon\n-{SECRET}1,41.5\n-97.4242,41.5\n", "look swapped"),
        ("nan.csv", f"lat,lon\nnan,{SECRET}\n", "not a number"),
        ("empty.csv", f"lat,lon\n,{SECRET}\n", "not a number"),
        ("inf.csv", f"lat,lon\ninf,{SECRET}\n", "not a number"),
        ("far.csv", f"lat,lon\n{SECRET},999\n", "not valid degrees"),
        ("short.csv", f"lat,lon\n{SECRET}\n", "line 2: the row has fewer columns"),
        ("names.csv", f"breite,laenge\n{SECRET},1\n", "no columns named"),
        ("bomb.gpx", f'<!DOCTYPE a [<!ENTITY b "{SECRET}">]><gpx>&b;</gpx>', "entities"),
        ("cut.gpx", f'<gpx><trk><trkseg><trkpt lat="{SECRET}"', "not well-formed XML"),
        ("other.gpx", f"<svg>{SECRET}</svg>", "not GPX"),
        ("nan.gpx", f'<gpx><trk><trkseg><trkpt lat="{SECRET}" lon="x"/></trkseg></trk></gpx>', "not a number"),
        ("cut.geojson", f'{{"type": "LineString", "coordinates": [[{SECRET}, 2], [3', "ends too early"),
        ("text.geojson", f'{{"type": "LineString", "coordinates": [["{SECRET}", 2], [3, 4]]}}', "not a number"),
        ("huge.geojson", f'{{"type": "LineString", "coordinates": [[{SECRET}, 2], [1{"0" * 400}, 2], [1, 2]]}}', "not a number"),
        ("true.geojson", f'{{"type": "LineString", "coordinates": [[{SECRET}, 2], [true, 2], [1, 2]]}}', "not a number"),
        ("deep.geojson", f'{{"type": "LineString", "coordinates": [[[{SECRET}, 2]]]}}', "do not fit"),
        ("polygon.geojson", f'{{"type": "Polygon", "coordinates": [[[{SECRET}, 2]]]}}', "holds no path"),
        ("comma.geojson", f'{{"type": "LineString",, "coordinates": [[{SECRET}, 2]]}}', "not well-formed JSON"),
        ("list.geojson", f"[{SECRET}]", "not GeoJSON"),
        ("swapped.geojson", f'{{"type": "LineString", "coordinates": [[41.5, -1{SECRET}], [41.5, -98.1]]}}', "look swapped"),
        ("nest.geojson", '{"a":' * 100 + SECRET, "nested deeper"),
    ],
)
def test_bad_files_are_refused_without_showing_a_place(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = saved(tmp_path, name, text)
    for read in (read_paths, lambda path: stream_paths(path).collect()):
        with pytest.raises(DeniableError, match=message) as caught:
            read(path)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None


def test_bad_places_are_dropped_and_counted_on_request(tmp_path: Path) -> None:
    path = saved(tmp_path, "d.csv", "user,lat,lon\na,1,2\na,nan,2\nb,95,3\na,3,4\n")
    found = read_csv(path, bad="drop")
    assert found.paths.lengths.tolist() == [2, 0]
    assert found.dropped == 2
    grouped = saved(tmp_path, "g.csv", "user,lat,lon\na,1,2\na,nan,2\nb,95,3\nc,3,4\n")
    streamed = stream_paths(grouped, bad="drop").collect()
    assert streamed.paths.lengths.tolist() == [1, 0, 1]
    assert streamed.dropped == 2
    with pytest.raises(InvalidParameter, match="'refuse' or 'drop'"):
        read_csv(path, bad="skip")  # type: ignore[arg-type]


def test_geojson_in_every_shape(tmp_path: Path) -> None:
    points = [(1, "b", 5), (2, "a", 4), (3, "a", 3)]
    collection: dict[str, Any] = {
        "features": [
            {"type": "Feature", "geometry": {"coordinates": [x, 0, 99], "type": "Point"}, "properties": {"User": u, "time": t}}
            for x, u, t in points
        ]
        + [
            {"geometry": {"coordinates": [[[0, 1], [0, 2]], [], [[0, 3]]], "type": "MultiLineString"}, "type": "Feature"},
            {"properties": {"coordinates": [[8, 8]], "type": "x"}, "type": "Feature", "geometry": None},
            {"type": "GeometryCollection", "geometries": [{"type": "LineString", "coordinates": [[0, 4]]}]},
        ],
        "type": "FeatureCollection",
    }
    for indent in (None, 2):
        path = saved(tmp_path, "c.geojson", json.dumps(collection, indent=indent))
        paths = read_paths(path)
        assert [path.tolist() for path in paths.paths] == [
            [[0, 1], [0, 2]], [], [[0, 3]], [[0, 4]], [[1, 0]], [[3, 0], [2, 0]],
        ]  # fmt: skip
    collection["features"] = [collection["features"][0], collection["features"][-1]]
    with pytest.raises(InvalidParameter, match="cannot be streamed"):
        stream_paths(saved(tmp_path, "both.geojson", json.dumps(collection))).collect()
    bare = saved(tmp_path, "p.geojson", '{"type": "Point", "coordinates": [1, 2]}')
    assert read_paths(bare).paths.places.tolist() == [[1, 2]]


@pytest.mark.parametrize("block", [1, 2, 7, 64])
def test_blocks_may_end_anywhere_in_a_json_text(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_paths(TRACKS, tmp_path / "t.geojson")
    monkeypatch.setattr("deniable.studies.trajectories.json_events.BLOCK", block)
    assert same(read_paths(path).paths, TRACKS)


def test_json_events_agree_with_the_standard_parser(tmp_path: Path) -> None:
    for text in (
        '{"a": [1, -2.5e3, "x\\"y", null, true], "b": {}}',
        "[]",
        "3",
        "[1 2]",
        "[1,]",
        '{"a" 1}',
        "{1: 2}",
        "tru",
        "[}",
        "1 2",
    ):
        path = saved(tmp_path, "x.json", text)
        try:
            json.loads(text)
            good = True
        except ValueError:
            good = False
        with open(path) as file:
            if good:
                list(JsonEvents(file))
            else:
                with pytest.raises(Malformed):
                    list(JsonEvents(file))


def test_a_path_across_the_date_line_is_written_without_a_jump(tmp_path: Path) -> None:
    crossing = Paths.of([[(179.5, -17.0), (-179.5, -17.5), (179.75, -18.0)]])
    text = json.loads(write_paths(crossing, tmp_path / "d.geojson").read_text())
    assert [x for x, _ in text["features"][0]["geometry"]["coordinates"]] == [179.5, 180.5, 179.75]
    for ending in (".geojson", ".gpx", ".csv"):
        assert same(read_paths(write_paths(crossing, tmp_path / f"d{ending}")).paths, crossing)


def test_users_are_written_only_when_given(tmp_path: Path) -> None:
    for ending in (".csv", ".gpx", ".geojson"):
        assert "alice" not in write_paths(TRACKS, tmp_path / f"n{ending}").read_text()
        text = write_paths(TRACKS, tmp_path / f"u{ending}", users=["alice <&>", "b", "c"]).read_text()
        assert "alice" in text
    with pytest.raises(InvalidParameter, match="one entry per path"):
        write_paths(TRACKS, tmp_path / "x.csv", users=["a"])
    assert not list(tmp_path.glob(".*part"))


def test_plane_coordinates_need_csv(tmp_path: Path) -> None:
    plane = Paths.of([[(0.5, 1e6), (2.5, 3.5)]])
    assert same(read_paths(write_paths(plane, tmp_path / "p.csv", unit="plane")).paths, plane)
    with pytest.raises(InvalidParameter, match="degrees only"):
        write_paths(plane, tmp_path / "p.gpx", unit="plane")
    with pytest.raises(InvalidParameter, match="pair of degrees"):
        write_paths(plane, tmp_path / "p.csv")
    with pytest.raises(InvalidParameter, match="must end in"):
        read_paths(tmp_path / "p.shp")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".gpx", ".geojson"])
def test_long_tracks_stream_in_constant_memory(tmp_path: Path, ending: str) -> None:
    def peak(count: int) -> int:
        angle = np.linspace(0, 50, count)
        track = Paths.of([np.stack([10 + np.cos(angle), 50 + np.sin(angle)], axis=1)])
        path = write_paths(in_pieces(track), tmp_path / f"long{ending}")
        tracemalloc.start()
        places = sum(len(piece.places) for piece in stream_paths(path))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert places == count
        return used

    small, large = peak(20_000), peak(80_000)
    # Longer, and the same memory; a reader that kept everything would need 0.96 MB more for the numbers alone.
    assert large < small + 400_000
