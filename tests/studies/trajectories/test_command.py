"""Claims about `deniable trajectory`: perturb, compare and map, from the command line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.outside_data import FOLDER, needs

from deniable.cli.app import main
from deniable.studies import read_paths

ROOT = Path(__file__).parents[3]
SECRET = "41.918273645"


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """Three made-up people in a made-up town, out of order in time."""
    rows = ["user,time,latitude,longitude"]
    rows += [f"a,2024-01-0{day},41.{70 + day},-87.{60 + day}" for day in (3, 1, 2)]
    rows += ["b,2024-01-01,41.8,-87.7", "c,2024-01-02,41.85,-87.65", f"c,2024-01-01,{SECRET},-87.8"]
    path = tmp_path / "town.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["trajectory", *map(str, arguments)])


BOX = "--region=-88,41.6,-87.5,42"


@pytest.mark.parametrize("mechanism", ["auto", "nearest-cells", "tracs-c", "tracs-d"])
@pytest.mark.parametrize("ending", ["csv", "gpx", "geojson"])
def test_perturbed_paths_have_the_same_shape_and_lie_in_the_region(town: Path, tmp_path: Path, mechanism: str, ending: str) -> None:
    out = tmp_path / f"private.{ending}"
    result = run("perturb", town, BOX, "--epsilon", 4, "--mechanism", mechanism, "-o", out, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["holds"]
    assert (document["paths"], document["locations"], document["clipped"], document["dropped"]) == (3, 6, 0, 0)
    assert document["epsilon_of_the_longest_path"] == 12
    private, true = read_paths(out), read_paths(town)
    assert private.paths.lengths.tolist() == [3, 1, 2]
    low, high = private.paths.places.min(axis=0), private.paths.places.max(axis=0)
    # The plane's rectangle holds the box and a metre more: a degree is some 80 km here.
    assert (low > [-88.02, 41.59]).all()
    assert (high < [-87.48, 42.01]).all()
    assert (np.abs(private.paths.places - true.paths.places) > 1e-8).all()
    assert "user" not in out.read_text(encoding="utf-8").splitlines()[0]


def test_perturbing_near_certainty_returns_the_path_in_time_order(tmp_path: Path) -> None:
    far, out = tmp_path / "far.csv", tmp_path / "private.csv"
    far.write_text("user,time,latitude,longitude\n1,3,41.95,-87.55\n1,1,41.65,-87.95\n1,2,41.8,-87.75\n", encoding="utf-8")
    assert run("perturb", far, BOX, "--epsilon", 20, "--cells", 8, "-o", out).exit_code == 0
    # The disc is one of 56 cells of 6 km; another one is answered with a chance of 55 / e**20 a place, 4e-7 in all.
    true = np.array([[-87.95, 41.65], [-87.75, 41.8], [-87.55, 41.95]])
    assert np.abs(read_paths(out).paths.places - true).max() < 0.05


def test_a_whole_trajectory_spends_its_epsilon_once(town: Path, tmp_path: Path) -> None:
    arguments = (BOX, "--epsilon", 6, "-m", "tracs-c", "--epsilon-per", "trajectory", "-o", tmp_path / "private.csv")
    document = json.loads(run("perturb", town, *arguments, "--json").output)
    assert document["epsilon_of_the_longest_path"] == 6
    assert document["holds"]
    text = run("perturb", town, *arguments).output
    assert "epsilon 6 per trajectory" in text
    assert "for every length n hold" in text


def test_places_outside_are_refused_or_counted_and_never_shown(town: Path, tmp_path: Path) -> None:
    out, small = tmp_path / "private.csv", "--region=-88,41.6,-87.5,41.9"
    refused = run("perturb", town, small, "--epsilon", 1, "-o", out)
    assert refused.exit_code == 1
    assert "1 of 6 places lie outside" in refused.output
    assert SECRET[:8] not in refused.output
    assert not out.exists()
    for policy, expected in (("clip", (1, 0, 6)), ("drop", (0, 1, 5))):
        document = json.loads(run("perturb", town, small, "--epsilon", 1, "--outside", policy, "-o", out, "--json").output)
        assert (document["clipped"], document["dropped"], document["locations"]) == expected
    assert (
        "outside the region: 1 location clipped"
        in run("perturb", town, small, "--epsilon", 1, "--outside", "clip", "-o", out).output
    )


def test_swapped_coordinates_are_recognised(tmp_path: Path) -> None:
    swapped = tmp_path / "swapped.csv"
    swapped.write_text("user,time,latitude,longitude\n1,1,-87.7,41.8\n1,2,-87.8,41.9\n", encoding="utf-8")
    result = run("perturb", swapped, BOX, "--epsilon", 1, "-o", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert "swapped" in result.output
    assert "87.7" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("perturb", "nowhere.csv", BOX, "-e", 1, "-o", "out.csv"), "nowhere.csv"),
        (("perturb", "TOWN", BOX, "-e", 0, "-o", "out.csv"), "epsilon must be positive"),
        (("perturb", "TOWN", "--region", "1,2,3", "-e", 1, "-o", "out.csv"), "west,south,east,north"),
        (("perturb", "TOWN", BOX, "-e", 1, "-o", "out.txt"), ".csv"),
        (("compare", "random:3"), "random:100x100"),
        (("compare", "random:2x2", "--mechanisms", "magic"), "there are nearest-cells"),
        (("compare", "random:2x2", BOX), "unit square"),
        (("compare", "random:2x2", "--paths", -1), "--paths"),
        (("compare", "random:2x2", "--chart", "errors.txt"), ".png"),
        (("map", "random:2x2", "-e", 1, "-o", "map.txt"), ".png"),
        (
            ("map", "TOWN", BOX, "-e", 1, "-m", "tracs-d", "--show", "density", "--perturbed", "-o", "map.png"),
            "seen from the report",
        ),
        (("map", "TOWN", BOX, "-e", 1, "--perturbed", "-o", "map.png"), "--show density"),
        (("map", "random:2x2", "-e", 1, "--locations", -1, "-o", "map.png"), "--locations"),
        (("perturb", "EMPTY", BOX, "-e", 1, "-o", "out.csv"), "the file is empty"),
        (("perturb", "TOWN", "--region=-179,-18,179,-16", "-e", 1, "-o", "out.csv"), "west is the larger number"),
    ],
)
def test_wrong_questions_get_one_clear_line(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf-8")
    files = {"TOWN": town, "EMPTY": empty}
    result = run(*(files.get(str(argument), argument) for argument in arguments))
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.slow
def test_compare_gives_rows_with_the_asked_names(tmp_path: Path) -> None:
    names = "nearest-cells,tracs-c,tracs-d,strawman,planar-laplace,ngram,l-srr,atp"
    chart = tmp_path / "errors.png"
    arguments = ("compare", "random:6x8", "--epsilons", "2,8", "--mechanisms", names, "--place-cells", 6, "--chart", chart)
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert [(row["mechanism"], row["epsilon"]) for row in document["rows"]] == [
        (n, e) for e in (2.0, 8.0) for n in names.split(",")
    ]
    wanted = {"average_error", "average_error_standard_error", "range_query", "hotspot", "direction_error", "dtw", "frechet"}
    wanted |= {"microseconds_per_location", "holds", "epsilon_exact", "locations", "places"}
    assert all(wanted <= set(row) and row["holds"] and row["places"] == 36 for row in document["rows"])
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_compare_prints_a_table_per_epsilon_that_fits_the_page(town: Path) -> None:
    result = run(
        "compare", town, BOX, "--epsilons", "1,4", "--mechanisms", "planar-laplace,nearest-places,nearest-cells", "--paths", 2
    )
    assert result.exit_code == 0, result.output
    assert "4 locations of 2 paths, 6 places" in result.output
    assert "errors in metres" in result.output
    assert result.output.count("planar-laplace") == 2
    assert max(map(len, result.output.splitlines())) <= 120


@pytest.mark.parametrize("show", ["paths", "density", "true-density"])
def test_maps_are_drawn(town: Path, tmp_path: Path, show: str) -> None:
    out = tmp_path / "map.svg"
    cells = [] if show == "paths" else ["--cells", 6]
    result = run("map", town, BOX, "--epsilon", 6, "--show", show, *cells, "-o", out)
    assert result.exit_code == 0, result.output
    picture = out.read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert {"paths": "True and perturbed", "density": "estimated at", "true-density": "truly are"}[show] in picture


@pytest.mark.parametrize("mechanism", ["nearest-cells", "tracs-c"])
def test_a_perturbed_file_is_enough_for_a_map(town: Path, tmp_path: Path, mechanism: str) -> None:
    private, out = tmp_path / "private.csv", tmp_path / "map.json"
    same = (BOX, "--epsilon", 20, "--mechanism", mechanism)
    assert run("perturb", town, *same, "-o", private).exit_code == 0
    result = run("map", private, *same, "--show", "density", "--perturbed", "--cells", 8, "-o", out)
    assert result.exit_code == 0, result.output
    rows = next(iter(json.loads(out.read_text(encoding="utf-8"))["datasets"].values()))
    # Nearly certain reports of six places: their cells hold nearly everything.
    assert sum(sorted(row["share"] for row in rows)[-6:]) > 0.9


def test_maps_from_tracs_d_are_seen_from_one_reference_and_say_so(tmp_path: Path) -> None:
    out = tmp_path / "map.svg"
    arguments = ("map", "random:3x30", "-e", 4, "-m", "tracs-d", "--show", "density", "--cells", 4, "-o", out)
    assert run(*arguments).exit_code == 0
    assert "each seen from the centre" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("mechanism", ["nearest-cells", "tracs-c", "tracs-d"])
def test_repeated_single_and_border_points_are_perturbed_like_any_other(tmp_path: Path, mechanism: str) -> None:
    rows = ["a,1,-87.7,41.8", "a,2,-87.7,41.8", "b,1,-88,41.6", "b,2,-87.5,42", "b,3,-88,42", "c,1,-87.75,41.8"]
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("\n".join(["user,time,longitude,latitude", *rows]), encoding="utf-8")
    assert run("perturb", source, BOX, "-e", 4, "-m", mechanism, "-o", out).exit_code == 0
    assert read_paths(out).paths.lengths.tolist() == [2, 3, 1]


def test_a_path_over_the_date_line_stays_in_its_box(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("time,longitude,latitude\n1,179.9,-17\n2,-179.9,-17.1\n", encoding="utf-8")
    assert run("perturb", source, "--region=179,-18,-179,-16", "-e", 4, "-o", out).exit_code == 0
    assert (np.abs(read_paths(out).paths.places[:, 0]) > 178.9).all()


def test_places_that_are_no_numbers_are_refused_or_left_out_as_asked(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("time,longitude,latitude\n1,nan,41.8\n2,-87.6,41.9\n", encoding="utf-8")
    refused = run("perturb", source, BOX, "-e", 4, "-o", out)
    assert refused.exit_code == 1
    assert "--bad drop" in refused.output
    assert (
        "not numbers, or not valid degrees: 1 location left out"
        in run("perturb", source, BOX, "-e", 4, "--bad", "drop", "-o", out).output
    )


def test_plane_coordinates_go_in_and_out(tmp_path: Path) -> None:
    plane, out = tmp_path / "plane.csv", tmp_path / "private.csv"
    plane.write_text("user,time,x,y\n1,1,0.2,0.3\n1,2,0.4,0.9\n", encoding="utf-8")
    result = run("perturb", plane, "--region", "0,0,1,2", "--epsilon", 3, "--cells", 32, "-o", out)
    assert result.exit_code == 0, result.output
    paths = read_paths(out)
    assert paths.unit == "plane"
    assert (paths.paths.places >= 0).all()
    assert (paths.paths.places <= [1, 2]).all()


@needs("chicago_checkins.csv")
def test_commands_of_the_page_run_where_the_data_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "trajectories.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ deniable trajectory (.*)$", page, re.MULTILINE)
    assert len(commands) >= 3
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chicago_checkins.csv").symlink_to(FOLDER / "chicago_checkins.csv")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command in commands:
        # The comparison of everything takes a minute: here with two paths and the quick mechanisms.
        quick = (
            ["--paths", "2", "--epsilons", "4", "--mechanisms", "nearest-cells,tracs-c"] if command.startswith("compare") else []
        )
        result = run(*shlex.split(command), *quick)
        assert result.exit_code == 0, (command, result.output)
        if not command.startswith("compare"):
            assert result.output.strip() in page


@pytest.mark.heavy
@needs("chicago_checkins.csv")
@pytest.mark.parametrize(
    ("heading", "data", "unit", "names"),
    [
        (
            "Average error on the unit square",
            ("random:100x100",),
            1,
            "nearest-cells,tracs-c,tracs-d,strawman,planar-laplace,exponential-cells",
        ),
        (
            "compares on the first 100 paths",
            ("CHICAGO", BOX),
            1000,
            "nearest-cells,tracs-c,tracs-d,strawman,planar-laplace,exponential-cells",
        ),
    ],
)
def test_errors_in_the_tables_of_the_page_are_those_of_a_run(heading: str, data: tuple[str, ...], unit: float, names: str) -> None:
    """Within six standard errors between paths, of numbers rounded to a digit: the same paths vary less than other paths would."""
    table = (ROOT / "docs" / "trajectories.md").read_text(encoding="utf-8").split(heading)[1]
    files = [str(FOLDER / "chicago_checkins.csv") if part == "CHICAGO" else part for part in data]
    result = run("compare", *files, "--epsilons", "2,6,10", "--mechanisms", names, "--json")
    assert result.exit_code == 0, result.output
    for row in json.loads(result.output)["rows"]:
        printed = re.search(rf"^\| {row['mechanism']} \|(.*)\|$", table, re.MULTILINE)
        assert printed is not None
        stated = float(printed[1].split("|")[(2, 4, 6, 8, 10).index(row["epsilon"])].split("±")[0])
        rounding = 0.05 if unit == 1000 else 0.0005
        assert abs(stated - row["average_error"] / unit) < 6 * row["average_error_standard_error"] / unit + rounding, row
