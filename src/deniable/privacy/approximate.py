"""Promises that may fail: delta beside epsilon, for Gaussian noise and for raw values that are published now and then."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from scipy.special import ndtr

from deniable.core import Number, as_fraction
from deniable.errors import InvalidParameter
from deniable.privacy._normal_tails import delta_bound, rounded_up

ROUNDING = 1e-9
"""Relative, added to the share of raw values: far more than the rounding of its formula."""
MOST, LEAST = sys.float_info.max, math.nextafter(0.0, 1.0)


def gaussian_delta(sigma: float, epsilon: float, width: float = 1.0) -> float:
    """The least delta at this epsilon of a value in a domain of this width plus normal noise (Balle and Wang 2018), rounded up.

    Phi(w/(2 s) - e s/w) - e**e Phi(-w/(2 s) - e s/w). The result is never below the exact number, at any scale: where the two
    terms nearly agree, more digits are used; what is below every floating-point number becomes the least of them.

    >>> round(gaussian_delta(1.0, 1.0), 6), gaussian_delta(1.0, 800.0), gaussian_delta(1e17, 0.0)
    (0.126937, 5e-324, 3.9894228040143275e-18)
    """
    _check(sigma, "sigma")
    _check(width, "width")
    if not epsilon >= 0:
        raise InvalidParameter("epsilon must not be negative")
    if epsilon == math.inf:
        return 0.0
    return delta_bound(Fraction(sigma), Fraction(epsilon), Fraction(width))


def gaussian_epsilon(sigma: float, delta: float, width: float = 1.0) -> float:
    """The least epsilon, rounded up, at which Gaussian noise has at most this delta; infinity when no float is enough.

    >>> round(gaussian_epsilon(4.0, 1e-6), 4)
    1.0607
    """
    _check_delta(delta)
    if gaussian_delta(sigma, 0.0, width) <= delta:
        return 0.0
    half = width / (2 * sigma)
    return _least(half + 2 * half * half, lambda epsilon: gaussian_delta(sigma, epsilon, width) <= delta)


def gaussian_sigma(epsilon: float, delta: float, width: float = 1.0) -> float:
    """The least noise, rounded up, that has at most this delta at this epsilon.

    >>> round(gaussian_sigma(1.0, 1e-6), 4)
    4.2247
    """
    _check_delta(delta)
    _check(epsilon, "epsilon")
    _check(width, "width")
    near = width / epsilon + width / math.sqrt(2 * epsilon)
    sigma = _least(near, lambda noise: gaussian_delta(noise, epsilon, width) <= delta)
    if sigma == math.inf:
        raise InvalidParameter("epsilon is so small that the noise would exceed every floating-point number; take a larger one")
    return sigma


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

    >>> levels = indicator("1e-6", coordinates=3, people=1_000_000)
    >>> round(levels.people, 3), round(levels.anyone, 3)
    (3.0, 0.95)
    """
    share = as_fraction(delta)
    if share is None or not 0 <= share < 1:
        raise InvalidParameter("delta must be at least 0 and below 1")
    for name, count in (("coordinates", coordinates), ("people", people)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidParameter(f"{name} must be a whole number of at least 1")
    raw = rounded_up(share)
    if raw == 1.0:
        return Exposed(1.0, float(people), 1.0)
    kept = coordinates * math.log1p(-raw)
    each = -math.expm1(kept)
    return Exposed(min(1.0, each * (1 + ROUNDING)), each * people, -math.expm1(kept * people))


def loss_exceeds(sigma: float, epsilon: float, width: float = 1.0) -> float:
    """The probability that the privacy loss of Gaussian noise exceeds epsilon: larger than delta, and easier to read."""
    _check(sigma, "sigma")
    half, moved = width / (2 * sigma), epsilon * sigma / width
    return float(ndtr(half - moved))


def _least(near: float, enough: Callable[[float], bool]) -> float:
    """The least positive float that is enough, by halving; `near` is where to begin. More is enough, too."""
    high = min(max(near, LEAST), MOST)
    while not enough(high):
        if high == MOST:
            return math.inf
        high = min(2 * high, MOST)
    low = high / 2
    while low > 0 and enough(low):
        low, high = low / 2, low
    while (middle := low + (high - low) / 2) not in (low, high):
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(value: float, name: str) -> None:
    if not 0 < value < math.inf:
        raise InvalidParameter(f"{name} must be a positive number")


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise InvalidParameter("delta must lie between 0 and 1, both excluded: Gaussian noise has no delta of 0")
