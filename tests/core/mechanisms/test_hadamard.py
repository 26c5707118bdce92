"""Hadamard response: one parity check at small epsilon, several at large ones, and an error below the published blocks."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Categories, Epsilon, Hadamard, HadamardResponse, make_mechanism
from deniable.core.channels.hadamard import POLYNOMIALS
from deniable.core.mechanisms.categorical.hadamard import best_polynomial
from deniable.errors import InvalidParameter
from deniable.estimators import support, support_counts, support_law
from deniable.privacy import FixedKeystream

SMALL = [Hadamard(size, polynomial) for size, polynomial in ((3, 3), (6, 7), (9, 11), (18, 19))]


def of(size: int, epsilon: float) -> HadamardResponse:
    return HadamardResponse(domain=Categories(size), epsilon=epsilon)


@pytest.mark.parametrize("sets", SMALL, ids=repr)
def test_any_two_sets_share_one_in_so_many(sets: Hadamard) -> None:
    every = [{sets.inside(index, j) for j in range(sets.members)} for index in range(sets.size)]
    assert all(len(one) == sets.members == sets.outputs >> sets.checks for one in every)
    assert all(len(one & other) == sets.members >> sets.checks for one, other in combinations(every, 2))


def test_one_check_is_the_even_parity_of_x_plus_1() -> None:
    sets = Hadamard(1000)
    assert sets.outputs == 1024
    for index, output in ((0, 0), (0, 1), (6, 5), (999, 1023), (512, 77)):
        assert sets.contains(index, output) == (((index + 1) & output).bit_count() % 2 == 0)


def test_fields_have_no_divisors_of_zero() -> None:
    for polynomial in POLYNOMIALS[:6]:
        sets = Hadamard(1, polynomial)
        elements = range(1, 1 << sets.checks)
        assert all(sorted(sets.times(a, b) for b in elements) == list(elements) for a in elements)
    with pytest.raises(InvalidParameter, match="irreducible"):
        Hadamard(10, 5)  # (1 + x)**2


def test_the_error_at_large_epsilon_is_below_the_published_blocks() -> None:
    """Per user, of a rare category among 1,000 at epsilon 4."""
    e = math.exp(4)
    ours = support(of(1000, 4)).variance(1)
    blocks = min((e - 1 + 2 * b) ** 2 / (b * (e - 1) ** 2) for b in (1, 2, 4, 8, 16, 32, 64))
    least = 4 * e / (e - 1) ** 2
    assert blocks == pytest.approx(0.1504, rel=1e-3)
    assert ours < 0.55 * blocks
    assert least < ours < 1.1 * least
    assert ours < support(make_mechanism("k-rr", domain=Categories(1000), epsilon=4)).variance(1) / 4


def test_more_checks_come_with_epsilon_and_never_more_outputs_than_are_counted() -> None:
    checks = [of(1000, epsilon).channel.sets.checks for epsilon in (0.1, 0.5, 1, 2, 3, 4)]  # type: ignore[attr-defined]
    assert checks[:2] == [1, 1]
    assert all(a <= b for a, b in pairwise(checks))
    for size in (2, 100, 70_000, 1_000_000):
        assert Hadamard(size, best_polynomial(size, Epsilon(6))).outputs <= 1 << 23


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_counts_are_those_of_every_set_and_the_estimate_is_near(epsilon: float) -> None:
    """Five standard errors of 12 shares: false alarms below 1e-5, and the coins are fixed."""
    mechanism, n = of(12, epsilon), 20_000
    values = np.arange(n) % 12 * (np.arange(n) % 3 > 0)
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, values, FixedKeystream("checks")))
    sets, law = mechanism.channel.sets, support(mechanism)  # type: ignore[attr-defined]
    counted = support_counts(sums)
    brute = [sum(int(sums.sums[y]) for y in range(sets.outputs) if sets.contains(x, y)) for x in range(12)]
    assert counted.tolist() == brute
    away = (counted / n - float(law.q)) / float(law.p - law.q) - np.bincount(values, minlength=12) / n
    assert np.abs(away).max() < 5 * math.sqrt(law.variance(n, n)) / n


def test_covariances_are_those_of_the_rows() -> None:
    """Against the sum over all outputs, with three checks, where lines have nine points."""
    mechanism = of(20, 2)
    channel: Any = mechanism.channel
    assert channel.sets.checks == 3
    people = np.arange(1.0, 21.0)
    inside = np.array([[channel.sets.contains(x, y) for y in range(channel.outputs)] for x in range(20)], np.float64)
    law = np.where(inside > 0, channel.high, channel.low) / channel.total
    exact = sum(n * ((inside * row) @ inside.T - np.outer(inside @ row, inside @ row)) for n, row in zip(people, law, strict=True))
    assert np.allclose(support_law(mechanism).covariance(people), exact)
