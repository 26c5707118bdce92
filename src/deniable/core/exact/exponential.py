"""e**x between exact rationals, and the integer questions privacy asks of it.

For rational x other than 0, e**x is irrational (Lindemann), so comparing it with a rational always
ends: raise the precision until the bounds agree.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache


@lru_cache(maxsize=4096)
def exp_bounds(x: Fraction, bits: int = 128) -> tuple[Fraction, Fraction]:
    """Rationals `low <= e**x <= high` with `high - low <= high * 2**-bits`.

    >>> low, high = exp_bounds(Fraction(1))
    >>> low < high and abs(float(low) - math.e) < 1e-15
    True
    """
    if x == 0:
        return Fraction(1), Fraction(1)
    if x < 0:
        low, high = exp_bounds(-x, bits)
        return 1 / high, 1 / low
    halvings = max(0, math.ceil(x).bit_length() + 4)
    # Squaring doubles the relative error each time; the series adds a little of its own.
    scale = bits + 2 * halvings + 2 * math.ceil(x) + 16
    low_int, high_int = _series(x / (1 << halvings), scale)
    for _ in range(halvings):
        low_int = (low_int * low_int) >> scale
        high_int = -((-high_int * high_int) >> scale)
    return Fraction(low_int, 1 << scale), Fraction(high_int, 1 << scale)


def _series(x: Fraction, scale: int) -> tuple[int, int]:
    """Bounds of e**x * 2**scale for 0 <= x <= 1/16, by the power series with directed rounding."""
    low_term = high_term = low = high = 1 << scale
    numerator, denominator = x.numerator, x.denominator
    n = 1
    while high_term > 1:
        low_term = low_term * numerator // (denominator * n)
        high_term = -(-high_term * numerator // (denominator * n))
        low += low_term
        high += high_term
        n += 1
    # What is left is below the last term, since every further term is at most 1/16 of the one before.
    return low, high + high_term + 1


def exp_sign(ratio: Fraction, x: Fraction) -> int:
    """The sign of `ratio - e**x`, exactly: -1, 0 or +1 (0 only for ratio 1 and x 0)."""
    if x == 0:
        return (ratio > 1) - (ratio < 1)
    bits = 64
    while True:
        low, high = exp_bounds(x, bits)
        if ratio < low:
            return -1
        if ratio > high:
            return 1
        bits *= 2


def exp_floor(weight: int, x: Fraction) -> int:
    """The largest integer not above `weight * e**x`, exactly.

    >>> exp_floor(1000, Fraction(1))
    2718
    """
    if x == 0 or weight == 0:
        return weight
    bits = max(64, weight.bit_length() + 32)
    while True:
        low, high = exp_bounds(x, bits)
        below = weight * low.numerator // low.denominator
        if below == weight * high.numerator // high.denominator:
            return below
        bits *= 2


def exp_ceil(weight: int, x: Fraction) -> int:
    """The smallest integer not below `weight * e**x`, exactly."""
    if x == 0 or weight == 0:
        return weight
    return exp_floor(weight, x) + 1  # weight * e**x is never an integer


def log_float(ratio: Fraction) -> float:
    """ln(ratio) to double precision, also for ratios close to 1 and for huge integers."""
    if ratio <= 0:
        return -math.inf
    near = float(ratio - 1) if abs(ratio - 1) < Fraction(1, 4) else None
    if near is not None:
        return math.log1p(near)
    return math.log(ratio.numerator) - math.log(ratio.denominator)
