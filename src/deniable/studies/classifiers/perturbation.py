"""One sensitive feature and the mechanism on it: what goes in, and which numbers the model sees instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from deniable.batch import Floats, decode_many
from deniable.core import (
    Binary,
    Categories,
    CircularMechanism,
    EpsilonLike,
    Exponential,
    Grid,
    Interval,
    Mechanism,
    Number,
    NumericMechanism,
    cells,
    make_mechanism,
    mechanism_class,
)
from deniable.errors import InvalidParameter, NotSupported

POINTS = 100
"""How many equal cells a mechanism on categories sees of a number."""

BUDGETS = ("each", "total")


@dataclass(frozen=True)
class Perturbation:
    """A mechanism and, when it knows categories only, the interval whose cells they are.

    >>> from deniable.core import OGPM
    >>> Perturbation(OGPM(epsilon=1)).decode(np.array([0])) < 1e-6
    array([ True])
    """

    mechanism: Mechanism
    interval: Interval | None = None

    def __post_init__(self) -> None:
        mechanism = self.mechanism
        if isinstance(mechanism, NumericMechanism | CircularMechanism) or isinstance(mechanism.domain, Binary):
            if self.interval is not None:
                raise InvalidParameter("interval is for mechanisms on categories; this one has a domain of numbers already")
        elif not isinstance(mechanism.domain, Categories) or mechanism.channel.outputs != mechanism.domain.size:
            raise NotSupported(
                f"{mechanism.name} does not answer with one number or category, so a model cannot read its output; "
                "use a numeric or circular mechanism, k-rr or exponential"
            )
        elif self.interval is None and mechanism.domain.labels is not None:
            raise InvalidParameter("a model needs numbers, not names: use Categories(k), or give the interval of the feature")

    @property
    def grid(self) -> Grid | None:
        """The cells that categories stand for."""
        return None if self.interval is None else cells(self.mechanism.domain.size)

    @property
    def outputs(self) -> int:
        """How many different outputs there are."""
        return self.mechanism.channel.outputs

    @cached_property
    def profile_sums(self) -> Floats | None:
        """For added noise: the probability of all offsets before each one; the same for every input."""
        noise = self.mechanism.channel.added_noise
        return None if noise is None else np.array([0.0, *(weight / noise.total for weight in noise.cumulative)])

    @property
    def profile_start(self) -> int:
        """For added noise: the output that input 0 and the first offset would give."""
        noise = self.mechanism.channel.added_noise
        return 0 if noise is None else noise.first + noise.margin

    def index(self, value: Any) -> int:
        """The channel's input of a private value."""
        if self.interval is None:
            return self.mechanism.encode(value)
        assert self.grid is not None
        return self.grid.index(self.interval.position(value))

    def decode(self, outputs: Any) -> Floats:
        """The numbers a model gets for an array of outputs: the array decoder's own doubles.

        The scalar decoder may differ from them in the last digit, which matters only to a threshold in between.
        """
        whole = np.asarray(outputs)
        if self.interval is None:
            if isinstance(self.mechanism, NumericMechanism | CircularMechanism):
                numbers: Floats = decode_many(self.mechanism, whole)
                return numbers
            return whole.astype(np.float64)
        assert self.grid is not None
        start, step = float(self.grid.position(0)), float(Fraction(1, self.grid.steps))
        return (whole * step + start) * float(self.interval.width) + float(self.interval.low)


@dataclass(frozen=True)
class Feature:
    """A numeric sensitive feature: its public range, and how many cells mechanisms on categories see of it.

    >>> Feature(0, 100).perturbed_by("k-rr", 2).mechanism.domain
    Categories(100)
    """

    low: Number = 0
    high: Number = 1
    points: int = POINTS

    @property
    def interval(self) -> Interval:
        """The range as a domain."""
        return Interval(self.low, self.high)

    def perturbed_by(self, name: str, epsilon: EpsilonLike, **parameters: Any) -> Perturbation:
        """A registered mechanism on this feature; built once for the same question."""
        key = tuple(sorted(parameters.items()))
        try:
            return _built(self, name, epsilon, key)
        except TypeError:  # a parameter that cannot be a key
            return _built.__wrapped__(self, name, epsilon, key)


@lru_cache(maxsize=512)
def _built(feature: Feature, name: str, epsilon: EpsilonLike, parameters: tuple[tuple[str, Any], ...]) -> Perturbation:
    kind = mechanism_class(name)
    chosen = dict(parameters)
    if kind.family == "numeric":
        return Perturbation(make_mechanism(name, domain=feature.interval, epsilon=epsilon, **chosen))
    if kind is Exponential and "scores" not in chosen:
        return Perturbation(Exponential.distance(points=feature.points - 1, epsilon=epsilon, **chosen), feature.interval)
    if kind.family == "categorical":
        domain = Categories(feature.points)
        return Perturbation(make_mechanism(name, domain=domain, epsilon=epsilon, **chosen), feature.interval)
    raise NotSupported(f"{name} is not a mechanism for a number between two ends; use a numeric one, k-rr or exponential")


def shared_epsilon(epsilon: EpsilonLike, features: int, budget: str = "each") -> EpsilonLike:
    """The level of one feature: all of it ("each", d * epsilon in total) or an equal share ("total").

    >>> shared_epsilon(2, 4, "total"), shared_epsilon(2, 4, "each")
    (Fraction(1, 2), 2)
    """
    if budget not in BUDGETS:
        raise InvalidParameter(f"budget must be one of {', '.join(BUDGETS)}")
    if budget == "each":
        return epsilon
    exact = Fraction(epsilon) if isinstance(epsilon, int | str | Fraction) else Fraction(float(epsilon))
    return exact / features


def perturbations(
    name: str, features: Sequence[Feature], epsilon: EpsilonLike, *, budget: str = "each", **parameters: Any
) -> tuple[Perturbation, ...]:
    """The same mechanism on every sensitive feature."""
    own = shared_epsilon(epsilon, len(features), budget)
    return tuple(feature.perturbed_by(name, own, **parameters) for feature in features)
