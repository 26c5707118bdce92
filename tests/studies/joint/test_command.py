"""`deniable joint account`: the numbers, the warnings, the refusals and the pictures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main
from deniable.studies import bounded_pair, epsilon_by_colluders, heat_map, variance_by_ones, variance_joint


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["joint", "account", *arguments])


def answer(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


CROWD = ("--users", "10000", "--ones", "100", "--epsilon", "1", "--colluders", "500")


def test_bounded_numbers() -> None:
    found = answer(*CROWD, "--epsilon-collusion", "2")
    assert found["epsilon_marginal"] == pytest.approx(1)
    assert found["epsilon_known_pairing"] == pytest.approx(2)
    assert 1 < found["epsilon_secret_pairing"] < 2
    assert found["exposed_fraction"] == 0
    assert found["variance"] == pytest.approx(float(variance_joint(bounded_pair(1, 2), 10_000, 100)))
    assert found["variance_rr"] == pytest.approx(10_000 * math.e / (math.e - 1) ** 2)
    assert found["variance_rr_at_collusion_epsilon"] == pytest.approx(10_000 * math.e**2 / (math.e**2 - 1) ** 2)
    assert found["variance_rr_at_collusion_epsilon"] < found["variance"] < found["variance_rr"]


def test_published_numbers() -> None:
    found = answer(*CROWD, "--published")
    assert found["epsilon_known_pairing"] is None
    assert found["epsilon_known_pairing_is_infinite"] is True
    assert found["epsilon_secret_pairing"] == pytest.approx(1.073244237)
    assert found["epsilon_printed"] == pytest.approx(1.069527214)
    assert found["exposed_fraction"] == pytest.approx(500 / 9999 / (1 + math.e))
    assert found["rho"] == pytest.approx(-math.exp(-1))


def test_the_best_table_keeps_epsilon_against_the_colluders() -> None:
    found = answer(*CROWD, "--optimal")
    assert found["epsilon_secret_pairing"] <= 1 + 1e-12
    assert found["variance"] < found["variance_rr"]


def test_text_warns_before_anyone_uses_it() -> None:
    published, bounded = run(*CROWD, "--published").output, run(*CROWD, "--epsilon-collusion", "2").output
    assert "learns this user's bit outright with probability q = 0.2689" in published
    assert "infinite" in published
    assert "Plain randomized response run at epsilon = 2" in bounded


def test_simulations_stand_beside_the_formulas() -> None:
    found = answer("--example", "Census", "--epsilon", "1", "--published", "--runs", "400")
    joint = found["simulation"]["joint"]
    # False alarms: six standard errors.
    assert abs(joint["mse"] - found["variance"]) < 6 * joint["mse_standard_error"]
    assert set(joint["are_percentiles"]) == {"5", "25", "50", "75", "80", "95"}
    assert found["n"] == 10_000


def test_an_odd_number_is_refused_until_it_is_meant() -> None:
    odd = ("--users", "101", "--ones", "3", "--epsilon", "1", "--published")
    result = run(*odd)
    assert result.exit_code != 0
    assert "n must be even" in result.output
    assert "answers alone by plain randomized response" in run(*odd, "--leftover").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--users", "100", "--ones", "3", "--epsilon", "1"), "--epsilon-collusion"),
        (("--users", "100", "--ones", "3", "--epsilon", "1", "--published", "--epsilon-collusion", "2"), "exactly one"),
        (("--users", "100", "--ones", "3", "--epsilon", "2", "--epsilon-collusion", "1"), "at least epsilon"),
        (("--users", "100", "--ones", "101", "--epsilon", "1", "--published"), "ones must be"),
        (("--users", "100", "--ones", "3", "--epsilon", "1", "--published", "--colluders", "100"), "from 0 to n - 1"),
        (("--epsilon", "1", "--published"), "--users and --ones are missing"),
        (("--users", "100", "--ones", "3", "--epsilon", "-1", "--published"), "epsilon must be positive"),
        (("--users", "100", "--ones", "3", "--epsilon", "1", "--published", "--chart", "x.gif"), "chart file"),
        (("--users", "100", "--ones", "3", "--epsilon", "1", "--published", "--runs", "-1"), "--runs"),
    ],
)
def test_bad_questions_get_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_charts_are_written(tmp_path: Path) -> None:
    answer(*CROWD, "--published", "--chart", str(tmp_path / "joint.svg"))
    assert "known pairing is infinite" in (tmp_path / "joint.svg").read_text()


def test_the_private_region_is_inside_the_printed_one() -> None:
    rows = heat_map(1, 10_000, 1500, 100, cells=24)
    assert any(row["private"] for row in rows)
    assert all(row["private_as_printed"] for row in rows if row["private"])
    assert any(row["private_as_printed"] and not row["private"] for row in rows)
    assert all(row["private"] == row["private_as_printed"] for row in heat_map(1, 10_000, 0, 100, cells=8))


def test_curves_are_those_of_the_formulas() -> None:
    rows = variance_by_ones({"a": bounded_pair(1, 2)}, 1000, points=11)
    assert [row["variance"] for row in rows] == [float(variance_joint(bounded_pair(1, 2), 1000, 100 * i)) for i in range(11)]
    numbers = [row["epsilon"] for row in epsilon_by_colluders(bounded_pair(1, 2), 1000, 11) if row["number"] == "secret pairing"]
    assert numbers == sorted(numbers)
