"""Plans for vectors: predictions that simulations confirm, the bound, and rounds that a lifetime pays for."""

from __future__ import annotations

import math
from typing import Any

import pytest

from deniable.core import Ball, NearestCodes
from deniable.errors import InvalidParameter
from deniable.planning import Question, affordable_rounds, plan
from deniable.privacy import FixedKeystream
from deniable.surveys import parse_domain


def test_the_plan_predicts_what_a_survey_shows() -> None:
    """Twelve surveys of 200 people in 64 dimensions: the squared distance of one is known to 18 %, of all to 5 %."""
    planned = plan(Question(task="vector", domain=Ball(64, radius=2), users=200, epsilon=4))
    assert planned.pick.mechanism == "nearest-codes"
    measured = planned.pick.way.simulated(200, 12, FixedKeystream(1))
    assert measured.error == pytest.approx(planned.pick.predicted_error, rel=0.15)


def test_the_pick_is_near_the_bound_of_every_unbiased_mechanism() -> None:
    for epsilon in (1, 4, 8):
        planned = plan(Question(task="vector", domain=Ball(512), users=10_000, epsilon=epsilon))
        least = planned.to_dict()["lower_bound"]["error"]
        assert least < planned.pick.predicted_error < 1.02 * least


def test_users_and_epsilon_are_found_for_a_target() -> None:
    people = plan(Question(task="vector", domain=Ball(100), epsilon=4, target_error=0.05)).users
    assert NearestCodes(domain=Ball(100), epsilon=4).error() / people <= 0.05**2
    assert NearestCodes(domain=Ball(100), epsilon=4).error() / (people - 1) > 0.05**2


def test_rounds_share_a_lifetime() -> None:
    asked: dict[str, Any] = {"lifetime": 8, "users": 100_000, "target_error": 0.1}
    rounds = affordable_rounds(Ball(512), **asked)
    assert rounds == 4
    each = plan(Question(task="vector", domain=Ball(512), users=100_000, epsilon=8, repeats=rounds))
    more = plan(Question(task="vector", domain=Ball(512), users=100_000, epsilon=8, repeats=rounds + 1))
    assert each.pick.predicted_error <= 0.1 < more.pick.predicted_error
    assert affordable_rounds(Ball(512), **{**asked, "users": 100}) == 0
    for wrong in ({"users": 0}, {"users": True}, {"target_error": 0}, {"target_error": math.nan}):
        with pytest.raises(InvalidParameter):
            affordable_rounds(Ball(512), **{**asked, **wrong})


def test_the_domain_has_a_short_form() -> None:
    assert parse_domain("ball:512") == Ball(512)
    assert parse_domain("ball:3,2.5,max") == Ball(3, radius="2.5", norm=math.inf)
