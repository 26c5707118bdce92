"""`deniable compare`: the numbers are the planner's, the table and the figure hold all of them."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.cli.compare import parse_levels
from deniable.core import Categories, Interval
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning import Question, compare, plan


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["compare", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_shares_are_the_planners() -> None:
    comparison = compare(["k-rr", "oue", "subset"], [1, 3], task="frequency", metric="rmse", domain=Categories(50), users=5_000)
    for i, level in enumerate((1, 3)):
        planned = plan(Question(task="frequency", domain=Categories(50), users=5_000, epsilon=level))
        for one in planned.candidates:
            if one.mechanism in comparison.errors:
                assert comparison.errors[one.mechanism][i] == pytest.approx(one.predicted_error, rel=1e-12)


@pytest.mark.slow
def test_means_are_the_planners_and_scale_with_users_and_width() -> None:
    comparison = compare(["duchi", "pm"], [2], metric="rmse", domain=Interval(0, 1))
    planned = plan(Question(task="mean", domain=Interval(0, 1), users=10_000, epsilon=2))
    errors = {one.mechanism: one.predicted_error for one in planned.candidates}
    assert comparison.errors["duchi"][0] == pytest.approx(errors["duchi"], rel=1e-12)
    wide = compare(["duchi"], [2], metric="mse", domain=Interval(0, 10), users=40_000)
    assert wide.errors["duchi"][0] == pytest.approx(comparison.errors["duchi"][0] ** 2 * 100 / 4, rel=1e-9)


@pytest.mark.slow
def test_single_reports_have_known_errors() -> None:
    comparison = compare(["laplace"], [1], task="value", metric="mse")
    assert comparison.errors["laplace"][0] == pytest.approx(2, rel=0.01)  # 2 / epsilon**2
    assert compare(["ogpm"], [2], task="value", metric="worst-mae").errors["ogpm"][0] == pytest.approx(0.2689, abs=1e-4)


def test_what_cannot_be_compared_is_left_out_with_its_reason() -> None:
    comparison = compare(["laplace", "one-bit-squared"], [1])
    assert set(comparison.errors) | {one.mechanism for one in comparison.left_out} == {"laplace", "one-bit-squared"}
    with pytest.raises(NotSupported, match="give a domain"):
        compare(["k-rr"], [1], task="mean", domain=Categories(4))
    with pytest.raises(InvalidParameter, match="absolute errors"):
        compare(["laplace"], [1], metric="mae")


@pytest.mark.parametrize(("text", "count", "second"), [("0.5:8", 16, "1"), ("1:2:0.25", 5, "5/4"), ("1,2,4", 3, "2")])
def test_levels_are_written_three_ways(text: str, count: int, second: str) -> None:
    levels = parse_levels(text)
    assert (len(levels), levels[1]) == (count, Fraction(second))


@pytest.mark.parametrize("text", ["", "0:3", "3:1", "1:2:3:4", "a,b", "1:9:0.0001"])
def test_other_levels_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter, match="--epsilon"):
        parse_levels(text)


def test_the_table_is_a_file_in_three_forms(tmp_path: Path) -> None:
    for ending in ("csv", "md", "tex"):
        run("k-rr", "oue", "-e", "1,5", "-t", "frequency", "--table", str(tmp_path / f"t.{ending}"))
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert [row["epsilon"] for row in rows] == ["1.0", "5.0"]
    assert float(rows[0]["k-rr"]) == compare(["k-rr"], [1], task="frequency").errors["k-rr"][0]
    assert (tmp_path / "t.md").read_text().count("**") == 4
    latex = (tmp_path / "t.tex").read_text()
    assert latex.count(r"\\") == 3
    assert latex.count("textbf") == 2
    assert CliRunner().invoke(main, ["compare", "k-rr", "--table", "x.doc"]).exit_code == 2


def test_json_has_everything() -> None:
    document = json.loads(run("k-rr", "oue", "-e", "1,2", "-t", "frequency", "--json"))
    assert [row["epsilon"] for row in document["rows"]] == [1.0, 2.0]
    assert document["quantity"] == "mean squared error of a share from 10,000 users"


@pytest.mark.slow
def test_the_figure_has_a_line_for_each(tmp_path: Path) -> None:
    path = tmp_path / "figure.json"
    run("k-rr", "oue", "olh", "-e", "1,2", "-t", "frequency", "--chart", str(path))
    values = [row for rows in json.loads(path.read_text())["datasets"].values() for row in rows]
    assert {row["mechanism"] for row in values} == {"k-rr", "oue", "olh"}


def test_a_mechanism_of_another_task_is_answered_with_the_task() -> None:
    for arguments, task in ((["k-rr", "oue"], "--task frequency"), (["pm", "--task", "frequency"], "--task mean")):
        refused = CliRunner().invoke(main, ["compare", *arguments])
        assert refused.exit_code == 2
        assert task in refused.output
