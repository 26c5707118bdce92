"""Errors of mechanisms that favour one window of an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from deniable.core import Mechanism, best_share
from deniable.estimators.law import shapes
from deniable.estimators.law.shapes import WindowShape

Form = Callable[..., float]


def _window(mechanism: Mechanism, x: float) -> WindowShape:
    return shapes.window(float(mechanism.privacy), x, _exponent(mechanism))


def _exponent(mechanism: Any) -> Fraction:
    return Fraction(mechanism.loss_exponent)


def _at(shape: Callable[[float, float], WindowShape]) -> Callable[[Mechanism, float], WindowShape]:
    return lambda mechanism, x: shape(float(mechanism.privacy), x)


SHAPES: dict[str, Callable[[Mechanism, float], WindowShape]] = {
    "ogpm": _at(shapes.ogpm),
    "window": _window,
    "redesigned-sw": _at(shapes.redesigned_sw),
    "sw": _at(shapes.sw),
    "pm-c": _at(lambda epsilon, x: shapes.squeezed(shapes.pm(epsilon, x))),
    "sw-c": _at(lambda epsilon, x: shapes.squeezed(shapes.sw(epsilon, x))),
    "t-pm": _at(lambda epsilon, x: replace(shapes.pm(epsilon, x), clip=True)),
    "t-sw": _at(lambda epsilon, x: replace(shapes.sw(epsilon, x), clip=True)),
}


def _errors(shape: Callable[[Mechanism, float], WindowShape]) -> dict[str, Form]:
    return {
        "absolute_error": lambda mechanism, value: shape(mechanism, value).error(value, 1),
        "squared_error": lambda mechanism, value: shape(mechanism, value).error(value, 2),
        "error": lambda mechanism, value, exponent: shape(mechanism, value).error(value, float(exponent)),
    }


def _at_the_end(shape: Callable[[Mechanism, float], WindowShape]) -> dict[str, Form]:
    """The worst value is an end of the domain: the window is centred, or slid, and the ends are far."""
    return {
        "worst_absolute_error": lambda mechanism: shape(mechanism, 0.0).error(0.0, 1),
        "worst_squared_error": lambda mechanism: shape(mechanism, 0.0).error(0.0, 2),
        "worst_error": lambda mechanism, exponent: shape(mechanism, 0.0).error(0.0, float(exponent)),
    }


def _window_worst(mechanism: Mechanism, exponent: float | None = None) -> float:
    """s**k for the exponent the window was made for; the integral for any other."""
    own = _exponent(mechanism)
    if exponent is None or Fraction(exponent) == own:
        return float(best_share(mechanism.privacy, own) ** float(own))
    return _window(mechanism, 0.0).error(0.0, float(exponent))


FORMS: dict[str, dict[str, Form]] = {name: _errors(shape) for name, shape in SHAPES.items()}
for _name in ("ogpm", "window", "redesigned-sw", "sw", "pm-c", "sw-c"):
    FORMS[_name] |= _at_the_end(SHAPES[_name])
FORMS["window"]["worst_error"] = lambda mechanism, exponent: _window_worst(mechanism, exponent)
