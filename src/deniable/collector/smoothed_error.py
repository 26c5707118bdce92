"""How far the smoothed distribution that the collector shows will be from the true one, before anybody has answered."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from deniable.domains import Circle, Interval
from deniable.errors import NotSupported
from deniable.estimators.bins import checked_bins
from deniable.estimators.distribution import STOP, Distribution, binned
from deniable.estimators.expectation_maximization import fit
from deniable.mechanisms import Mechanism

Floats = NDArray[np.float64]
BINS = 32
HILLS: tuple[tuple[tuple[float, float, float], ...], ...] = ((), ((1.0, 0.35, 0.1),), ((0.5, 0.2, 0.05), (0.5, 0.7, 0.08)))
"""Three made-up crowds: spread evenly, one hill, two hills; every hill has a weight, a middle and a width."""


def smoothed_error(mechanism: Mechanism, users: int) -> float:
    """The expected distance of the smoothed distribution from the truth, averaged over three made-up crowds.

    On an interval the Wasserstein-1 distance in the domain's units, on a circle the average error of a bin's share. It
    holds both what smoothing bends (the estimate from the expected reports, without noise) and the noise of so many
    users (the estimate's own covariance, taken as normal).

    >>> from deniable.mechanisms import make_mechanism
    >>> few, many = (smoothed_error(make_mechanism("sw", epsilon=1), n) for n in (1_000, 1_000_000))
    >>> 0.03 < many < few < 0.1
    True
    """
    domain = mechanism.domain
    if not isinstance(domain, Interval | Circle):
        raise NotSupported(f"{mechanism.name} has no distribution to smooth; it needs an Interval or a Circle")
    laid = binned(mechanism, checked_bins(mechanism, min(BINS, domain.cells), BINS))
    errors = []
    for hills in HILLS:
        truth = _crowd(len(laid.edges) - 1, hills)
        counts = users * (truth @ laid.transition.matrix)
        found = fit(laid.transition, counts, smooth=True, circular=laid.circular, tolerance=STOP, most=10_000)
        made = Distribution(laid, counts, found, "these users", "ems", mechanism.name)
        bins = len(truth)
        read = np.eye(bins) if laid.circular else np.tril(np.ones((bins, bins)))[:-1]
        off = _mean_distance(read @ (made.value - truth), np.einsum("ij,jk,ik->i", read, made.covariance, read))
        errors.append(float(off.mean()) if laid.circular else float(domain.width) * float(off.sum()) / bins)
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
