"""Promises that may fail: delta beside epsilon, for Gaussian noise and for raw values that are published now and then."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from scipy.special import log_ndtr, ndtr

from deniable.errors import InvalidParameter
from deniable.exact import Number, as_fraction

ROUNDING = 1e-9
"""Relative, added to every delta: far more than the rounding of these formulas."""
LOGARITHMS = 1e-15
"""How far off a logarithm may be, relatively; it counts where two nearly equal terms are subtracted."""
HALVINGS = 200


def gaussian_delta(sigma: float, epsilon: float, width: float = 1.0) -> float:
    """The least delta at this epsilon of a value in a domain of this width plus normal noise, exactly (Balle and Wang 2018).

    Phi(w/(2 s) - e s/w) - e**e Phi(-w/(2 s) - e s/w); both terms are taken by their logarithms, so that a large epsilon
    does not overflow, and the difference is rounded up.

    >>> round(gaussian_delta(1.0, 1.0), 6), gaussian_delta(1.0, 800.0)
    (0.126937, 0.0)
    """
    _check(sigma, "sigma")
    _check(width, "width")
    if not epsilon >= 0:
        raise InvalidParameter("epsilon must not be negative")
    half, moved = width / (2 * sigma), epsilon * sigma / width
    first, second = float(log_ndtr(half - moved)), epsilon + float(log_ndtr(-half - moved))
    if second >= first:
        return 0.0
    off = LOGARITHMS * (1 + abs(first) + abs(second) + epsilon)
    return min(1.0, math.exp(first) * (off - math.expm1(second - first)) * (1 + ROUNDING))


def gaussian_epsilon(sigma: float, delta: float, width: float = 1.0) -> float:
    """The least epsilon, rounded up, at which Gaussian noise has at most this delta.

    >>> round(gaussian_epsilon(4.0, 1e-6), 4)
    1.0607
    """
    _check_delta(delta)
    if gaussian_delta(sigma, 0.0, width) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(sigma, high, width) > delta:
        high *= 2
    return _least(0.0, high, lambda epsilon: gaussian_delta(sigma, epsilon, width) <= delta)


def gaussian_sigma(epsilon: float, delta: float, width: float = 1.0) -> float:
    """The least noise, rounded up, that has at most this delta at this epsilon.

    >>> round(gaussian_sigma(1.0, 1e-6), 4)
    4.2247
    """
    _check_delta(delta)
    _check(epsilon, "epsilon")
    high = width
    while gaussian_delta(high, epsilon, width) > delta:
        high *= 2
    return _least(0.0, high, lambda sigma: sigma > 0 and gaussian_delta(sigma, epsilon, width) <= delta)


class Exposed(NamedTuple):
    """What publishing raw values with probability delta does."""

    delta: float
    """Of one person's whole record: a raw value in at least one coordinate."""
    people: float
    """How many of all people are expected to have a raw value published."""
    anyone: float
    """The probability that somebody's is."""


def indicator(delta: Number, *, coordinates: int = 1, people: int = 1) -> Exposed:
    """The privacy indicator: each coordinate is raw with probability delta, beside the inner mechanism's epsilon.

    >>> found = indicator("1e-6", coordinates=3, people=1_000_000)
    >>> round(found.people, 3), round(found.anyone, 3)
    (3.0, 0.95)
    """
    share = as_fraction(delta)
    if share is None or not 0 <= share < 1:
        raise InvalidParameter("delta must be at least 0 and below 1")
    for name, count in (("coordinates", coordinates), ("people", people)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidParameter(f"{name} must be a whole number of at least 1")
    kept = coordinates * math.log1p(-float(share))
    each = -math.expm1(kept)
    return Exposed(min(1.0, each * (1 + ROUNDING)), each * people, -math.expm1(kept * people))


def loss_exceeds(sigma: float, epsilon: float, width: float = 1.0) -> float:
    """The probability that the privacy loss of Gaussian noise exceeds epsilon: larger than delta, and easier to read."""
    _check(sigma, "sigma")
    half, moved = width / (2 * sigma), epsilon * sigma / width
    return float(ndtr(half - moved))


def _least(low: float, high: float, enough: Callable[[float], bool]) -> float:
    """The least number that is enough, by halving; `high` is."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(value: float, name: str) -> None:
    if not 0 < value < math.inf:
        raise InvalidParameter(f"{name} must be a positive number")


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise InvalidParameter("delta must lie between 0 and 1, both excluded: Gaussian noise has no delta of 0")
