"""Errors around a circle of period 1: half of it is the farthest, and every value is alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from deniable.core import Mechanism, best_share
from deniable.estimators.law.shapes import redesigned_sw_parameters

Form = Callable[..., float]


def _band(share: float, epsilon: float, exponent: float) -> float:
    """E d**k when d, in half turns, has `share` of its range favoured by e**epsilon."""
    low = 1 / (1 + math.expm1(epsilon) * share)
    gain = math.expm1(epsilon) * low
    return float((low + gain * share ** (exponent + 1)) / (exponent + 1) / 2**exponent)


def ogpm(mechanism: Mechanism, exponent: float) -> float:
    """Theorems 8 and 9: the favoured share is 1/(h + 1); for k = 1 the error is that share of half a turn."""
    epsilon = float(mechanism.privacy)
    return _band(1 / (math.exp(epsilon / 2) + 1), epsilon, exponent)


def window(mechanism: Mechanism, exponent: float) -> float:
    """The best share s for the mechanism's own exponent, where the error is s**k half turns."""
    maker: Any = mechanism
    share = best_share(mechanism.privacy, Fraction(maker.loss_exponent))
    return _band(share, float(mechanism.privacy), exponent)


def redesigned_sw(mechanism: Mechanism, exponent: float) -> float:
    """The redesigned square wave, wrapped around."""
    epsilon = float(mechanism.privacy)
    return _band(2 * redesigned_sw_parameters(epsilon)[1], epsilon, exponent)


def purkayastha(mechanism: Mechanism, exponent: float) -> float:
    """Density falling as e**(-epsilon d) over half a turn: 1/eps - 1/(e**eps - 1) half turns for k = 1; else k = 2."""
    epsilon = float(mechanism.privacy)
    if exponent == 1:
        return (1 / epsilon - 1 / math.expm1(epsilon)) / 2
    return (2 / epsilon**2 - (1 + 2 / epsilon) / math.expm1(epsilon)) / 4


def _everywhere(error: Form) -> dict[str, Form]:
    return {
        "absolute_error": lambda mechanism, value: error(mechanism, 1),
        "squared_error": lambda mechanism, value: error(mechanism, 2),
        "worst_absolute_error": lambda mechanism: error(mechanism, 1),
        "worst_squared_error": lambda mechanism: error(mechanism, 2),
    }


def _every_exponent(error: Form) -> dict[str, Form]:
    return _everywhere(error) | {
        "error": lambda mechanism, value, exponent: error(mechanism, float(exponent)),
        "worst_error": lambda mechanism, exponent: error(mechanism, float(exponent)),
    }


FORMS: dict[str, dict[str, Form]] = {
    "circular-ogpm": _every_exponent(ogpm),
    "circular-window": _every_exponent(window),
    "circular-redesigned-sw": _every_exponent(redesigned_sw),
    "purkayastha": _everywhere(purkayastha),
}
