"""Rounds of training that a lifetime pays for: everyone in every round, or groups that take turns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.core import LARGE, Ball, EpsilonLike, NearestCodes
from deniable.errors import InvalidParameter
from deniable.planning.vectors import check_training
from deniable.privacy import shuffled_rounds


@dataclass(frozen=True)
class TrainingChoice:
    """A person takes part `times` times at `epsilon_per_round` and costs `times * epsilon_per_round` in all.

    `people_per_round` are needed for the target error; with `users` people in turns that is enough for `rounds` rounds.
    `shuffled_epsilon`, at the delta that was asked for, is what one person's reports tell those who see them without senders.
    """

    times: int
    epsilon_per_round: Fraction
    people_per_round: int
    rounds: int
    error: float
    shuffled_epsilon: float | None = None


def training_choices(
    domain: Ball, *, lifetime: EpsilonLike, users: int, target_error: float, delta: float | None = None
) -> list[TrainingChoice]:
    """How to spend a lifetime on training, the most rounds first; empty when not even one round is near enough.

    A person takes part once, twice, four times and so on, with an equal part of the lifetime each time. Groups take turns, and who
    belongs to which must not depend on data. Up to a level of about 10, halving it takes more than
    twice as many people, so that few times at a high level make the most rounds; shuffled reports tell less at low levels.

    >>> best, *others = training_choices(Ball(512), lifetime=8, users=100_000, target_error=0.1)
    >>> best.times, best.people_per_round, best.rounds, [choice.rounds for choice in others]
    (1, 6931, 14, [8, 4])
    """
    whole = check_training(domain, lifetime=lifetime, users=users, target_error=target_error)
    if delta is not None and not 0 < delta < 1:
        raise InvalidParameter("delta must lie between 0 and 1, both excluded")
    times, choices = 1, []
    while whole.exact / times > LARGE:  # no report at such a level
        times *= 2
    while True:
        mechanism = NearestCodes(domain=domain, epsilon=whole.times(Fraction(1, times)))
        people = math.ceil(mechanism.error() / target_error**2)
        if people > users:
            break
        error = math.sqrt(mechanism.error() / people)
        hidden = None if delta is None else shuffled_rounds(mechanism, people, delta, times)
        choices.append(TrainingChoice(times, whole.exact / times, people, times * (users // people), error, hidden))
        times *= 2
    return sorted(choices, key=lambda choice: -choice.rounds)
