"""Trends: bands hold for all periods together, and changes are named no more often than stated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from deniable.batch import Reports, draw_many
from deniable.core import Categories, make_mechanism
from deniable.errors import InvalidParameter, WrongRecipe
from deniable.estimators import Trend, trend
from deniable.privacy import FixedKeystream

MECHANISM = make_mechanism("k-rr", domain=Categories(["no", "maybe", "yes"]), epsilon=1)


def days(shares: Sequence[tuple[float, ...]], n: int, seed: int, epsilon: float = 1) -> Trend:
    random, stream = np.random.default_rng(seed), FixedKeystream(seed)
    people = [random.choice(3, n, p=day) for day in shares]
    mechanism = MECHANISM if epsilon == 1 else make_mechanism("k-rr", domain=MECHANISM.domain, epsilon=epsilon)
    return trend([Reports(mechanism, draw_many(mechanism.channel, day, stream)) for day in people])


def test_bands_hold_for_all_periods_together() -> None:
    """30 surveys at 95 %: fewer than 20 that hold have a chance below 1e-7."""
    shares = [(0.8 - 0.05 * day, 0.15, 0.05 + 0.05 * day) for day in range(10)]
    held = 0
    for seed in range(30):
        low, high = days(shares, 150, seed).band()
        held += bool(((low <= shares) & (np.array(shares) <= high)).all())
    assert held >= 20


def test_changes_are_named_no_more_often_than_stated() -> None:
    """Nothing changes in 100 surveys; at a rate of 5 %, more than 20 named ones have a chance below 1e-7."""
    named = sum(bool(days([(0.7, 0.2, 0.1)] * 8, 300, seed).changes(0.05)) for seed in range(100))
    assert named <= 20


@pytest.mark.parametrize("people", [2, 5, 20])
def test_few_reports_show_no_changes_where_there_are_none(people: int) -> None:
    """Their unbiased shares lie far beyond 0 and 1, where intervals end: steps between such shares were named."""
    named = sum(bool(days([(0.7, 0.2, 0.1)] * 3, people, seed, epsilon=0.5).changes(0.05)) for seed in range(40))
    assert named <= 12  # 40 trends at 5 %: more than 12 less than once in 10**7 times; there were 14 to 39


def test_a_real_change_is_named_where_it_happened() -> None:
    steps = days([(0.7, 0.2, 0.1)] * 4 + [(0.2, 0.2, 0.6)] * 4, 3000, 1).changes(1e-6)
    assert {(step["from"], step["to"]) for step in steps} == {(3, 4)}
    assert {step["label"] for step in steps} == {"no", "yes"}


def test_smoothing_keeps_straight_lines_and_the_unbiased_shares() -> None:
    line = days([(0.8 - 0.05 * day, 0.15, 0.05 + 0.05 * day) for day in range(10)], 400, 2)
    before = line.value.copy()
    smooth = line.smoothed(4)
    assert smooth.shape == before.shape
    assert (line.value == before).all()
    assert np.abs(smooth - before).max() > 0
    straight = Trend(line.periods, tuple(line.estimates), line.labels)
    again = np.array([[0.1 * period, 0.5, 1 - 0.1 * period] for period in line.periods])
    object.__setattr__(straight, "estimates", tuple(_Fixed(row) for row in again))
    assert straight.smoothed(3) == pytest.approx(again)


def test_the_data_choose_how_far_lines_reach() -> None:
    """Nothing moves: far. Everything jumps from day to day: not at all. Each beside the other's choice, by what it is off."""
    still, jumping = [(0.7, 0.2, 0.1)] * 40, [(0.7, 0.2, 0.1), (0.1, 0.2, 0.7)] * 20
    for shares, n, near, far in ((still, 60, "far", "near"), (jumping, 4000, "near", "far")):
        line = days(shares, n, 3)
        error = {
            name: float(((smooth - np.array(shares)) ** 2).sum())
            for name, smooth in (("near", line.value), ("far", line.smoothed(30)), ("chosen", line.smoothed()))
        }
        assert error["chosen"] <= 1.05 * error[near] < 0.5 * error[far]


def test_what_was_published_stays_as_it_is() -> None:
    line = days([(0.7 - 0.01 * day, 0.2, 0.1 + 0.01 * day) for day in range(30)], 400, 4)
    so_far = Trend(line.periods[:12], line.estimates[:12], line.labels)
    for reach in (None, 5):
        published = so_far.smoothed(reach, ahead=False)
        assert np.array_equal(line.smoothed(reach, ahead=False)[:12], published)
        assert not np.array_equal(line.smoothed(reach)[:12], published)
    assert np.array_equal(so_far.smoothed(None, ahead=False)[0], so_far.value[0])


def test_one_period_is_its_own_line() -> None:
    line = days([(0.7, 0.2, 0.1)], 100, 5)
    assert np.array_equal(line.smoothed(), line.value)


class _Fixed:
    def __init__(self, value: object) -> None:
        self.value = value


def test_periods_without_reports_are_left_out() -> None:
    one = MECHANISM.randomize_many(["no"] * 50)
    gaps = trend([None, one, None, one])
    assert gaps.periods == (1, 3)
    assert len(gaps.to_dict()["rows"]) == 6
    with pytest.raises(InvalidParameter):
        trend([None])
    with pytest.raises(WrongRecipe):
        trend([one, make_mechanism("k-rr", domain=Categories(3), epsilon=1).randomize_many([0])])
    with pytest.raises(InvalidParameter):
        gaps.smoothed(0)
