"""`deniable design --workload` prints numbers, writes recipes that work, and refuses bad questions in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable.core import mechanism_from_recipe


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["design", *arguments])


def test_json_has_the_certified_numbers_and_the_recipe_works(tmp_path: Path) -> None:
    recipe = tmp_path / "prefix.json"
    result = run("--workload", "prefix", "--size", "6", "--epsilon", "1", "--json", "--recipe-out", str(recipe))
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["error"] == pytest.approx(13.583732, rel=2e-5)
    assert document["lower_bound"] <= 13.583733
    assert 0 <= document["gap"] < 1e-4
    assert document["holds"]
    mechanism = mechanism_from_recipe(json.loads(recipe.read_text(encoding="utf-8")))
    assert mechanism.name == "extremal"
    assert mechanism.certificate().holds


def test_people_get_a_table_and_a_heat_map(tmp_path: Path) -> None:
    chart = tmp_path / "rows.svg"
    result = run("--workload", "ranges", "--size", "5", "-e", "2", "--prior", "3,2,2,1,1", "--chart", str(chart))
    assert result.exit_code == 0, result.output
    assert "no mechanism goes below" in result.output
    assert "likeliest first" in chart.read_text(encoding="utf-8")


def test_a_file_of_questions_is_a_workload(tmp_path: Path) -> None:
    file = tmp_path / "questions.csv"
    file.write_text("1,0,0\n0.5,0.5,0\n", encoding="utf-8")
    result = run("--workload", str(file), "-e", "1", "--error", "worst", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["questions"] == 2


def test_the_descent_has_an_error_but_no_bound() -> None:
    result = run("--workload", "prefix", "--size", "4", "-e", "1", "--method", "descent", "--json")
    document = json.loads(result.output)
    assert document["lower_bound"] is None
    assert document["error"] > 5.993


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workload", "prefix", "-e", "1"], "size is missing"),
        (["--workload", "suffix", "--size", "4", "-e", "1"], "workload must be one of"),
        (["--workload", "prefix", "--size", "4", "-e", "1", "--error", "median"], "error must be"),
        (["--workload", "prefix", "--size", "4", "-e", "1", "--method", "guess"], "method must be"),
        (["--workload", "prefix", "--size", "4", "-e", "1", "--prior", "1,2"], "prior must have 4"),
        (["--workload", "nowhere.csv", "-e", "1"], "cannot be read"),
        (["--workload", "prefix", "--size", "4", "-e", "1", "--chart", "x.gif"], "chart file"),
        (["--workload", "prefix", "--size", "4", "-e", "1", "--method", "descent", "--recipe-out", "x.json"], "no recipe"),
    ],
)
def test_bad_questions_get_one_line(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
