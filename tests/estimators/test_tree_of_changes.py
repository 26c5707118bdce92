"""Shares from trees of changes: unbiased by the exact law, with errors that are not too small."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.core import TreeOfChanges
from deniable.errors import InvalidParameter
from deniable.estimators import yes_shares
from deniable.privacy import FixedCoins

STREAM = TreeOfChanges(4, changes=2, epsilon=2)
PEOPLE = [(0, 0, 0, 0), (0, 1, 1, 1), (1, 1, 0, 0), (0, 0, 1, 1), (0, 1, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0)]


def expected_signs() -> dict[int, list[list[float]]]:
    """How many signs of each kind are sent on average, by the weights of all rows of reports."""
    signs = {length: np.zeros((4 // length, 2)) for length in (1, 2, 4)}
    for values in PEOPLE:
        for row in STREAM.rows():
            spoken = [period for period, output in enumerate(row) if output is not None]
            weight = STREAM.weight(values, row)
            if weight:
                length = spoken[0] + 1
                for period in spoken:
                    signs[length][period // length, row[period]] += float(Fraction(weight, STREAM.total))
    return {length: counts.tolist() for length, counts in signs.items()}


def test_shares_are_unbiased_by_the_exact_law() -> None:
    estimate = yes_shares(STREAM, expected_signs())
    assert estimate.value == pytest.approx(np.mean(PEOPLE, axis=0), abs=1e-9)
    assert (estimate.standard_error > 0).all()


def test_the_stated_errors_are_not_too_small() -> None:
    """60 fleets of 70 devices on fixed coins: shares lie within five stated errors, and spread no more than stated."""
    shares, stated = [], []
    coins = FixedCoins(3)
    for _ in range(60):
        signs = {length: np.zeros((4 // length, 2)) for length in (1, 2, 4)}
        for values in PEOPLE * 10:
            memory = STREAM.start(coins)
            for period, value in enumerate(values):
                sign = STREAM.report(memory, period, value, coins)
                if sign is not None:
                    signs[memory["length"]][period // memory["length"], sign] += 1
        estimate = yes_shares(STREAM, signs)
        share, error = estimate.value, estimate.standard_error
        assert (np.abs(share - np.mean(PEOPLE, axis=0)) < 5 * error).all()
        shares.append(share)
        stated.append(error)
    assert (np.std(shares, axis=0) < 1.4 * np.mean(stated, axis=0)).all()


@pytest.mark.parametrize("heard", [1, 2, 4, 5, 6, 9, 12, 40])
def test_intervals_hold_for_every_number_of_signs(heard: int) -> None:
    """Exactly, by the binomial law of signs that are pure noise: of one stretch at 95 % and at 99 %."""
    stream = TreeOfChanges(1, changes=1, epsilon=1)
    for level in (0.95, 0.99):
        held = 0.0
        for plus in range(heard + 1):
            low, high = yes_shares(stream, {1: [[heard - plus, plus]]}).interval(level)
            held += math.comb(heard, plus) / 2**heard * bool(low[0] <= 0 <= high[0])
        assert held >= level


def test_where_nobody_was_heard_nothing_is_known() -> None:
    estimate = yes_shares(TreeOfChanges(2, changes=1, epsilon=1), {1: [[0, 0], [3, 4]], 2: [[500, 900]]})
    low, high = estimate.interval()
    assert (float(low[0]), float(high[0])) == (0, 1)
    assert np.isfinite(estimate.value).all()


@pytest.mark.parametrize("signs", [{}, {1: [[1, 1]] * 4}, {1: [[1, 1]] * 3, 2: [[1, 1]] * 2, 4: [[1, 1]]}, {3: [[1, 1]]}])
def test_signs_that_do_not_fit_are_refused(signs: dict[int, list[list[int]]]) -> None:
    with pytest.raises(InvalidParameter):
        yes_shares(STREAM, signs)
