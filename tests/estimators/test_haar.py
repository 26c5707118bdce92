"""Haar wavelets: unbiased shares that agree with one another, the exact error, and intervals that hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.core import Categories, Epsilon, Interval
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.estimators import HaarHistogram, support
from deniable.planning import workload
from deniable.planning.workloads.wavelets import best_wavelets, wavelet_error
from deniable.privacy import FixedKeystream

SIZE = 8
PREFIX = np.tril(np.ones((SIZE, SIZE)))
PEOPLE = np.repeat(np.arange(SIZE), [50, 0, 20, 5, 5, 0, 0, 20])


def exact_means_and_squares(haar: HaarHistogram, value: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the shares that one report adds, and the mean of their outer product, from all reports there are."""
    law = support(haar.mechanisms[0])
    mean, square = np.zeros(SIZE), np.zeros((SIZE, SIZE))
    for level, part in enumerate(haar.parts):
        nodes, child = 1 << level, value >> (haar.levels - 1 - level)
        for row in range(nodes):
            bit = (child & 1) ^ ((child >> 1) & row).bit_count() & 1
            for sent in (0, 1):
                chance = part / nodes * float(law.p if sent == bit else law.q)
                signs = np.array([(-1) ** ((node & row).bit_count()) for node in range(nodes)])
                difference = haar.scale * (1 - 2 * sent) * signs / part
                leaf = np.repeat(np.stack([difference, -difference], axis=1).reshape(-1), SIZE >> (level + 1)) / (SIZE >> level)
                mean += chance * leaf
                square += chance * np.outer(leaf, leaf)
    return mean, square


@pytest.mark.parametrize("shares", [None, [1, 2, 5]])
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_every_category_is_told_without_bias_and_with_the_exact_error(epsilon: float, shares: list[int] | None) -> None:
    haar, asked = HaarHistogram(Categories(SIZE), epsilon, shares), workload("ranges", SIZE)
    whole = np.zeros((SIZE, SIZE))
    for value in range(SIZE):
        mean, square = exact_means_and_squares(haar, value)
        assert mean + 1 / SIZE == pytest.approx(np.eye(SIZE)[value])
        whole += square / SIZE
    drawn = np.eye(SIZE) / SIZE - 1 / SIZE**2
    assert wavelet_error(asked, haar) == pytest.approx(float(((whole - drawn) * asked.products).sum()))


def test_reports_and_sums_are_those_of_the_law() -> None:
    """4,000 people with one value: no share is further off than 6 standard errors (8 values: false alarms below 1e-7)."""
    haar = HaarHistogram(Categories(SIZE), 2, [1, 2, 3])
    sums = haar.accumulate(haar.randomize_many(np.full(4000, 5), FixedKeystream("haar")))
    estimated = sums.answers(np.eye(SIZE))
    assert (np.abs(estimated.value - np.eye(SIZE)[5]) < 6 * estimated.standard_error + 1e-12).all()
    assert float(sums.leaves.sum()) == pytest.approx(1)
    both = sums.merge(haar.accumulate(haar.randomize_many(np.full(1000, 2), FixedKeystream("more"))))
    assert both.n == 5000


@pytest.mark.parametrize(("n", "runs"), [(50, 60), (200, 40), (10_000, 20)])
@pytest.mark.parametrize("epsilon", [0.5, 4])
def test_intervals_hold(n: int, runs: int, epsilon: float) -> None:
    haar, inside = HaarHistogram(Categories(SIZE), epsilon), []
    people = PEOPLE[np.arange(n) * 37 % 100]
    truth = PREFIX[:-1] @ np.bincount(people, minlength=SIZE) / n
    for run in range(runs):
        sums = haar.accumulate(haar.randomize_many(people, FixedKeystream(f"{n} {epsilon} {run}")))
        low, high = sums.answers(PREFIX[:-1]).interval()
        inside.append((low <= truth) & (truth <= high))
    assert np.mean(inside) > 0.935


@pytest.mark.parametrize("name", ["prefix", "ranges", "histogram"])
def test_no_other_shares_are_better(name: str) -> None:
    asked = workload(name, 16)
    best = best_wavelets(asked, Epsilon(1))
    assert wavelet_error(asked, best) <= wavelet_error(asked, HaarHistogram(Categories(16), 1))
    assert best.shares is not None
    for level in range(4):
        changed = [share * (11 if place == level else 10) for place, share in enumerate(best.shares)]
        assert wavelet_error(asked, HaarHistogram(Categories(16), 1, changed)) > wavelet_error(asked, best)


def test_what_does_not_fit_is_refused() -> None:
    for bad in (Categories(12), Interval(0, 1)):
        with pytest.raises(InvalidParameter, match="power of two"):
            HaarHistogram(bad, 1)  # type: ignore[arg-type]
    for shares in ([1], [1, 0], [1, Fraction(1, 2)]):
        with pytest.raises(InvalidParameter, match="whole number"):
            HaarHistogram(Categories(4), 1, shares)  # type: ignore[arg-type]
    with pytest.raises(OutOfDomain):
        HaarHistogram(Categories(4), 1).randomize_many([0, 4])
    rare = HaarHistogram(Categories(4), 1, [1, 1 << 30])
    sums = rare.accumulate(rare.randomize_many([0, 1, 2], FixedKeystream("few")))
    with pytest.raises(InvalidParameter, match="collect more"):
        _ = sums.leaves
