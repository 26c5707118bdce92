"""Variances of the unbiased mechanisms, on [0, 1] (a quarter of what is published for [-1, 1])."""

from __future__ import annotations

import math
from collections.abc import Callable

from deniable.core import THRESHOLD, Mechanism

Form = Callable[..., float]


def _h(mechanism: Mechanism) -> float:
    return math.exp(float(mechanism.privacy) / 2)


def duchi(mechanism: Mechanism, value: float) -> float:
    """((E + 1)/(E - 1))**2 - u**2, u = 2x - 1."""
    return (1 / math.tanh(float(mechanism.privacy) / 2) ** 2 - (2 * value - 1) ** 2) / 4


def pm(mechanism: Mechanism, value: float) -> float:
    """u**2/(h - 1) + (h + 3)/(3 (h - 1)**2)."""
    h, u = _h(mechanism), 2 * value - 1
    return (u * u / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)) / 4


def hm(mechanism: Mechanism, value: float) -> float:
    """PM with probability 1 - 1/h, Duchi's mechanism otherwise; only the latter for a small epsilon."""
    share = 1 - 1 / _h(mechanism) if float(mechanism.privacy) > THRESHOLD else 0.0
    return share * pm(mechanism, value) + (1 - share) * duchi(mechanism, value)


def pm_sub(mechanism: Mechanism, value: float) -> float:
    """With t = e**(epsilon/3): (t+1)/(E-1) u**2 + (t+E)((t+1)**3 + E - 1)/(3 t**2 (E-1)**2)."""
    e, t, u = math.exp(float(mechanism.privacy)), math.exp(float(mechanism.privacy) / 3), 2 * value - 1
    return ((t + 1) / (e - 1) * u * u + (t + e) * ((t + 1) ** 3 + e - 1) / (3 * t * t * (e - 1) ** 2)) / 4


def ogpm_u(mechanism: Mechanism, value: float) -> float:
    """PM's variance at the same value plus the price of the wider range (Theorem 10).

    The variance has the same curvature u**2/(h - 1) as PM's; its worst value fixes the rest.
    """
    h, u = _h(mechanism), 2 * value - 1
    return ogpm_u_worst(mechanism) - (1 - u * u) / (h - 1) / 4


def ogpm_u_worst(mechanism: Mechanism) -> float:
    """(3h**3 + 9h**2 + 4h) / (3 (E - 1)**2)."""
    h = _h(mechanism)
    return (3 * h**3 + 9 * h**2 + 4 * h) / (3 * (h * h - 1) ** 2)


def three_outputs(mechanism: Mechanism, value: float) -> float:
    """C**2 (1 - a + a (E - 1)|u|/E) - u**2 with the a that minimises the worst case."""
    e, u = math.exp(float(mechanism.privacy)), abs(2 * value - 1)
    return _three(best_middle_chance(e), e, u) / 4


def three_outputs_worst(mechanism: Mechanism) -> float:
    """The least over a of the largest variance over u."""
    e = math.exp(float(mechanism.privacy))
    return _three_worst(best_middle_chance(e), e) / 4


def _three(a: float, e: float, u: float) -> float:
    square = (e * (e + 1) / ((e - 1) * (e - a))) ** 2
    return square * (1 - a + a * (e - 1) / e * u) - u * u


def _three_worst(a: float, e: float) -> float:
    square = (e * (e + 1) / ((e - 1) * (e - a))) ** 2
    return _three(a, e, min(square * a * (e - 1) / (2 * e), 1.0))


def best_middle_chance(e: float) -> float:
    """The chance a of the middle number at the middle: by golden section, 0 up to E = 2."""
    if e <= 2:
        return 0.0
    low, high, ratio = 0.0, e / (e + 2), (math.sqrt(5) - 1) / 2
    for _ in range(200):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if _three_worst(left, e) <= _three_worst(right, e) else (left, high)
    return (low + high) / 2


def one_bit_mean(mechanism: Mechanism, value: float) -> float:
    """pi (1 - pi) ((E + 1)/(E - 1))**2 with pi = 1/(E + 1) + x (E - 1)/(E + 1)."""
    c = math.tanh(float(mechanism.privacy) / 2)
    chance = (1 - c) / 2 + value * c
    return chance * (1 - chance) / c**2


def _with_worst(variance: Form, *values: float) -> dict[str, Form]:
    return {"variance": variance, "worst_variance": lambda mechanism: max(variance(mechanism, x) for x in values)}


FORMS: dict[str, dict[str, Form]] = {
    "duchi": _with_worst(duchi, 0.5),
    "pm": _with_worst(pm, 0.0),
    # HM's variance is constant in the value above the threshold, and Duchi's below it.
    "hm": _with_worst(hm, 0.0, 0.5),
    "pm-sub": _with_worst(pm_sub, 0.0),
    "ogpm-u": {"variance": ogpm_u, "worst_variance": ogpm_u_worst},
    "three-outputs": {"variance": three_outputs, "worst_variance": three_outputs_worst},
    "one-bit-mean": _with_worst(one_bit_mean, 0.5),
}
