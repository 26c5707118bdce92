"""Plans for shuffled reports: the central target is kept, and the comparison is at equal numbers of people."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import Categories
from deniable.errors import InvalidParameter, NotSupported
from deniable.planning import Question, plan, plan_shuffled
from deniable.privacy import shuffled_epsilon


def test_the_target_is_kept_and_nearly_reached() -> None:
    question = Question(task="frequency", domain=Categories(10), users=100_000, epsilon=Fraction(1, 2))
    planned = plan_shuffled(question, delta=1e-8)
    (mechanism,) = planned.shuffled.pick.recipes
    assert shuffled_epsilon(mechanism, 100_000, 1e-8) <= 0.5
    assert planned.epsilon > 0.4
    assert float(planned.shuffled.epsilon) > 2
    assert planned.local.pick.predicted_error == plan(question).pick.predicted_error
    assert planned.central_error is not None
    assert planned.central_error < planned.shuffled.pick.predicted_error < planned.local.pick.predicted_error


def test_the_command_shows_the_three_beside_each_other() -> None:
    asked = ["plan", "--task", "frequency", "--size", "4", "--users", "50000", "--epsilon", "0.5", "--shuffled"]
    shown = CliRunner().invoke(main, asked).output
    assert all(words in shown for words in ("nobody", "a shuffler", "the collector"))
    document = json.loads(CliRunner().invoke(main, [*asked, "--json"]).output)["shuffled"]
    assert document["shuffled"]["epsilon"] <= 0.5 < document["shuffled"]["epsilon_each"]


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="central target"):
        plan_shuffled(Question(task="frequency", domain=Categories(4), users=100, target_error=0.1))
    with pytest.raises(NotSupported, match="asked once"):
        plan_shuffled(Question(task="frequency", domain=Categories(4), users=100, epsilon=1, repeats=3))
