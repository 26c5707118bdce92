"""The planner weighs what devices do over many periods, and predicts what surveys measure."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from deniable.cli.plan import plan_command
from deniable.core import Binary, Categories
from deniable.errors import InvalidParameter
from deniable.planning import Question, plan
from deniable.privacy import FixedKeystream
from deniable.surveys import survey_from_toml


def question(**more: Any) -> Question:
    usual: dict[str, Any] = {"task": "trend", "domain": Categories(3), "users": 6000, "epsilon": 4, "periods": 6}
    return Question(**{**usual, **more})


@pytest.mark.slow
def test_predicted_errors_are_measured() -> None:
    """40 surveys on a fixed keystream; 5 standard errors."""
    planned = plan(question(periods=3, changes=0))
    picked = {one.way.inner: one for one in planned.candidates if one.mechanism == "k-rr"}
    assert {"every period", "one random period", "kept, 1/2 in a period"} <= set(picked)
    for one in picked.values():
        tried = one.way.simulated(600, 40, FixedKeystream(3))
        assert tried.error == pytest.approx(one.way.predict(600).error, abs=5 * tried.standard_error)


def test_untrackable_plans_have_reports_that_cannot_be_linked() -> None:
    free, hidden = plan(question(changes=0)), plan(question(changes=0, untrackable=True))
    assert free.pick.way.inner is not None
    assert free.pick.way.inner.startswith("kept")
    assert free.pick.to_dict()["tracking"] > 0
    assert all(one.to_dict()["tracking"] == 0 for one in hidden.candidates)
    assert any("untrackable" in one.reason for one in hidden.left_out)
    assert "each device" in hidden.why


def test_what_does_not_hide_changes_is_left_out_when_people_change() -> None:
    """Epsilon is promised for a life: kept answers keep that for people who never change, and for nobody else."""
    planned = plan(question(changes=1))
    assert not any("kept" in one.label for one in planned.candidates)
    assert any("when someone changes" in one.reason for one in planned.left_out)


def test_a_tree_of_changes_is_best_over_many_periods_with_few_changes() -> None:
    long, short = (plan(question(domain=Binary(), periods=periods, changes=1)).pick for periods in (4096, 8))
    assert long.way.inner == "tree of changes"
    assert short.way.inner == "one random period"


def test_the_error_of_a_tree_is_measured() -> None:
    """15 surveys on a fixed keystream, 5 standard errors."""
    planned = plan(question(domain=Binary(), users=200, epsilon=2, periods=8, changes=2))
    tree = next(one for one in planned.candidates if one.way.inner == "tree of changes")
    tried = tree.way.simulated(200, 15, FixedKeystream(5))
    assert tried.error == pytest.approx(tree.predicted_error, abs=5 * tried.standard_error)


def test_a_window_lets_people_take_turns() -> None:
    planned = plan(question(domain=Binary(), periods=30, window=5))
    assert {one.way.inner for one in planned.candidates} == {"every period", "1 of 5 periods"}
    assert planned.pick.way.inner == "1 of 5 periods"
    assert plan(question(domain=Binary(), periods=30)).pick.predicted_error > planned.pick.predicted_error


def test_the_command_prints_the_promise() -> None:
    options = ["--task", "trend", "--periods", "30", "--changes", "3", "-n", "100000", "-e", "2"]
    run = CliRunner().invoke(plan_command, options)
    assert run.exit_code == 0, run.output
    assert "for each device" in " ".join(run.output.split())
    document = json.loads(CliRunner().invoke(plan_command, [*options, "--untrackable", "--json"]).output)
    assert document["candidates"][0]["tracking"] == 0


@pytest.mark.parametrize(
    ("periods", "changes", "inner"),
    [(40, 0, "kept, 1/2 in a period"), (800, 1, "tree of changes"), (40, 1, "one random period"), (40, None, "1 of 5 periods")],
)
def test_a_plan_says_how_a_survey_asks_like_this(periods: int, changes: int | None, inner: str) -> None:
    """Every line that is printed is one that a survey accepts, and the survey then costs what was planned."""
    window = 5 if changes is None else None
    planned = plan(question(domain=Binary(), periods=periods, changes=changes, window=window, epsilon=2))
    written = {one.way.inner: one.way.in_survey for one in planned.candidates}[inner].partition(", and opens")[0]
    closes = date(2026, 1, 1) + timedelta(days=periods - 1)
    lines = [*written.split(", "), 'window = "day"', "opens = 2026-01-01", f"closes = {closes}"]
    survey = survey_from_toml(
        "\n".join(['title = "T"', 'purpose = "P"', *lines, '[attributes.a]\nquestion = "Q"\ndomain = "binary"'])
    )
    assert survey.price == 2
    assert (survey.changes is not None) == (inner == "tree of changes")
    assert survey.changes is None or survey.changes.periods == periods


@pytest.mark.parametrize(
    "odd",
    [{"periods": 1}, {"task": "frequency"}, {"window": 7}, {"changes": -1}, {"task": "frequency", "periods": 1, "changes": 2}],
)
def test_odd_questions_are_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        question(**odd)
