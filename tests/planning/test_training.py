"""Rounds of training: what a person spends, how many people a round needs, and what shuffled reports tell."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import Ball, NearestCodes
from deniable.errors import InvalidParameter
from deniable.planning import affordable_rounds, training_choices
from deniable.privacy import shuffled_rounds

ASKED: dict[str, Any] = {"lifetime": 8, "users": 20_000, "target_error": 0.2}


@pytest.mark.slow
def test_nobody_spends_more_than_the_lifetime_and_every_round_is_near_enough() -> None:
    choices = training_choices(Ball(64), **ASKED)
    assert [choice.times for choice in choices] == [1, 2, 4, 8]
    for choice in choices:
        mechanism = NearestCodes(domain=Ball(64), epsilon=choice.epsilon_per_round)
        assert choice.times * choice.epsilon_per_round == 8
        assert choice.rounds * choice.people_per_round <= choice.times * 20_000
        assert (choice.rounds + choice.times) * choice.people_per_round > choice.times * 20_000
        assert mechanism.error() / choice.people_per_round <= 0.04 < mechanism.error() / (choice.people_per_round - 1)
        assert choice.error == pytest.approx(math.sqrt(mechanism.error() / choice.people_per_round))
        assert choice.shuffled_epsilon is None
    assert choices[0].rounds > affordable_rounds(Ball(64), **ASKED) >= choices[-1].times


@pytest.mark.slow
def test_shuffled_bounds_are_the_accountants() -> None:
    choices = training_choices(Ball(16), lifetime=4, users=2000, target_error=0.4, delta=1e-6)
    twice = next(choice for choice in choices if choice.times == 2)
    mechanism = NearestCodes(domain=Ball(16), epsilon=2)
    assert twice.shuffled_epsilon == shuffled_rounds(mechanism, twice.people_per_round, 1e-6, 2)


@pytest.mark.slow
def test_a_lifetime_beyond_one_report_is_spread_over_several() -> None:
    choices = training_choices(Ball(16), lifetime=50, users=1000, target_error=0.4)
    assert min(choice.times for choice in choices) == 4
    assert max(choice.epsilon_per_round for choice in choices) == Fraction(25, 2)
    assert affordable_rounds(Ball(512), lifetime=50, users=1, target_error=0.4) == 0
    assert affordable_rounds(Ball(512), lifetime=50, users=130, target_error=0.4) in (0, 3, 4)


def test_too_few_people_have_no_choice_and_wrong_questions_are_refused() -> None:
    assert training_choices(Ball(64), **{**ASKED, "users": 10}) == []
    for wrong in ({"users": 0}, {"target_error": 0}, {"lifetime": 0}, {"delta": 0}, {"delta": 1.0}):
        with pytest.raises(InvalidParameter):
            training_choices(Ball(64), **{**ASKED, **wrong})


def command(*options: str) -> Any:
    return CliRunner().invoke(main, ["account", "training", *options])


@pytest.mark.slow
def test_the_command_says_the_same() -> None:
    options = ["--domain", "ball:64", "--users", "20000", "--lifetime", "8", "--target-error", "0.2"]
    best = training_choices(Ball(64), **ASKED)[0]
    document = json.loads(command(*options, "--json").output)
    assert document["choices"][0]["rounds"] == best.rounds
    assert document["everyone_in_every_round"] == affordable_rounds(Ball(64), **ASKED)
    said = command(*options).output.splitlines()
    group = f"in groups of {best.people_per_round:,}."
    assert said[0] == f"{best.rounds} rounds: every person takes part in 1 at epsilon 8, {group}"
    few = command("--domain", "ball:64", "--users", "10", "--lifetime", "8", "--target-error", "0.2")
    assert few.output.startswith("Not even one round")
    wrong = command("--domain", "interval:0,1", "--users", "10", "--lifetime", "8", "--target-error", "0.2")
    assert wrong.exit_code != 0
    assert "--domain ball:512" in wrong.output
