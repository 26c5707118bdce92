"""The whole distribution of a number or a direction, as shares of equal bins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from deniable.channels import TwoLevel, Window
from deniable.domains import Circle, Interval
from deniable.errors import InvalidParameter
from deniable.estimators.bins import Floats, Integers, checked_bins, gathered, input_axis, output_cuts
from deniable.estimators.dense_channel import DenseTransition, dense_transition
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.expectation_maximization import Fit, fit, smoothing_matrix
from deniable.estimators.source import Source, accumulated
from deniable.estimators.window_channel import LEAST_INPUTS, WindowTransition, window_spread, window_transition
from deniable.mechanisms import Mechanism

Method = Literal["ems", "em"]
DEFAULT_BINS = 256
FINE_BINS = 64
"""Fewer bins are put together from so many, or the outputs would be told apart too coarsely."""
IMAGINED = 30
"""Imagined reports of evenly spread values that the covariance is worked out with, beside the real ones."""
STOP = 1e-3
"""Li et al. 2020: EMS stops when the log-likelihood changes by less than this, EM at e**epsilon times this."""


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
    windows = wide and isinstance(channel, TwoLevel) and isinstance(channel.sets, Window)
    cuts = output_cuts(channel, window_spread(axis) if wide else 1, windows=windows)
    transition: WindowTransition | DenseTransition
    if windows:
        assert isinstance(channel, TwoLevel)
        transition = window_transition(channel, axis, cuts)
    else:
        transition = dense_transition(channel, axis, cuts)
    if finer > 1:
        transition = DenseTransition(transition.matrix.reshape(bins, finer, -1).mean(axis=1))
    return Binned(transition, cuts, edges, isinstance(domain, Circle))


class Distribution(Estimate):
    """Shares of equal bins between `edges`, with their covariance, worked out when it is asked for.

    The covariance is that of the fixed point under multinomial counts (delta method), slightly evened out,
    which only few reports feel. What smoothing, or stopping early, bends is not in it: see `distribution`.
    """

    edges: Floats
    iterations: int
    converged: bool
    _binned: Binned
    _counts: Floats
    _smooth: bool

    def __init__(self, binned_: Binned, counts: Floats, found: Fit, target: Target, method: Method, name: str) -> None:
        bins = binned_.edges
        rule = "smoothed" if method == "ems" else "most likely"
        fields = {
            "value": found.shares,
            "n": int(counts.sum()),
            "target": target,
            "method": f"{method} ({rule} distribution) of {name}, {len(found.shares)} bins, {found.iterations} iterations",
            "labels": tuple(zip(bins[:-1].tolist(), bins[1:].tolist(), strict=True)),
            "total": None,
            "bounds": (0.0, 1.0),
            "small_sample": None,
            "parent": None,
            "edges": bins,
            "iterations": found.iterations,
            "converged": found.converged,
            "_binned": binned_,
            "_counts": counts,
            "_smooth": method == "ems",
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        return f"Distribution({self.method}, n={self.n})"

    @cached_property
    def covariance(self) -> Floats:
        """How the shares vary together."""
        matrix, bins = self._binned.transition.matrix, len(self.value)
        # Few reports seem to know much: a bin that got nothing looks certain. Some imagined ones keep it doubtful.
        real = self.n / (self.n + IMAGINED)
        shares = real * self.value + (1 - real) / bins
        seen = real * self._counts / self.n + (1 - real) * matrix.mean(axis=0)
        smoothing = smoothing_matrix(bins, self._binned.circular) if self._smooth else None
        return count_covariance(sensitivity(matrix, shares, seen, self.iterations, smoothing), matrix, shares, self.n, self.target)

    @cached_property
    def variance(self) -> Floats:
        """The covariance's diagonal."""
        return np.diagonal(self.covariance).copy()

    @cached_property
    def cumulative(self) -> Floats:
        """The share up to every edge, from 0 to 1."""
        found = np.concatenate([[0.0], np.cumsum(self.value)])
        return np.asarray(found / found[-1])

    @cached_property
    def blind(self) -> tuple[int, int]:
        """How many bins at the lower and at the upper end the reports cannot tell from one another: 0 or at least 2."""
        rows = self._binned.transition.matrix
        same = [np.abs(rows - rows[end]).max(axis=1) <= 1e-12 for end in (0, -1)]
        low, high = (int(np.argmin(np.append(equal, False))) for equal in (same[0], same[1][::-1]))
        return (low if low > 1 else 0), (high if high > 1 else 0)

    def cdf(self, value: float) -> float:
        """The share up to a value, linear within bins."""
        return float(np.interp(value, self.edges, self.cumulative))

    def weighted(self, weights: Floats) -> tuple[float, float]:
        """The sum of weights times shares, and its variance."""
        return float(weights @ self.value), max(float(weights @ self.covariance @ weights), 0.0)


def distribution(
    source: Source,
    *,
    bins: int | None = None,
    method: Method = "ems",
    target: Target = "these users",
    tolerance: float | None = None,
    most_iterations: int = 10_000,
) -> Distribution:
    """The shares of equal bins of the domain, by expectation maximization on the counts.

    "em" is the most likely distribution, "ems" smooths it by (1, 2, 1)/4 after every step (around the
    circle, on circles), which is what to use for smooth truths. Iterations stop when the log-likelihood
    changes by less than `tolerance`: 0.001 for "ems", 0.001 e**epsilon for "em" (Li et al., 2020).
    Intervals hold the noise of the reports, not the bias of smoothing, of stopping early, or of values
    that are not spread evenly within their bins; with many bins they are too narrow at sharp peaks.
    Cost: O(bins) per iteration for window mechanisms, O(bins * outputs) for others.

    >>> from deniable.mechanisms import make_mechanism
    >>> found = distribution(make_mechanism("sw", epsilon=4).randomize_many([0.2] * 1000), bins=16)
    >>> round(float(found.value.sum()), 9), int(found.value.argmax())
    (1.0, 3)
    """
    check_target(target)
    if method not in ("ems", "em"):
        raise InvalidParameter("method must be 'ems' or 'em'")
    if isinstance(most_iterations, bool) or not isinstance(most_iterations, int) or most_iterations < 1:
        raise InvalidParameter("most_iterations must be a positive whole number")
    sums = accumulated(source)
    mechanism = sums.mechanism
    count = checked_bins(mechanism, bins, DEFAULT_BINS)
    if tolerance is None:
        tolerance = STOP if method == "ems" else STOP * math.exp(min(float(mechanism.privacy), 50.0))
    if not tolerance >= 0:
        raise InvalidParameter("tolerance must not be negative")
    laid = binned(mechanism, count)
    counts = gathered(sums.sums, laid.cuts)
    found = fit(laid.transition, counts, smooth=method == "ems", circular=laid.circular, tolerance=tolerance, most=most_iterations)
    return Distribution(laid, counts, found, target, method, mechanism.name)


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
