"""Errors of added noise (Laplace and its bounded forms, staircase) and of the two-number mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable

from deniable.core import Mechanism

Form = Callable[..., float]


def _sides(epsilon: float, x: float, side: Callable[[float], float]) -> float:
    """The same integral on either side of x, in units of the noise scale 1/epsilon."""
    return side(epsilon * x) + side(epsilon * (1 - x))


def truncated_absolute(mechanism: Mechanism, value: float) -> float:
    """(2 - e**(-eps x) - e**(-eps (1-x))) / (2 eps): E min(|noise|, distance to the end)."""
    epsilon = float(mechanism.privacy)
    return _sides(epsilon, value, lambda a: -math.expm1(-a)) / (2 * epsilon)


def truncated_squared(mechanism: Mechanism, value: float) -> float:
    """The sum over both sides of (1 - (1 + a) e**-a) / eps**2, a = eps times the distance to the end."""
    epsilon = float(mechanism.privacy)
    return _sides(epsilon, value, lambda a: 1 - (1 + a) * math.exp(-a)) / epsilon**2


def _bounded(mechanism: Mechanism, value: float, side: Callable[[float], float], power: int) -> float:
    epsilon = float(mechanism.privacy)
    mass = _sides(epsilon, value, lambda a: -math.expm1(-a))
    return _sides(epsilon, value, side) / (mass * epsilon**power)


def bounded_absolute(mechanism: Mechanism, value: float) -> float:
    """Laplace noise conditioned on staying inside, E |y - x|; the normaliser depends on x."""
    return _bounded(mechanism, value, lambda a: 1 - (1 + a) * math.exp(-a), 1)


def bounded_squared(mechanism: Mechanism, value: float) -> float:
    """The same for E (y - x)**2."""
    return _bounded(mechanism, value, lambda a: 2 - (2 + 2 * a + a * a) * math.exp(-a), 2)


def staircase(mechanism: Mechanism, value: float = 0.0) -> float:
    """e**(eps/2) / (e**eps - 1) = 1 / (2 sinh(eps/2)), at every value."""
    return 1 / (2 * math.sinh(float(mechanism.privacy) / 2))


def one_bit_squared(mechanism: Mechanism, value: float) -> float:
    """Randomized response on [x > 1/2], read as 1/(1+E) or E/(1+E)."""
    truth = 1 / (1 + math.exp(-float(mechanism.privacy)))
    upper = truth if value > 0.5 else 1 - truth
    return upper * (truth - value) ** 2 + (1 - upper) * (1 - truth - value) ** 2


def one_bit_squared_worst(mechanism: Mechanism) -> float:
    """E/(1+E)**2, at the ends; above epsilon = 2 asinh 1 it is (E-1)**2/(4 (1+E)**2), in the middle."""
    return max(one_bit_squared(mechanism, 0.0), one_bit_squared(mechanism, 0.5))


FORMS: dict[str, dict[str, Form]] = {
    "laplace": {
        "absolute_error": lambda mechanism, value: 1 / float(mechanism.privacy),
        "worst_absolute_error": lambda mechanism: 1 / float(mechanism.privacy),
        "variance": lambda mechanism, value: 2 / float(mechanism.privacy) ** 2,
        "worst_variance": lambda mechanism: 2 / float(mechanism.privacy) ** 2,
    },
    "truncated-laplace": {
        "absolute_error": truncated_absolute,
        "squared_error": truncated_squared,
        "worst_absolute_error": lambda mechanism: truncated_absolute(mechanism, 0.5),
    },
    "bounded-laplace": {
        "absolute_error": bounded_absolute,
        "squared_error": bounded_squared,
        "worst_absolute_error": lambda mechanism: bounded_absolute(mechanism, 0.0),
        "worst_squared_error": lambda mechanism: bounded_squared(mechanism, 0.0),
    },
    "staircase": {"absolute_error": staircase, "worst_absolute_error": staircase},
    "one-bit-squared": {"squared_error": one_bit_squared, "worst_squared_error": one_bit_squared_worst},
}
