"""How much Gaussian noise (epsilon, delta) needs on a domain of width 1: three answers.

All three are real numbers that only choose a public parameter; the mechanism certifies with integers.
"""

from __future__ import annotations

import math
from statistics import NormalDist


def published_sigma(epsilon: float, delta: float) -> float:
    """The dissertation's Theorem 18: enough, but loose.

    >>> round(published_sigma(0.5, 1e-6), 6)
    10.865578
    """
    tail = math.log(2 / delta)
    return (math.sqrt(tail + epsilon) + math.sqrt(tail)) / (math.sqrt(2) * epsilon)


def exact_sigma(epsilon: float, delta: float) -> float:
    """The least sigma for which the privacy loss exceeds epsilon with probability at most delta.

    >>> round(exact_sigma(0.5, 1e-6), 6)
    9.610897
    """
    z = -NormalDist().inv_cdf(delta)
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


def analytic_sigma(epsilon: float, delta: float) -> float:
    """The least sigma for (epsilon, delta)-LDP (Balle and Wang 2018).

    >>> round(analytic_sigma(0.5, 1e-6), 6)
    8.057618
    """
    low, high = 0.0, 1.0
    while gaussian_delta(high, epsilon) > delta:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return high
        if gaussian_delta(middle, epsilon) > delta:
            low = middle
        else:
            high = middle


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """The delta that noise of this sigma gives at this epsilon: Phi(a - b) - e**epsilon Phi(-a - b)."""
    a, b = 1 / (2 * sigma), epsilon * sigma
    return _normal_tail(b - a) - math.exp(epsilon) * _normal_tail(a + b)


def _normal_tail(z: float) -> float:
    """The chance that a standard normal number exceeds z."""
    return math.erfc(z / math.sqrt(2)) / 2
