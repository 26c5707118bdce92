"""`deniable design` prints the numbers, writes recipes that work, and refuses bad questions in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable.core import mechanism_from_recipe


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["design", *arguments])


def test_json_has_the_numbers_and_the_recipe_works(tmp_path: Path) -> None:
    recipe = tmp_path / "best.json"
    result = run("--loss", "absolute", "--epsilon", "2", "--json", "--recipe-out", str(recipe))
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["gap"] < 1.01
    assert document["worst_case"] == pytest.approx(0.20082, rel=5e-3)
    assert document["published"] == {"name": "ogpm", "worst_case": pytest.approx(0.26894, rel=1e-4)}
    mechanism = mechanism_from_recipe(json.loads(recipe.read_text(encoding="utf-8")))
    assert mechanism.name == document["mechanism"]
    assert mechanism.certificate().holds


def test_people_get_a_table_and_a_chart(tmp_path: Path) -> None:
    chart = tmp_path / "design.svg"
    result = run("--domain", "interval:18,90", "--loss", "squared", "-e", "1", "--chart", str(chart))
    assert result.exit_code == 0, result.output
    assert "one-bit-squared" in result.output
    assert "lower bound for every mechanism" in result.output
    assert "bound for every mechanism" in chart.read_text(encoding="utf-8")


def test_at_a_point_there_is_no_gap_to_show() -> None:
    result = run("-e", "1", "--prior", "at:0.2", "--json")
    assert json.loads(result.output)["gap"] is None


@pytest.mark.slow
def test_weights_of_equal_cells_are_a_prior() -> None:
    lopsided, even = (json.loads(run("-e", "2", "--prior", prior, "--json").output) for prior in ("3,0,1", "1,1,1"))
    assert lopsided["worst_case"] < 0.95 * even["worst_case"]
    assert 1 <= lopsided["gap"] <= 1.01
    assert lopsided["objective"] == "expected absolute error, weighted prior"
    assert lopsided["holds"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--epsilon"),
        (["-e", "1", "--prior", "3,-1"], "none of them negative"),
        (["-e", "0.00001"], "at least 0.001"),
        (["-e", "1", "--loss", "power:-1"], "loss must be"),
        (["-e", "1", "--domain", "interval:1,1"], "low must lie below high"),
        (["-e", "1", "--domain", "binary"], "domain must be"),
        (["-e", "1", "--prior", "sometimes"], "prior"),
        (["-e", "1", "--chart", "x.gif"], "chart file"),
        (["-e", "1", "--domain", "binary", "--chart", "x.png"], "--chart"),
    ],
)
def test_bad_questions_get_one_line(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
