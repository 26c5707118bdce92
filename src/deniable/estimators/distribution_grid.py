"""A mechanism between bins of its domain and bins of its outputs, and how a fit on them varies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Circle, Interval, Mechanism
from deniable.estimators.bins import checked_bins, input_axis, output_cuts
from deniable.estimators.dense_channel import DenseTransition, dense_transition
from deniable.estimators.estimate import Target
from deniable.estimators.window_channel import LEAST_INPUTS, WindowTransition, one_window, window_spread, window_transition

FINE_BINS = 64
"""Fewer bins are put together from so many, or the outputs would be told apart too coarsely."""
FINE = (1024, 512, 256)
"""Cells of a fit."""
SMALL_TABLE = 1 << 20
FITTED_ELSEWHERE = 256
"""Cells of a fit whose table would be too large with more."""
IMAGINED = 30
"""Imagined reports of evenly spread values that the covariance is worked out with, beside the real ones."""


@dataclass(frozen=True)
class Binned:
    """A mechanism between bins of its domain and bins of its outputs."""

    transition: WindowTransition | DenseTransition
    cuts: Integers
    edges: Floats
    """The bins' ends in the domain's units, one more than bins."""
    circular: bool


@lru_cache(maxsize=4)
def binned(mechanism: Mechanism, bins: int) -> Binned:
    """The exact probabilities between bins, for values spread evenly within each of them.

    Few bins are put together from finer ones, so that outputs stay finely told apart.
    """
    domain = mechanism.domain
    assert isinstance(domain, Interval | Circle)
    edges = float(domain.low) + float(domain.width) * np.arange(bins + 1) / bins
    finer = -(-FINE_BINS // bins)
    channel, axis = input_axis(mechanism, bins * finer)
    if axis.per_bin < LEAST_INPUTS:
        finer = 1
        channel, axis = input_axis(mechanism, bins)
    wide = axis.per_bin >= LEAST_INPUTS
    window = one_window(channel) if wide else None
    cuts = output_cuts(channel, window_spread(axis) if wide else 1, windows=window is not None)
    transition: WindowTransition | DenseTransition
    transition = dense_transition(channel, axis, cuts) if window is None else window_transition(*window, axis, cuts)
    if finer > 1:
        transition = DenseTransition(transition.matrix.reshape(bins, finer, -1).mean(axis=1))
    return Binned(transition, cuts, edges, isinstance(domain, Circle))


def fine_cells(mechanism: Mechanism) -> int:
    """How many cells a fit has: as many as published (1,024), fewer where the mechanism tells fewer apart."""
    assert isinstance(mechanism.domain, Interval | Circle)
    most = checked_bins(mechanism, None, FINE[0])
    channel, axis = input_axis(mechanism, 1)
    if one_window(channel) is not None:
        for cells in FINE:
            if cells <= most and axis.per_bin >= LEAST_INPUTS * cells:
                return cells
    return most if most * channel.outputs <= SMALL_TABLE else min(most, FITTED_ELSEWHERE)


def sensitivity(matrix: Floats, shares: Floats, seen: Floats, iterations: int, smoothing: Floats | None) -> Floats:
    """How the shares answer to small changes of the observed frequencies: bins of inputs by bins of outputs.

    One step is M(shares) = shares * matrix (seen / likely). EMS solves shares = S M(shares), so a change
    of `seen` moves its solution by (1 - S J)**-1 S K, J and K being M's derivatives. Plain EM has no such
    inverse where the reports tell nothing; what `iterations` steps have taken up is (1 - J**m)(1 - J)**-1 K.
    """
    likely = shares @ matrix
    pull = matrix @ (seen / likely)
    by_seen = shares[:, None] * matrix / likely
    if smoothing is not None:
        jacobian = np.diag(pull) - by_seen @ (matrix * (seen / likely)).T
        return np.asarray(np.linalg.solve(np.eye(len(shares)) - smoothing @ jacobian, smoothing @ by_seen))
    root = np.sqrt(np.maximum(shares, 1e-300))
    tilted = root[:, None] * matrix
    symmetric = np.diag(pull) - (tilted * (seen / likely**2)) @ tilted.T
    value, vector = np.linalg.eigh((symmetric + symmetric.T) / 2)
    value = np.clip(value, 0.0, 1.0)
    gap = np.maximum(1 - value, 1e-12)
    taken = np.where(gap > 1e-9, (1 - value**iterations) / gap, float(iterations))
    return np.asarray((root[:, None] * vector * taken) @ (vector.T @ (by_seen / root[:, None])))


def count_covariance(slope: Floats, matrix: Floats, shares: Floats, n: int, target: Target) -> Floats:
    """The covariance of a linear function of frequencies: multinomial, or summed over these users' own laws."""
    likely = shares @ matrix
    whole = (slope * likely) @ slope.T
    moved = slope @ matrix.T if target == "these users" else (slope @ likely)[:, None]
    common = (moved * shares) @ moved.T if target == "these users" else moved @ moved.T
    return np.asarray((whole - common) / n)
