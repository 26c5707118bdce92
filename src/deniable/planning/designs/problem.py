"""What is asked: a loss that grows with the distance, and whose error is to be small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Union

import numpy as np

from deniable.batch import Floats
from deniable.core import Epsilon, EpsilonLike, Interval, as_fraction
from deniable.errors import InvalidEpsilon, InvalidParameter
from deniable.estimators import EXPONENTS

DistanceFunction = Callable[[Floats], Any]
LossLike = Union[str, int, float, DistanceFunction]
"""'absolute', 'squared', 'power:K', a number K for distance**K, or a function of an array of distances."""
PriorLike = Union[str, tuple[str, Any], Sequence[float]]
"""'worst', 'uniform', ('at', value), or the weights of equal cells of the domain."""

SMALLEST = Fraction(1, 1000)
LEAST_EXPONENT, MOST_EXPONENT = Fraction(1, 10), 20
CHECKED = 1025
MOST_CELLS = 256


@dataclass(frozen=True)
class DistanceLoss:
    """distance**exponent, or an increasing function of the distance (exponent None), in the domain's units."""

    name: str
    exponent: float | None
    function: DistanceFunction | None = None
    width: float = 1.0

    def at(self, distance: Floats) -> Floats:
        """The loss at distances measured in widths of the domain."""
        if self.function is not None:
            return np.asarray(self.function(distance * self.width), dtype=np.float64)
        assert self.exponent is not None
        powers: Floats = distance**self.exponent
        return powers

    @property
    def scale(self) -> float:
        """What a loss in widths of the domain is multiplied by to be one in its own units."""
        return 1.0 if self.exponent is None else float(self.width**self.exponent)

    @property
    def measured(self) -> Any:
        """The same loss as the law of a report takes it."""
        if self.function is None:
            return self.exponent
        function = self.function
        return lambda y, x: function(np.abs(y - x))


def distance_loss(loss: LossLike, width: float) -> DistanceLoss:
    """Read a loss; refuse one that does not grow with the distance.

    >>> distance_loss("power:1.5", 1.0).exponent
    1.5
    """
    if callable(loss):
        return _checked(loss, width)
    text = loss.removeprefix("power:").strip() if isinstance(loss, str) else loss
    exponent = as_fraction(EXPONENTS.get(text, text) if isinstance(text, str) else text)
    if exponent is None or not LEAST_EXPONENT <= exponent <= MOST_EXPONENT:
        raise InvalidParameter("loss must be 'absolute', 'squared', 'power:K' with K from 0.1 to 20, or a function of the distance")
    names = {1: "absolute", 2: "squared"}
    return DistanceLoss(names.get(float(exponent), f"power:{float(exponent):g}"), float(exponent), width=width)  # type: ignore[call-overload]


def _checked(function: DistanceFunction, width: float) -> DistanceLoss:
    loss = DistanceLoss("function", None, function, width)
    try:
        values = loss.at(np.linspace(0, 1, CHECKED))
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (CHECKED,) or not np.isfinite(values).all():
        raise InvalidParameter("loss must turn an array of distances into as many finite numbers")
    if values[0] < 0 or bool((np.diff(values) < 0).any()):
        raise InvalidParameter("loss must be at least 0 and never fall as the distance grows")
    if values[-1] <= values[0]:
        raise InvalidParameter("loss must grow with the distance: a constant loss has nothing to minimise")
    return loss


def design_epsilon(epsilon: EpsilonLike) -> Epsilon:
    """An epsilon at which a design makes sense."""
    level = Epsilon(epsilon)
    if level.exact < SMALLEST:
        raise InvalidEpsilon(
            "epsilon must be at least 0.001 to design a mechanism: below it reports carry next to nothing, and the best is to "
            "report the middle of the domain without asking"
        )
    return level


@dataclass(frozen=True)
class Prior:
    """'worst', 'at' (with its position), or the probabilities of equal cells of the domain."""

    kind: str
    position: float | None = None
    cells: tuple[float, ...] | None = None

    @property
    def symmetric(self) -> bool:
        """Is it the same seen from the other end?"""
        return self.cells is None or bool(np.allclose(self.cells, self.cells[::-1], rtol=1e-12, atol=0))


def read_prior(prior: PriorLike, domain: Any) -> Prior:
    """Read a prior; refuse what is none.

    >>> read_prior("uniform", Interval(0, 1)).kind
    'uniform'
    """
    if isinstance(prior, str):
        if prior in ("worst", "uniform"):
            return Prior(prior)
        if prior.startswith("at:"):
            prior = ("at", prior.removeprefix("at:"))
    if isinstance(prior, tuple) and len(prior) == 2 and prior[0] == "at":
        return Prior("at", position=_position(prior[1], domain))
    if isinstance(prior, str) or not hasattr(prior, "__len__") or isinstance(prior, dict | set):
        raise InvalidParameter("prior must be 'worst', 'uniform', ('at', value), or a list of weights of equal cells")
    return Prior("weighted", cells=_weights(list(prior)))


def _position(value: Any, domain: Any) -> float:
    exact = as_fraction(value)
    if exact is None or not isinstance(domain, Interval) or not domain.low <= exact <= domain.high:
        raise InvalidParameter("prior: 'at' needs a value of an interval's domain, for example ('at', 0.2)")
    return float((exact - domain.low) / domain.width)


def _weights(values: list[Any]) -> tuple[float, ...]:
    exact = [as_fraction(value) for value in values]
    if not 2 <= len(exact) <= MOST_CELLS or any(value is None or value < 0 for value in exact):
        raise InvalidParameter(f"prior: weights must be 2 to {MOST_CELLS} numbers, none of them negative")
    total = sum(value for value in exact if value is not None)
    if total == 0:
        raise InvalidParameter("prior: at least one weight must be positive")
    return tuple(float(value / total) for value in exact if value is not None)
