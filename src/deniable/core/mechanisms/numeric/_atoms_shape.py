"""The best reference measure with an atom at either end of the domain, for absolute error.

The reference is w at 0, w at 1 and c = 1 - 2w spread evenly between. Each value favours the nearest
share m of it; with G = 1/(1 + (E - 1) m), E = e**epsilon, outputs have G times the reference, favoured
ones E times that. The error at x is a quadratic in x on each of at most three stretches, so its largest
value needs no search. It is quasi-convex in w and in m (a maximum of functions linear in the measure),
so golden sections find the best pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from deniable.core.exact.epsilon import Epsilon
from deniable.core.mechanisms._golden_section import golden_section


def best_atoms(epsilon: Epsilon) -> tuple[float, float]:
    """(w, m) with the least worst-case absolute error.

    >>> w, m = best_atoms(Epsilon(2))
    >>> round(w, 2), round(worst_error(w, m, 2.0), 4)
    (0.16, 0.2051)
    """
    eps = float(epsilon)

    def best_share(w: float) -> float:
        return golden_section(lambda m: worst_error(w, m, eps), 1e-6, 1 - 1e-6, 36)

    w = golden_section(lambda w: worst_error(w, best_share(w), eps), 1e-6, 0.5 - 1e-6, 36)
    return w, best_share(w)


def worst_error(w: float, m: float, eps: float) -> float:
    """The largest mean absolute error over all values, for given w and m."""
    c = 1 - 2 * w
    bends = [0.0, *(bend for bend in ((m - w) / (2 * c), m / (2 * c)) if 0 < bend < 0.5), 0.5]
    return max(_largest(lambda x: _error(x, w, m, eps), a, b) for a, b in pairwise(bends))


def _error(x: float, w: float, m: float, eps: float) -> float:
    """The mean absolute error at a value x in the lower half."""
    c, gain = 1 - 2 * w, math.expm1(eps)
    everywhere = w + c * (x * x + (1 - x) ** 2) / 2
    if m <= 2 * c * x:  # only the even part, on both sides
        near = m * m / (4 * c)
    elif m - 2 * c * x <= w:  # and some of the atom at 0
        near = c * x * x + (m - 2 * c * x) * x
    elif m <= w + c:  # the whole atom, then the even part beyond
        near = c * x * x / 2 + w * x + c * ((m - w) / c - x) ** 2 / 2
    else:  # and some of the atom at 1
        near = w * x + c * (x * x + (1 - x) ** 2) / 2 + (m - c - w) * (1 - x)
    return (everywhere + gain * near) / (1 + gain * m)


def _largest(f: Callable[[float], float], a: float, b: float) -> float:
    """The largest value of a quadratic between a and b."""
    left, middle, right = f(a), f((a + b) / 2), f(b)
    bend = 2 * (left + right - 2 * middle)
    slope = right - left
    # In t from -1 to 1 the quadratic is middle + slope t/2 + bend t**2/4.
    if bend < 0 and abs(slope) < -bend:
        return middle - slope * slope / (4 * bend)
    return max(left, right)
