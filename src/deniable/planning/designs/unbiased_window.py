"""Unbiased windows on a given range: the published family of Theorem 10, at its best.

Outputs range over an interval of a given length with [0, 1] in its middle. A window of one length moves linearly with
the value, so that the mean of a report is the value. Of all lengths whose windows stay inside the range, which has the
least worst variance?
"""

from __future__ import annotations

import math
from typing import NamedTuple

from deniable.core import EpsilonLike, golden_section
from deniable.errors import InvalidParameter
from deniable.planning.designs.problem import design_epsilon

ROUNDING = 1e-12
"""On PM's own range exactly one length fits, and the discriminant is 0 but for rounding."""


class UnbiasedWindow(NamedTuple):
    """The window's length, the density inside it (both in the domain's widths), and the worst variance over all values."""

    length: float
    density: float
    worst_variance: float


def best_unbiased_window(epsilon: EpsilonLike, range_length: float) -> UnbiasedWindow:
    """The best unbiased window with outputs in [1/2 - range_length/2, 1/2 + range_length/2].

    On the range of the published unbiased mechanism (OGPM-U), which it shows not to be the best one there:

    >>> h = math.exp(1 / 2)
    >>> best = best_unbiased_window(1, 1 + 2 * (h + 1) / (h - 1))
    >>> round(best.worst_variance, 6)
    4.865652
    """
    e = math.exp(float(design_epsilon(epsilon)))
    # A window as long as s moves by half a width over (high - low) s, and must stay inside: that holds between two lengths.
    shortest, longest = _lengths_that_fit(e, range_length)
    length = golden_section(lambda length: _worst_variance(length, range_length, e), shortest, longest, 100)
    best = min((shortest, length, longest), key=lambda length: _worst_variance(length, range_length, e))
    return UnbiasedWindow(best, e * _low(best, range_length, e), _worst_variance(best, range_length, e))


def _low(length: float, range_length: float, e: float) -> float:
    """The density outside the window."""
    return 1 / (range_length + (e - 1) * length)


def _lengths_that_fit(e: float, range_length: float) -> tuple[float, float]:
    """Lengths s with 1/(2 gain s) + s/2 <= range/2, where gain = (E - 1) low: a quadratic inequality in s."""
    # (range + (E-1) s) + (E-1) s**2 <= (E-1) s range
    a, b, c = e - 1, (e - 1) * (1 - range_length), range_length
    inside = b * b - 4 * a * c
    if not range_length > 1 or inside < -ROUNDING * b * b:
        raise InvalidParameter("range_length is too short: no unbiased window of this epsilon fits; it must at least be that of PM")
    root = math.sqrt(max(inside, 0.0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def _worst_variance(length: float, range_length: float, e: float) -> float:
    """The variance at an end of the domain: the window is farthest from the middle there."""
    low = _low(length, range_length, e)
    gain = (e - 1) * low * length
    centre = 1 / (2 * gain)
    return low * range_length**3 / 12 + gain * (centre**2 + length**2 / 12) - 1 / 4
