"""The continuous mechanisms behind the window channels: densities with one favoured interval, on [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from deniable.core import Epsilon, best_share


@dataclass(frozen=True)
class WindowShape:
    """Density `high` on [left, right], `low` on the rest of [bottom, top]; `clip` moves outputs into [0, 1]."""

    bottom: float
    top: float
    left: float
    right: float
    high: float
    low: float
    clip: bool = False

    def error(self, x: float, exponent: float) -> float:
        """E |y - x|**exponent."""
        bands = ((self.bottom, self.top, self.low), (self.left, self.right, self.high - self.low))
        return sum(height * self._integral(a, b, x, exponent) for a, b, height in bands)

    def _integral(self, a: float, b: float, x: float, exponent: float) -> float:
        if not self.clip:
            return _signed(b - x, exponent) - _signed(a - x, exponent)
        inner_a, inner_b = min(max(a, 0.0), 1.0), min(max(b, 0.0), 1.0)
        below, above = max(min(b, 0.0) - a, 0.0), max(b - max(a, 1.0), 0.0)
        inside = _signed(inner_b - x, exponent) - _signed(inner_a - x, exponent)
        return float(inside + below * x**exponent + above * (1 - x) ** exponent)

    def mean(self) -> float:
        """E y, for shapes that are not clipped."""
        return (self.low * (self.top**2 - self.bottom**2) + (self.high - self.low) * (self.right**2 - self.left**2)) / 2


def _signed(d: float, exponent: float) -> float:
    """The integral of |t|**exponent from 0 to d."""
    return math.copysign(abs(d) ** (exponent + 1) / (exponent + 1), d)


def slid(x: float, share: float, high: float, low: float) -> WindowShape:
    """A window of length `share` centred at x and slid into [0, 1]."""
    left = min(max(x - share / 2, 0.0), 1 - share)
    return WindowShape(0, 1, left, left + share, high, low)


def ogpm(epsilon: float, x: float) -> WindowShape:
    """Theorem 7: length 1/(h + 1), density h inside."""
    h = math.exp(epsilon / 2)
    return slid(x, 1 / (h + 1), h, 1 / h)


def window(epsilon: float, x: float, exponent: Fraction) -> WindowShape:
    """The best window for |y - x|**exponent."""
    share = best_share(Epsilon(epsilon, allow_large=True), exponent)
    low = 1 / (1 + math.expm1(epsilon) * share)
    return slid(x, share, low * math.exp(epsilon), low)


def redesigned_sw(epsilon: float, x: float) -> WindowShape:
    """The square wave with a slid window: p = (E - 1)/epsilon, half-width (E (epsilon - 1) + 1)/(2 (E - 1)**2)."""
    high, half = redesigned_sw_parameters(epsilon)
    return slid(x, 2 * half, high, high / math.exp(epsilon))


def redesigned_sw_parameters(epsilon: float) -> tuple[float, float]:
    """Density inside the window, and half its length."""
    e = math.exp(epsilon)
    return (e - 1) / epsilon, (e * (epsilon - 1) + 1) / (2 * (e - 1) ** 2)


def pm(epsilon: float, x: float) -> WindowShape:
    """The piecewise mechanism, moved from [-1, 1] to [0, 1]."""
    h = math.exp(epsilon / 2)
    c, u = (h + 1) / (h - 1), 2 * x - 1
    left = (c + 1) * u / 2 - (c - 1) / 2
    high = (h * h - h) / (2 * h + 2)
    return WindowShape((1 - c) / 2, (1 + c) / 2, (left + 1) / 2, (left + c) / 2, 2 * high, 2 * high / (h * h))


def sw(epsilon: float, x: float) -> WindowShape:
    """The square wave on [-b, 1 + b]."""
    e = math.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    low = 1 / (2 * b * e + 1)
    return WindowShape(-b, 1 + b, x - b, x + b, low * e, low)


def ogpm_u(epsilon: float, x: float) -> WindowShape:
    """Theorem 10: unbiased on [-C, C + 1]."""
    h = math.exp(epsilon / 2)
    c = (h + 1) / (h - 1)
    high = h / (2 * c + 1)
    left = (c + 1) * x / 2 - (3 * c + 1) * (c - 1) / (4 * c)
    right = (c + 1) * x / 2 + (c + 1) * (c - 1) / (4 * c)
    return WindowShape(-c, c + 1, left, right, high, high / (h * h))


def squeezed(shape: WindowShape) -> WindowShape:
    """The output range mapped linearly onto [0, 1]."""
    width = shape.top - shape.bottom
    left, right = (shape.left - shape.bottom) / width, (shape.right - shape.bottom) / width
    return WindowShape(0, 1, left, right, shape.high * width, shape.low * width)


WINDOW_SHAPES: dict[str, Callable[[float, float], WindowShape]] = {
    "ogpm": ogpm,
    "ogpm-u": ogpm_u,
    "pm": pm,
    "redesigned-sw": redesigned_sw,
    "sw": sw,
}
"""By a mechanism's name: epsilon and a value to the density of its report."""
