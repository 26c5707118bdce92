"""Variance, estimates and simulations agree with each other."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.core import Pair
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.studies import (
    PUBLISHED_COUNTS,
    bounded_pair,
    estimate_ones,
    published_pair,
    simulate,
    variance_independent,
    variance_joint,
    variance_randomized_response,
)


def enumerated_variance(pair: Pair, values: tuple[int, ...]) -> Fraction:
    """Var of the estimate for fixed users, averaged over all orders of seats, from the table alone."""
    n = len(values)
    p, q = pair.truth, pair.lie
    cross = Fraction(0)
    for a in range(n):
        for b in range(n):
            if a != b:
                same = values[a] == values[b]
                both = Fraction(pair.both, pair.total) - p * p
                cross += (both if same else -both) / (n - 1)
    return (n * p * q + cross) / (p - q) ** 2


@pytest.mark.parametrize("values", [(1, 1), (1, 0), (1, 1, 1, 0), (1, 1, 0, 0), (0, 0, 0, 0, 0, 1)])
def test_theorem_4_is_the_sum_of_covariances(values: tuple[int, ...]) -> None:
    for pair in (Pair.exactly("4/5", "-1/4"), Pair.exactly("2/3", "1/3")):
        assert variance_joint(pair, len(values), sum(values)) == enumerated_variance(pair, values)


@pytest.mark.parametrize(
    ("pair", "n", "ones"),
    [(published_pair(1), 1000, 30), (published_pair("0.1"), 400, 400), (bounded_pair(1, 3), 2000, 1500), (Pair(5, 1, 4), 400, 200)],
)
def test_theorem_4_is_matched_within_three_standard_errors(pair: Pair, n: int, ones: int) -> None:
    simulated = simulate(pair, n, ones, 4000, keystream=FixedKeystream(11))
    wanted = float(variance_joint(pair, n, ones))
    assert abs(simulated.mse - wanted) < 3 * simulated.mse_standard_error
    assert abs(simulated.estimates.mean() - ones) < 4 * math.sqrt(wanted / 4000)


def test_an_odd_number_has_its_own_variance() -> None:
    pair, n, ones = published_pair("1/2"), 101, 95
    simulated = simulate(pair, n, ones, 6000, leftover=True, keystream=FixedKeystream(12))
    assert abs(simulated.mse - float(variance_joint(pair, n, ones, leftover=True))) < 3 * simulated.mse_standard_error


@pytest.mark.parametrize("name", PUBLISHED_COUNTS)
def test_joint_answers_beat_plain_ones_on_the_published_counts(name: str) -> None:
    n, ones = PUBLISHED_COUNTS[name]
    simulated = simulate(published_pair(1), n, ones, 300, keystream=FixedKeystream(13))
    plain = simulate(bounded_pair(1, 1), n, ones, 300, keystream=FixedKeystream(14))
    assert float(variance_joint(published_pair(1), n, ones)) < variance_randomized_response(1, n)
    assert simulated.mse == pytest.approx(float(variance_joint(published_pair(1), n, ones)), rel=0.35)
    assert list(plain.percentiles().values()) == sorted(plain.percentiles().values())


def test_intervals_cover_what_they_say() -> None:
    pair, n, ones = published_pair(1), 2000, 60
    runs = simulate(pair, n, ones, 4000, keystream=FixedKeystream(15))
    covered = 0
    for value in runs.estimates:
        reported = round(value * float(pair.truth - pair.lie) + n * float(pair.lie))
        low, high = estimate_ones(pair, reported, n).interval(0.95)
        covered += bool(low[1] <= ones <= high[1])
    assert 0.93 < covered / 4000 < 0.97


def test_the_estimate_is_the_published_one() -> None:
    estimate = estimate_ones(Pair.exactly("4/5", "-1/4"), 1, 2)
    assert estimate.value[1] == pytest.approx((1 - 0.4) / 0.6)
    assert estimate.value.sum() == pytest.approx(2)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4])
@pytest.mark.parametrize("more", [0.1, 0.5, 1, 3])
def test_plain_answers_at_the_collusion_level_always_win(epsilon: float, more: float) -> None:
    n = 10_000
    joint = min(float(variance_joint(bounded_pair(epsilon, epsilon + more), n, ones)) for ones in (0, 100, n // 2, n))
    assert variance_randomized_response(epsilon + more, n) < joint


def test_the_gain_at_the_ends_is_one_minus_e_to_minus_epsilon() -> None:
    pair = published_pair(1)
    ratio = float(variance_joint(pair, 10**6, 0) / variance_independent(pair, 10**6))
    assert ratio == pytest.approx(1 - math.exp(-1), rel=1e-5)


def test_runs_are_counted() -> None:
    seen: list[int] = []
    simulated = simulate(published_pair(1), 10, 3, 25, progress=seen.append)
    assert sum(seen) == len(simulated.estimates) == 25
    assert np.isfinite(simulated.estimates).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: simulate(published_pair(1), 11, 3), "n must be even"),
        (lambda: simulate(published_pair(1), 10, 11), "ones must be"),
        (lambda: simulate(published_pair(1), 10, 3, 0), "runs must be"),
        (lambda: estimate_ones(published_pair(1), 11, 10), "reported_ones"),
        (lambda: variance_joint(Pair(1, 1, 1), 10, 3), "above 1/2"),
    ],
)
def test_bad_questions_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        wrong()
