"""From file to file: the same law as in memory, little memory, nothing left behind by a failure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import Epsilon, Interval, Mechanism, Rectangle, make_mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.privacy import FixedKeystream
from deniable.studies import Paths, Piece, in_pieces, joined, perturb, perturb_file, read_paths, survey_file, write_paths
from deniable.studies.trajectories import perturb_files as module
from deniable.studies.trajectories.perturb import Drawing
from deniable.studies.trajectories.perturb_files import perturb_pieces

SQUARE = Rectangle(Interval(0, 1, cells=64), Interval(0, 1, cells=64))
MECHANISMS: list[Mechanism] = [make_mechanism(name, domain=SQUARE, epsilon=4) for name in ("nearest-cells", "tracs-c", "tracs-d")]
each = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: str(m.name))


def many_paths(seed: int = 1) -> Paths:
    """Paths of 0 to 700 places, some 20,000 in all."""
    lengths = np.random.default_rng(seed).integers(0, 700, 60)
    places = np.random.default_rng(seed + 1).random((int(lengths.sum()), 2))
    return Paths(places, np.concatenate([[0], np.cumsum(lengths)]))


@pytest.mark.parametrize("piece", [1, 97, 1 << 14])
@pytest.mark.parametrize("mechanism", [MECHANISMS[0], MECHANISMS[2]], ids=["nearest-cells", "tracs-d"])
def test_one_block_of_pieces_is_drawn_as_the_whole_is(mechanism: Mechanism, piece: int) -> None:
    """With the same keystream: where a path begins is seen through every cut."""
    paths = many_paths()
    whole = perturb(paths, mechanism, keystream=FixedKeystream("whole"))
    found = joined(perturb_pieces(in_pieces(paths, piece), mechanism, keystream=FixedKeystream("whole")))
    assert np.array_equal(found.starts, paths.starts)
    assert np.array_equal(found.places, whole.places)


@each
@pytest.mark.parametrize("per", ["location", "trajectory"])
def test_small_blocks_keep_shape_region_and_error(mechanism: Mechanism, per: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 256)
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    paths = Paths.of([np.full((n, 2), 0.25) for n in [1, 2, 0, 2, 1, 3] * 400])
    options: dict[str, Any] = {"epsilon_per": per, "lengths": paths.lengths if per == "trajectory" else None}
    found = joined(perturb_pieces(in_pieces(paths), mechanism, **options, keystream=FixedKeystream("blocks")))
    whole = perturb(paths, mechanism, epsilon_per=per, keystream=FixedKeystream("other"))
    assert np.array_equal(found.starts, paths.starts)
    assert (found.places >= 0).all()
    assert (found.places <= 1).all()
    of = np.repeat(paths.lengths, paths.lengths)
    for length in (1, 2, 3):
        one, other = (np.hypot(*(done.places[of == length] - 0.25).T) for done in (found, whole))
        # Five standard errors of a difference, six comparisons: false alarms below 1e-5 of a run on coins that are fixed.
        assert abs(one.mean() - other.mean()) < 5.5 * np.sqrt((one.var() + other.var()) / len(one))


@pytest.mark.parametrize("block", [1, 4, 7, 100])
def test_a_walk_goes_on_over_blocks_with_its_own_share_of_epsilon(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """One drawing has all places of a path, in order, and knows which is the first: the next ones are seen from its reports."""
    seen: list[tuple[int, float, float, bool]] = []

    class Watched:
        def __init__(self, mechanism: Mechanism, *_: object, **__: object) -> None:
            self.mechanism = mechanism

        def draw(self, places: Any, begins: Any) -> Any:
            epsilon = float(self.mechanism.privacy)
            for (x, _), first in zip(places, begins, strict=True):
                # The drawing itself, not its number: numbers of what is gone come again.
                seen.append((drawings.setdefault(self, len(drawings)), epsilon, float(x), bool(first)))
            return places

    drawings: dict[Watched, int] = {}
    monkeypatch.setattr(module, "Drawing", Watched)
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    lengths = [5, 2, 0, 9, 5, 1, 9, 9, 2]
    paths = Paths.of([np.full((n, 2), i) + np.linspace(0, 0.9, n)[:, None] for i, n in enumerate(lengths)])
    pieces = perturb_pieces(in_pieces(paths, 3), MECHANISMS[2], epsilon_per="trajectory", lengths=paths.lengths)
    assert np.array_equal(joined(pieces).places, paths.places)
    for number, length in enumerate(lengths):
        mine = [one for one in seen if int(one[2]) == number]
        assert [one[2] for one in mine] == paths[number][:, 0].tolist()
        assert [one[3] for one in mine] == [True, *[False] * (length - 1)][:length]
        assert {one[1] for one in mine} <= {4 / length if length else 0}
        assert len({one[0] for one in mine}) == (1 if length else 0)


@pytest.mark.parametrize("ending", ["csv", "gpx", "geojson"])
@pytest.mark.parametrize("outside", ["clip", "drop"])
def test_files_give_what_memory_gives(tmp_path: Path, ending: str, outside: Any) -> None:
    """Near certainty, so that both must say the same: the true place, clipped or dropped."""
    source, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    box = "-88,41.6,-87.5,42"
    true = Paths.of([[(-87.8, 41.7), (-87.4, 41.7), (-87.6, 41.95)], [(-87.55, 41.65)], [(-87.7, 41.5)], [(-87.9, 41.9)] * 3])
    write_paths(true, source)
    found = survey_file(source, box, outside=outside)
    assert (found.clipped, found.dropped) == ((2, 0) if outside == "clip" else (0, 2))
    mechanism = make_mechanism("tracs-c", domain=found.ground.rectangle, epsilon=Epsilon(100, allow_large=True))
    done = read_paths(perturb_file(found, mechanism, out)).paths
    expected = found.ground.clip(true.places) if outside == "clip" else true.places[found.ground.inside(true.places)]
    kept = [len(path) for path in done if len(path)]
    assert kept == ([3, 1, 1, 3] if outside == "clip" else [2, 1, 3])
    # A cell of 64 along 44 km is 700 m, 0.009 degrees.
    assert np.abs(done.places - expected).max() < 0.01


def test_check_ins_out_of_order_are_sorted_as_before(tmp_path: Path) -> None:
    rows = ["user,time,x,y", "a,3,0.9,0.9", "b,1,0.1,0.9", "a,1,0.1,0.1"]
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("\n".join(rows), encoding="utf-8")
    found = survey_file(source, "0,0,1,1")
    assert found.whole is not None
    done = read_paths(
        perturb_file(found, make_mechanism("tracs-c", domain=SQUARE, epsilon=Epsilon(100, allow_large=True)), out)
    ).paths
    assert [np.round(path, 1).tolist() for path in done] == [[[0.1, 0.1], [0.9, 0.9]], [[0.1, 0.9]]]


def test_a_path_whose_first_places_are_left_out_is_still_valid_geojson(tmp_path: Path) -> None:
    out = tmp_path / "out.geojson"
    write_paths([Piece(0, np.empty((0, 2))), Piece(0, np.array([[179.0, 1.0], [-179.0, 2.0]])), Piece(1, np.empty((0, 2)))], out)
    lines = [feature["geometry"]["coordinates"] for feature in json.loads(out.read_text(encoding="utf-8"))["features"]]
    assert lines == [[[179.0, 1.0], [181.0, 2.0]], []]


def test_a_failure_half_way_leaves_no_file_and_keeps_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_paths(many_paths(), source, unit="plane")
    monkeypatch.setattr(module, "BLOCK", 1 << 12)
    drawn: list[int] = []
    real = Drawing.draw

    def failing(self: Any, places: Any, begins: Any) -> Any:
        drawn.append(len(places))
        if len(drawn) == 3:
            raise OSError(28, "No space left on device", str(out))
        return real(self, places, begins)

    monkeypatch.setattr(Drawing, "draw", failing)
    arguments = ["trajectory", "perturb", str(source), "--region", "0,0,1,1", "--epsilon", "4", "-o", str(out)]
    for before in (None, "what was there"):
        drawn.clear()
        if before:
            out.write_text(before, encoding="utf-8")
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 1
        assert "No space left on device" in result.output
        assert len(drawn) == 3
        assert {path.name for path in tmp_path.iterdir()} == ({"in.csv", "out.csv"} if before else {"in.csv"})
    assert out.read_text(encoding="utf-8") == "what was there"


def test_a_file_that_changes_between_the_passes_is_refused(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    for change in (Paths.of([[(0.5, 0.5)] * 3]), Paths.of([[(0.5, 0.5)]]), Paths.of([[(0.5, 0.5)] * 2] * 2)):
        write_paths(Paths.of([[(0.5, 0.5)] * 2]), source, unit="plane")
        found = survey_file(source, "0,0,1,1")
        write_paths(change, source, unit="plane")
        with pytest.raises(InvalidParameter, match="changed while it was read"):
            perturb_file(found, MECHANISMS[0], out)
        assert not out.exists()


def test_wrong_files_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("time,longitude,latitude\n1,41.8,-87.7\n2,41.9,-87.6\n", encoding="utf-8")
    with pytest.raises(OutOfDomain, match="swapped"):
        survey_file(source, "-88,41.6,-87.5,42")
    source.write_text("time,longitude,latitude\n1,-87.7,41.8\n2,nan,41.8\n", encoding="utf-8")
    with pytest.raises(OutOfDomain, match="not a number"):
        survey_file(source, "-88,41.6,-87.5,42")
    assert survey_file(source, "-88,41.6,-87.5,42", bad="drop").unusable == 1
    source.write_text("time,longitude,latitude\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="holds no locations"):
        survey_file(source, "-88,41.6,-87.5,42")
    with pytest.raises(InvalidParameter, match="outside"):
        survey_file(source, "-88,41.6,-87.5,42", outside="ignore")
    with pytest.raises(InvalidParameter, match="epsilon_per"):
        next(perturb_pieces([], MECHANISMS[0], epsilon_per="trajectory"))


MEASURED = """
import resource, sys
from deniable.cli import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def long_track(path: Path, count: int) -> None:
    """One track of `count` places of a town, in order."""
    turn = np.arange(count) * 1e-4
    write_paths(Paths(np.stack([-87.75 + 0.1 * np.cos(turn), 41.8 + 0.1 * np.sin(turn)], axis=1), np.array([0, count])), path)


def peak_memory(source: Path, out: Path, *options: str) -> float:
    """Megabytes the command takes at most in a process of its own: the less of two runs, since one may compile kernels."""
    command = ["trajectory", "perturb", str(source), "--region=-88,41.6,-87.5,42", "-e", "4", *options, "-o", str(out)]
    runs = [
        subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True) for _ in range(2)
    ]
    return min(int(done.stdout.splitlines()[-1]) / 1024 for done in runs)


@pytest.mark.heavy
@pytest.mark.parametrize("ending", ["csv", "gpx", "geojson"])
@pytest.mark.parametrize("options", [(), ("-m", "tracs-d", "--epsilon-per", "trajectory")], ids=["nearest-cells", "tracs-d"])
def test_a_track_of_a_million_places_takes_no_more_memory_than_one_of_a_hundred_thousand(
    tmp_path: Path, ending: str, options: tuple[str, ...]
) -> None:
    """A million places are 16 MB as numbers, and 23 to 60 MB as text."""
    peaks = []
    for count in (100_000, 1_000_000):
        source, out = tmp_path / f"{count}.{ending}", tmp_path / f"private.{ending}"
        long_track(source, count)
        peaks.append(peak_memory(source, out, *options))
        assert out.stat().st_size > 20 * count
    assert peaks[1] - peaks[0] < 8, peaks


@pytest.mark.slow
def test_a_long_track_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    """The same on a smaller scale: 150,000 places would be 10 MB more, as arrays and what they are made of."""
    peaks = []
    for count in (50_000, 150_000):
        long_track(tmp_path / f"{count}.geojson", count)
        peaks.append(peak_memory(tmp_path / f"{count}.geojson", tmp_path / "out.csv"))
    assert peaks[1] - peaks[0] < 6, peaks
