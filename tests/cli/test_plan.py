"""`deniable plan` ranks, picks, finds what is missing, draws, and refuses in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable.core import mechanism_from_recipe

FREQUENCY = ["--task", "frequency", "--size", "1000", "--users", "100000", "--epsilon", "1"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments])


def test_json_has_candidates_best_first_and_a_pick(tmp_path: Path) -> None:
    recipe = tmp_path / "pick.json"
    result = run(*FREQUENCY, "--json", "--recipe-out", str(recipe))
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    errors = [one["predicted_error"] for one in document["candidates"]]
    assert errors == sorted(errors)
    assert {"mechanism", "predicted_error", "interval_half_width", "bytes_per_report"} <= set(document["candidates"][0])
    assert document["pick"] == document["candidates"][0]["mechanism"]
    mechanism = mechanism_from_recipe(json.loads(recipe.read_text(encoding="utf-8")))
    assert mechanism.name == document["pick"]
    assert mechanism.certificate().holds


def test_people_get_a_table_a_reason_and_a_chart(tmp_path: Path) -> None:
    chart = tmp_path / "plan.svg"
    result = run(*FREQUENCY, "--chart", str(chart))
    assert result.exit_code == 0, result.output
    assert "pick: subset" in result.output
    assert "hadamard takes 2 bytes" in result.output
    assert "privacy holds" in result.output
    assert chart.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["-t", "mean", "-d", "interval:18,90", "-n", "10000", "--target-error", "0.5"], "epsilon"),
        (["-t", "mean", "-d", "interval:18,90", "-e", "1", "--half-width", "1"], "users"),
        (["-t", "heavy-hitters", "-e", "3", "--target-error", "0.02"], "users"),
        (["-t", "quantile", "--bins", "4", "-n", "20000", "--target-error", "0.05"], "epsilon"),
        (["-t", "test", "--test", "0.5,0.3,0.2", "0.3,0.3,0.4", "-e", "1", "--target-error", "0.05"], "users"),
        (["-t", "frequency", "-d", "binary", "-n", "1000", "--target-error", "0.05"], "epsilon"),
        (["-t", "frequency", "--size", "5", "--attributes", "3", "--repeats", "2", "-e", "4", "--target-error", "0.05"], "users"),
    ],
)
def test_what_is_left_out_is_found(arguments: list[str], found: str) -> None:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["found"] == found
    assert document["target_met"] is True


def test_candidates_can_be_tried_out() -> None:
    result = run("-t", "frequency", "--size", "8", "-n", "500", "-e", "2", "--simulate", "40", "--json")
    for one in json.loads(result.output)["candidates"]:
        assert one["simulated_users"] == 500
        # Real coins: 40 surveys of 8 shares err by 4 %, so 40 % is ten deviations.
        assert one["simulated_error"] == pytest.approx(one["predicted_error"], rel=0.4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "frequency", "-n", "100", "-e", "1"], "--size is missing"),
        (["-t", "mean", "--size", "4", "-n", "100", "-e", "1"], "use --domain"),
        (["-t", "guess", "-n", "100", "-e", "1"], "--task must be one of"),
        (["-t", "quantil", "-n", "100", "-e", "1"], "did you mean quantile?"),
        ([], "--task is missing"),
        (["-t", "mean", "-n", "100"], "give two of users"),
        ([*FREQUENCY, "--target-error", "0.001"], "impossible"),
        ([*FREQUENCY, "--chart", "x.gif"], "chart file"),
        (["-t", "test", "-n", "100", "-e", "1", "--size", "3"], "needs hypotheses"),
        (["-t", "test", "-n", "100", "-e", "1"], "--test is missing"),
        ([*FREQUENCY, "--simulate", "1"], "--simulate"),
    ],
)
def test_bad_questions_get_one_line(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_too_few_users_are_said_beside_the_table_and_in_json() -> None:
    question = ["--task", "frequency", "--size", "4", "--users", "1", "--epsilon", "1"]
    table = run(*question)
    assert table.exit_code == 0, table.output
    assert "1 user is too few for this question" in table.stderr
    assert "About 730 would be enough" in table.stderr
    assert json.loads(run(*question, "--json").stdout)["users_needed"] == 730


def test_a_mechanism_without_a_usual_domain_names_one_that_fits() -> None:
    result = CliRunner().invoke(main, ["show", "nearest-places", "--epsilon", "2"])
    assert "--domain 'points:0,0;3,4'" in result.output
