"""Charts of movement: every mark comes from the data it is given, and every chart can be rendered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.charts import density_map_chart, path_chart, save, trajectory_error_chart
from deniable.charts.trajectories import trip_chart
from deniable.core import Interval, Rectangle, make_mechanism
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.studies import Paths, density_map, fine_density_map, origin_destination

SQUARE = Rectangle(Interval(0, 4000, cells=4), Interval(0, 2000, cells=2))
MECHANISM = make_mechanism("nearest-cells", domain=SQUARE, epsilon=6, area="1/8")
PLACES = np.array([(500, 500), (3500, 1500)] * 200, float)
REPORTS = randomize_many(MECHANISM, PLACES, FixedKeystream("charts"))
PATHS = Paths.of([PLACES[:4], PLACES[4:6], PLACES[6:7]])


def rows(chart: Any) -> list[dict[str, Any]]:
    """All data of a chart; of layers it stands together at the top, under names of its own."""
    found = chart.to_dict()
    layers = [layer["data"] for layer in found.get("layer", [found]) if "data" in layer]
    inner = [row for data in layers for row in data.get("values", [])]
    return inner + [row for values in found.get("datasets", {}).values() for row in values]


def test_paths_are_drawn_in_kilometres_with_their_perturbed_ones(tmp_path: Path) -> None:
    chart = path_chart(PATHS, PATHS.with_places(PATHS.places + 100), shown=2, title="Paths", unit="m")
    marks = [row for row in rows(chart) if "kind" in row]
    lines = {(row["kind"], row["path"], row["step"]): (row["x"], row["y"]) for row in marks}
    assert len(lines) == 2 * (4 + 2)
    assert lines["true path", "1", 1] == (3.5, 1.5)
    assert lines["perturbed path", "2", 0] == (0.6, 0.6)
    assert save(chart, tmp_path / "paths.png").stat().st_size > 10_000
    assert {row["kind"] for row in rows(path_chart(PATHS, title="Alone"))} == {"true path"}


@pytest.mark.slow
def test_a_map_shows_every_cell_and_marks_hotspots(tmp_path: Path) -> None:
    density = density_map(REPORTS, cells=4, method="unbiased")
    chart = density_map_chart(density, title="Map", unit="m", mark=0.2)
    cells = [row for row in rows(chart) if "share" in row]
    assert len(cells) == 8
    assert min(row["share"] for row in cells) >= 0
    framed = [row for row in rows(chart) if "left" in row and "share" not in row]
    assert sorted((row["left"], row["lower"]) for row in framed) == [(0, 0), (3, 1)]
    assert save(chart, tmp_path / "map.png").stat().st_size > 5_000
    fine = fine_density_map(REPORTS, cells=4, runs=2, keystream=FixedKeystream("fine"))
    assert len([row for row in rows(density_map_chart(fine, title="Fine")) if "share" in row]) == 8
    with pytest.raises(InvalidParameter, match="density_map"):
        density_map_chart(fine, title="Fine", mark=0.1)


def test_errors_over_epsilon_keep_their_bars_and_put_the_best_first(tmp_path: Path) -> None:
    data = [
        {"mechanism": f"m{i}", "epsilon": e, "average_error": (10 - i) / e, "average_error_standard_error": 0.1}
        for i in range(9)
        for e in (2, 4)
    ]
    chart = trajectory_error_chart(data, title="Error")
    drawn = [row for row in rows(chart) if "mechanism" in row]
    assert len(drawn) >= 18
    assert all(row["high"] - row["low"] == pytest.approx(0.4) for row in drawn)
    order = chart.to_dict()["layer"][0]["encoding"]["color"]["sort"]
    assert order == [f"m{i}" for i in range(8, -1, -1)]
    assert save(chart, tmp_path / "error.png").stat().st_size > 10_000
    bare = trajectory_error_chart([{"mechanism": "a", "epsilon": 1, "average_error": 1.0}], title="One")
    assert rows(bare)[0]["low"] == rows(bare)[0]["high"] == 1.0
    with pytest.raises(InvalidParameter, match="rows"):
        trajectory_error_chart([], title="None")


def test_trips_are_shown_from_rows_to_columns(tmp_path: Path) -> None:
    trips = origin_destination(REPORTS, np.arange(0, 401, 2), cells=(2, 1))
    chart = trip_chart(trips, ["west", "east"], title="Trips")
    table = {(row["origin"], row["destination"]): row for row in rows(chart) if "origin" in row}
    assert table["west", "east"]["share"] > 0.9
    assert table["west", "east"]["sure"]
    assert not table["east", "west"]["sure"]
    assert save(chart, tmp_path / "trips.png").stat().st_size > 5_000
    with pytest.raises(InvalidParameter, match="one entry per map cell"):
        trip_chart(trips, ["a"], title="Trips")
    assert {"origin", "destination"} <= set(rows(trips.plot())[0])


def test_charts_of_nothing_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="no places"):
        path_chart(Paths.of([[]]), title="Nothing")
    with pytest.raises(InvalidParameter, match="as many"):
        path_chart(PATHS, Paths.of([[(0, 0)]]), title="Unequal")
