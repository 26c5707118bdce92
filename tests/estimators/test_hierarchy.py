"""Hierarchical histograms: least squares as it should be, and answers that cover."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from deniable.core import Interval
from deniable.errors import InvalidParameter, OutOfDomain, WrongRecipe
from deniable.estimators import HierarchicalHistogram, consistent, influence
from deniable.estimators.level_sums import TreeSums
from deniable.privacy import FixedKeystream

TRUTH = stats.beta(2, 3)


@pytest.mark.parametrize("fan_out", [2, 3])
def test_two_passes_are_weighted_least_squares(fan_out: int) -> None:
    draws = np.random.default_rng(1)
    levels = [draws.normal(size=fan_out**level) for level in (1, 2, 3)]
    variances = [0.5, 2.0, 1.0]
    leaves = fan_out**3
    design = np.vstack([np.kron(np.eye(fan_out**level), np.ones(leaves // fan_out**level)) for level in (1, 2, 3)])
    inverse = np.diag(np.repeat(1 / np.array(variances), [fan_out, fan_out**2, leaves]))
    # Least squares under the constraint that all leaves add up to 1, by a Lagrange multiplier.
    ones = np.ones((leaves, 1))
    system = np.block([[design.T @ inverse @ design, ones], [ones.T, np.zeros((1, 1))]])
    right = np.concatenate([design.T @ inverse @ np.concatenate(levels), [1.0]])
    best = np.linalg.solve(system, right)[:leaves]
    found = consistent(levels, variances, fan_out)
    assert np.abs(found[-1] - best).max() < 1e-12
    for upper, lower in itertools.pairwise(found):
        assert np.abs(lower.reshape(-1, fan_out).sum(axis=1) - upper).max() < 1e-12
    question = draws.normal(size=leaves)
    pulls = np.concatenate(influence(question, variances, fan_out))
    slope = np.linalg.solve(system, np.vstack([design.T @ inverse, np.zeros((1, len(pulls)))]))[:leaves]
    assert np.abs(pulls - question @ slope).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ["hadamard", "oue"])
def test_ranges_and_quantiles_cover(oracle: str) -> None:
    tree = HierarchicalHistogram(Interval(0, 100), epsilon=1, fan_out=4, levels=3, oracle=oracle)  # type: ignore[arg-type]
    stream, draws, runs = FixedKeystream(oracle), np.random.default_rng(3), 500
    truth, middle = float(TRUTH.cdf(0.5) - TRUTH.cdf(0.125)), 100 * TRUTH.ppf([0.25, 0.5])
    z, leaf, quantile = [], [], []
    for _ in range(runs):
        sums = tree.accumulate(tree.randomize_many(100 * draws.beta(2, 3, size=6000), stream))
        estimate = sums.range_share(12.5, 50)
        z.append(float((estimate.value - truth) / estimate.standard_error))
        shares = sums.shares()
        leaf.append((shares.value[20] - float(TRUTH.cdf(21 / 64) - TRUTH.cdf(20 / 64))) / shares.standard_error[20])
        halves = sums.quantiles([0.25, 0.5])
        quantile.append(np.abs(halves.value - middle) <= 1.959964 * halves.standard_error)
    # 500 runs: a mean beyond 5 / sqrt(500), a spread beyond 1 ± 0.16, coverage below 90 %: once in 10**6 times each.
    assert abs(np.mean(z)) < 0.224
    assert 0.84 < np.std(z) < 1.16
    assert abs(np.mean(leaf)) < 0.224
    assert 0.84 < np.std(leaf) < 1.16
    assert (np.mean(quantile, axis=0) > 0.88).all()


def test_sums_merge_and_agree() -> None:
    tree = HierarchicalHistogram(Interval(0, 1), epsilon=2, fan_out=2, levels=3)
    values = np.linspace(0, 1, 4001)
    reports = [tree.randomize_many(part, FixedKeystream(str(i))) for i, part in enumerate((values[:1000], values[1000:]))]
    merged = tree.accumulate(reports[0]).merge(tree.accumulate(reports[1]))
    both = tree.accumulate(reports[0]).add(reports[1])
    assert merged.n == both.n == 4001
    assert merged.range_share(0.2, 0.7).value == both.range_share(0.2, 0.7).value
    assert merged.cdf().value[3] == pytest.approx(float(merged.range_share(0, 0.5).value))
    assert merged.cdf().variance[3] == pytest.approx(float(merged.range_share(0, 0.5).variance))
    assert float(merged.shares().value.sum()) == pytest.approx(1)
    with pytest.raises(WrongRecipe):
        merged.merge(TreeSums(HierarchicalHistogram(Interval(0, 1), epsilon=1, fan_out=2, levels=3)))


def test_every_user_reports_once_at_a_level_that_says_nothing() -> None:
    tree = HierarchicalHistogram(Interval(0, 1), epsilon=1, fan_out=4, levels=4)
    low, high = (tree.randomize_many(np.full(8000, value), FixedKeystream("level")) for value in (0.1, 0.9))
    assert sum(len(batch) for batch in low) == 8000
    assert [len(batch) for batch in low] == [len(batch) for batch in high]
    # Four binomials of 8000 at 1/4: 6 standard deviations.
    assert all(abs(len(batch) - 2000) < 6 * np.sqrt(1500) for batch in low)
    assert all(mechanism.certificate().holds for mechanism in tree.mechanisms)


def test_bad_trees_and_values_are_refused() -> None:
    for parameters in ({"fan_out": 1}, {"levels": 0}, {"levels": 30}, {"oracle": "none"}, {"fan_out": True}):
        with pytest.raises(InvalidParameter):
            HierarchicalHistogram(Interval(0, 1), epsilon=1, **parameters)
    tree = HierarchicalHistogram(Interval(0, 1), epsilon=1)
    with pytest.raises(OutOfDomain):
        tree.randomize_many([2.0])
    with pytest.raises(InvalidParameter, match="no reports"):
        TreeSums(tree).range_share(0, 0.5)
    with pytest.raises(InvalidParameter, match="low"):
        TreeSums(tree).range_share(0.7, 0.5)
