"""Expectation maximization: the most likely distribution behind the counts, plain (EM) or smoothed (EMS)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from deniable.batch import Floats
from deniable.estimators.active_set import put
from deniable.estimators.dense_channel import DenseTransition
from deniable.estimators.window_channel import WindowTransition


class Fit(NamedTuple):
    """Where the iteration stopped."""

    shares: Floats
    iterations: int = 0
    log_likelihood: float = math.nan
    converged: bool = True


@njit(nogil=True, cache=True)
def _smoothed(theta, update, circular):  # type: ignore[no-untyped-def]
    """theta = (1, 2, 1)/4 of update; at the ends of an interval what would leave stays."""
    last = theta.size - 1
    if last == 0:
        theta[0] = update[0]
        return
    for j in range(1, last):
        theta[j] = 0.25 * (update[j - 1] + update[j + 1]) + 0.5 * update[j]
    before, after = (update[last], update[0]) if circular else (update[0], update[last])
    theta[0] = 0.25 * (before + update[1]) + 0.5 * update[0]
    theta[last] = 0.25 * (update[last - 1] + after) + 0.5 * update[last]


@njit(nogil=True, cache=True)
def _window_iterations(  # type: ignore[no-untyped-def]
    counts,
    theta,
    low,
    gain,
    sizes,
    lower_index,
    lower_next,
    lower_turns,
    lower_near,
    lower_far,
    upper_index,
    upper_next,
    upper_turns,
    upper_near,
    upper_far,
    smooth,
    circular,
    tolerance,
    most,
):
    size = sizes.size
    total = counts.sum()
    steps = np.zeros(size + 2)
    spots = np.zeros(size + 2)
    ratio = np.zeros(size + 2)
    sums = np.zeros(size + 2)
    update = np.empty_like(theta)
    previous = -np.inf
    for iteration in range(most):
        steps[:] = 0.0
        spots[:] = 0.0
        turns = 0.0
        for j in range(theta.size):
            share = theta[j]
            steps[upper_index[j]] += share
            steps[lower_index[j]] -= share
            spots[upper_index[j]] += share * upper_near[j]
            spots[upper_next[j]] += share * upper_far[j]
            spots[lower_index[j]] -= share * lower_near[j]
            spots[lower_next[j]] -= share * lower_far[j]
            turns += share * (upper_turns[j] - lower_turns[j])
        reached = 0.0
        beyond = turns
        for d in range(size):
            beyond -= steps[d]
            chance = sizes[d] * (low + gain * beyond) + gain * spots[d]
            if counts[d] > 0:
                ratio[d] = counts[d] / (total * chance)
                reached += counts[d] * np.log(chance)
            sums[d + 1] = sums[d] + sizes[d] * ratio[d]
        sums[size + 1] = sums[size]
        for j in range(theta.size):
            up = upper_index[j]
            down = lower_index[j]
            above = sums[up] + upper_turns[j] * sums[size] + upper_near[j] * ratio[up] + upper_far[j] * ratio[upper_next[j]]
            below = sums[down] + lower_turns[j] * sums[size] + lower_near[j] * ratio[down] + lower_far[j] * ratio[lower_next[j]]
            update[j] = theta[j] * (low * sums[size] + gain * (above - below))
        if smooth:
            _smoothed(theta, update, circular)
        else:
            put(update, theta)
        if abs(reached - previous) < tolerance:
            return iteration + 1, reached, True
        previous = reached
    return most, previous, False


def fit(
    transition: WindowTransition | DenseTransition,
    counts: Floats,
    *,
    smooth: bool,
    circular: bool,
    tolerance: float,
    most: int,
) -> Fit:
    """Iterate from the uniform distribution until the log-likelihood changes by less than `tolerance`, at most `most` times."""
    if isinstance(transition, WindowTransition):
        theta = np.full(len(transition.lower.place), 1 / len(transition.lower.place))
        done = _window_iterations(
            counts,
            theta,
            transition.low,
            transition.gain,
            transition.sizes,
            *transition.lower,
            *transition.upper,
            smooth,
            circular,
            tolerance,
            most,
        )
        return Fit(theta, int(done[0]), float(done[1]), bool(done[2]))
    return _dense_iterations(transition.matrix, counts, smooth, circular, tolerance, most)


def _dense_iterations(matrix: Floats, counts: Floats, smooth: bool, circular: bool, tolerance: float, most: int) -> Fit:
    seen = counts > 0
    chances = np.ascontiguousarray(matrix[:, seen])
    smoothed = np.empty(len(matrix))

    def smoothing(update: Floats) -> Floats:
        _smoothed(smoothed, update, circular)
        return smoothed

    return maximise(
        lambda shares: shares @ chances,
        lambda ratio: chances @ ratio,
        smoothing if smooth else lambda update: update,
        counts[seen],
        np.full(len(matrix), 1 / len(matrix)),
        tolerance,
        most,
    )


def maximise(
    chances: Callable[[Floats], Floats],
    averages: Callable[[Floats], Floats],
    smooth: Callable[[Floats], Floats],
    counts: Floats,
    start: Floats,
    tolerance: float,
    most: int,
) -> Fit:
    """Expectation maximization with any channel, until the log-likelihood changes by less than `tolerance`, at most `most` steps.

    `chances` takes shares to the probabilities of reports, `averages` a number for every report to its mean at every true value.
    """
    seen, whole = counts > 0, counts.sum()
    shares, previous = start, -np.inf
    ratio = np.zeros_like(counts)
    for iteration in range(most):
        likely = chances(shares)
        reached = float(counts[seen] @ np.log(likely[seen]))
        ratio[seen] = counts[seen] / (whole * likely[seen])
        shares = smooth(shares * averages(ratio))
        if abs(reached - previous) < tolerance:
            return Fit(shares, iteration + 1, reached, True)
        previous = reached
    return Fit(shares, most, previous, False)
