"""The window with the least average error under a uniform prior, slid inward at the ends."""

from __future__ import annotations

import math

from deniable.core import golden_section


def average_window_error(length: float, exponent: float, eps: float) -> float:
    """The mean of |y - x|**k over x in [0, 1] for a window of a length in (0, 1).

    >>> round(average_window_error(0.5, 1, 1.0), 6)
    0.246686
    """
    k, gain = exponent, math.expm1(eps)
    everywhere = 2 / ((k + 1) * (k + 2))
    # Within the window: centred for x in [s/2, 1 - s/2], slid near the ends.
    centred = (1 - length) * 2 * (length / 2) ** (k + 1) / (k + 1)
    # Near an end ∫_0^{s/2} (x**(k+1) + (s - x)**(k+1))/(k + 1) dx, and the same at the other end.
    slid = 2 * length ** (k + 2) / ((k + 1) * (k + 2))
    return float((everywhere + gain * (centred + slid)) / (1 + gain * length))


def best_average_window(exponent: float, eps: float) -> tuple[float, float]:
    """The best window length, and its average error.

    >>> length, error = best_average_window(1, 2.0)
    >>> round(error, 6)
    0.168471
    """
    length = golden_section(lambda length: average_window_error(length, exponent, eps), 0.0, 1.0, 100)
    return length, average_window_error(length, exponent, eps)
