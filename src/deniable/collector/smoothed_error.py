"""How far the smoothed distribution that the collector shows will be from the true one, before anybody has answered."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from deniable.core import Circle, Interval, Mechanism
from deniable.errors import NotSupported
from deniable.estimators import IMAGINED, STOP, binned, checked_bins, count_covariance, fit, sensitivity, smoothing_matrix

Floats = NDArray[np.float64]
BINS = 32
FINER = 8
"""Every bin is fitted with so many cells, if the reports tell as many apart; more would change little and take long."""
HILLS: tuple[tuple[tuple[float, float, float], ...], ...] = ((), ((1.0, 0.35, 0.1),), ((0.5, 0.2, 0.05), (0.5, 0.7, 0.08)))
"""Three made-up crowds: spread evenly, one hill, two hills; every hill has a weight, a middle and a width."""


def smoothed_error(mechanism: Mechanism, users: int) -> float:
    """The expected distance of the smoothed distribution from the truth, averaged over three made-up crowds.

    On an interval the Wasserstein-1 distance in the domain's units, on a circle the average error of a bin's share. It
    holds both what smoothing bends (the estimate from the expected reports, without noise) and the noise of so many
    users (the estimate's own covariance, taken as normal).

    >>> from deniable.core import make_mechanism
    >>> few, many = (smoothed_error(make_mechanism("sw", epsilon=1), n) for n in (1_000, 1_000_000))
    >>> 0.003 < many < few < 0.1
    True
    """
    domain = mechanism.domain
    if not isinstance(domain, Interval | Circle):
        raise NotSupported(f"{mechanism.name} has no distribution to smooth; it needs an Interval or a Circle")
    shown = checked_bins(mechanism, min(BINS, domain.cells), BINS)
    laid = binned(mechanism, checked_bins(mechanism, None, shown * FINER) // shown * shown)
    cells = len(laid.edges) - 1
    adding = np.repeat(np.eye(shown), cells // shown, axis=1)
    read = (np.eye(shown) if laid.circular else np.tril(np.ones((shown, shown)))[:-1]) @ adding
    smoothing, matrix, errors = smoothing_matrix(cells, laid.circular), laid.transition.matrix, []
    for hills in HILLS:
        truth = _crowd(cells, hills)
        counts = users * (truth @ matrix)
        fitted = fit(laid.transition, counts, smooth=True, circular=laid.circular, tolerance=STOP, most=10_000)
        real = users / (users + IMAGINED)
        shares = real * fitted.shares + (1 - real) / cells
        seen = real * counts / users + (1 - real) * matrix.mean(axis=0)
        slope = read @ sensitivity(matrix, shares, seen, fitted.iterations, smoothing)
        spread = np.diagonal(count_covariance(slope, matrix, shares, users, "these users"))
        off = _mean_distance(read @ (fitted.shares - truth), spread)
        errors.append(float(off.mean()) if laid.circular else float(domain.width) * float(off.sum()) / shown)
    return sum(errors) / len(errors)


def _crowd(bins: int, hills: tuple[tuple[float, float, float], ...]) -> Floats:
    """The share of every bin."""
    if not hills:
        return np.full(bins, 1 / bins)
    at = (np.arange(bins) + 0.5) / bins
    shares = sum(weight / width * np.exp(-(((at - middle) / width) ** 2) / 2) for weight, middle, width in hills)
    return np.asarray(shares / np.sum(shares), np.float64)


def _mean_distance(bias: Floats, variance: Floats) -> Floats:
    """The mean of |z| for normal z with these means and variances."""
    spread = np.sqrt(np.maximum(variance, 1e-30))
    ratio = bias / spread
    inside = np.array([math.erf(value / math.sqrt(2)) for value in ratio])
    return np.asarray(spread * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + bias * inside)
