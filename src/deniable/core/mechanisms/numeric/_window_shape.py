"""How many cells a window has: shared by every mechanism that favours a window around the true cell."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable.core.exact.epsilon import Epsilon


def odd_width(share: float, cells: int) -> int:
    """The odd number of cells nearest to `share` of all cells: odd, so that a window has a middle cell."""
    most = cells - 1 if cells % 2 == 0 else cells - 2
    return min(max(2 * math.floor(share * cells / 2) + 1, 1), most)


def best_share(epsilon: Epsilon, exponent: Fraction) -> float:
    """The window length s that minimises the worst-case error |y - x|**k on [0, 1].

    The root of k (E - 1) s**(k + 1) + (k + 1) s**k = 1 with E = e**epsilon; the worst-case error is s**k.

    >>> round(best_share(Epsilon(8), Fraction(2)) ** 2, 9)
    0.003023674
    """
    e, k = math.exp(float(epsilon)), float(exponent)
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if k * (e - 1) * middle ** (k + 1) + (k + 1) * middle**k < 1:
            low = middle
        else:
            high = middle
