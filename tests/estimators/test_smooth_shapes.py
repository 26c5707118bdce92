"""Intervals that assume a density which changes slowly: they hold where it does, are shorter, and say what they assume."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.core import Circle, Interval, make_mechanism
from deniable.errors import InvalidParameter
from deniable.estimators import distribution, quantiles, range_share, shape
from deniable.estimators.response import response
from deniable.estimators.smooth_shapes import SmoothGrid
from deniable.privacy import FixedKeystream

LINE: Any = make_mechanism("sw", domain=Interval(0, 1, cells=900), epsilon=1)
AROUND: Any = make_mechanism("circular-window", domain=Circle(1, cells=900), epsilon=1)


def densities(grid: SmoothGrid, count: int) -> Any:
    """Shares of cells under random densities that change as fast as they may: zigzags of all lengths."""
    draws, middles, limit = np.random.default_rng(1), (grid.edges[1:] + grid.edges[:-1]) / 2, 4 / grid.peak**2
    for _ in range(count):
        turns = np.sort(draws.random(draws.integers(1, 12)))
        signs = np.where(np.searchsorted(turns, middles) % 2, 1.0, -1.0) * draws.choice([-1.0, 1.0])
        rising = np.concatenate([[0.0], np.cumsum(signs[1:] * limit * np.diff(middles))])
        # The level at which it holds everybody, being nowhere below 0.
        low, high = -limit, limit + 2
        for _ in range(60):
            level = (low + high) / 2
            held = np.maximum(rising + level, 0) @ np.diff(grid.edges)
            low, high = (level, high) if held < 1 else (low, level)
        yield np.maximum(rising + low, 0) * np.diff(grid.edges)


def test_no_density_that_changes_slowly_has_more() -> None:
    grid = SmoothGrid.over(response(LINE, 48), np.array([0.123, 0.7]), 0.6)
    for seed in range(3):
        gains = np.random.default_rng(seed).standard_normal(len(grid.least)).cumsum()
        most = grid.most_of(gains)
        reached = [float(gains @ shares / shares.sum()) for shares in densities(grid, 40)]
        assert max(reached) <= most + 1e-9
        assert most < gains.max()


def test_one_peak_that_holds_everybody_is_the_steepest() -> None:
    """All of a range as wide as the peak, in the middle; beside it the density would have to fall faster."""
    grid = SmoothGrid.over(response(LINE, 48), np.array([0.3, 0.7]), 0.4)
    inside, _ = grid.inside(0.3, 0.7)
    assert grid.most_of(inside) == pytest.approx(1, abs=0.02)
    narrow, _ = grid.inside(0.45, 0.55)
    # Of a triangle's area, what lies within a quarter of its reach: 1 - (3/4)**2.
    assert grid.most_of(narrow) == pytest.approx(1 - 0.75**2, abs=0.02)


@pytest.mark.parametrize("mechanism", [LINE, AROUND])
def test_intervals_are_shorter_and_hold(mechanism: Any) -> None:
    values = np.random.default_rng(2).beta(4, 4, 400)
    reports = randomize_many(mechanism, values, FixedKeystream(3))
    truth = np.histogram(values, 4, (0, 1))[0] / 400
    free, smooth = distribution(reports, bins=4), distribution(reports, bins=4, narrowest_peak=0.6)
    (low, high), (least, most) = free.interval(), smooth.interval()
    assert ((least <= truth) & (truth <= most)).all()
    assert (most - least).mean() < 0.9 * (high - low).mean()
    assert smooth.value == pytest.approx(free.value)
    assert free.assumes == ""
    assert "0.6 wide" in smooth.assumes
    assert "0.6 wide" in smooth.to_dict()["assumes"]


def test_an_assumption_that_says_nothing_changes_nothing() -> None:
    reports = randomize_many(LINE, np.random.default_rng(4).beta(2, 5, 300), FixedKeystream(5))
    free, smooth = (range_share(reports, 0.2, 0.5, narrowest_peak=peak).interval() for peak in (None, 0.001))
    assert smooth == pytest.approx(free, abs=0.01)


@pytest.mark.slow
def test_quantiles_and_means_take_the_assumption() -> None:
    reports = randomize_many(LINE, np.random.default_rng(6).beta(4, 4, 300), FixedKeystream(8))
    free, smooth = (quantiles(reports, 0.5, narrowest_peak=peak).interval() for peak in (None, 0.6))
    assert smooth[1][0] - smooth[0][0] <= free[1][0] - free[0][0]
    low, high = shape(reports, narrowest_peak=0.6).mean().interval()
    assert low < 0.5 < high


@pytest.mark.parametrize("peak", [0, -1, float("nan"), float("inf")])
def test_a_peak_without_a_width_is_refused(peak: float) -> None:
    with pytest.raises(InvalidParameter, match="narrowest_peak must be a positive number"):
        shape(LINE.randomize_many([0.5]), narrowest_peak=peak)


def test_two_assumptions_exclude_one_another() -> None:
    with pytest.raises(InvalidParameter, match="exclude one another"):
        shape(LINE.randomize_many([0.5]), narrowest_peak=0.5, multiples_of=0.1)
