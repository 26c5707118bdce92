"""Vectors of bounded length: model updates, embeddings, histograms of many features."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, real_parameter
from deniable.core.exact.numbers import Number, as_fraction, as_index, fits_a_double, show_literal
from deniable.errors import InvalidDomain, OutOfDomain

MOST_DIMENSIONS = 1_000_000
UNIT = 1 << 22
"""Lattice steps in the length of the longest vector."""
WORD_BITS = 32
"""A coordinate on the lattice is one such word of the index, in two's complement, the first coordinate first."""


@dataclass(frozen=True, init=False, repr=False)
class Ball(Domain):
    """Vectors of `dimension` numbers and a length of at most `radius`, on a fine lattice.

    `norm` says how length is measured: 2 is Euclid's, "max" (infinity) bounds every coordinate by `radius`.
    A vector beyond the radius is refused; `clip` shortens it, when the caller asks for that.

    >>> ball = Ball(3, radius=2)
    >>> ball.decode(ball.encode([0.5, -1, 0])), ball.clip([3, 4, 0])
    ([0.5, -1.0, 0.0], [1.2, 1.6, 0.0])
    """

    dimension: int
    radius: Fraction
    norm: int | float
    kind: ClassVar[str] = "ball"

    def __init__(self, dimension: int, radius: Number = 1, norm: int | float | str = 2) -> None:
        whole = as_index(dimension)
        if whole is None or not 1 <= whole <= MOST_DIMENSIONS:
            raise InvalidDomain(f"dimension must be a whole number from 1 to {MOST_DIMENSIONS}")
        exact = real_parameter("radius", radius)
        if not fits_a_double(exact) or not 1e-100 < float(exact) < 1e100:
            raise InvalidDomain("radius must lie between 1e-100 and 1e100")
        if norm in (1, "1") and not isinstance(norm, bool):
            raise InvalidDomain(
                "norm must be 2 or 'max': for norm 1, draw a corner of the ball with the vector as its mean and report it by "
                "subset selection, as docs/vectors.md shows"
            )
        if norm not in (2, math.inf, "2", "max") or isinstance(norm, bool):
            raise InvalidDomain("norm must be 2, or 'max' (or math.inf) to bound every coordinate")
        object.__setattr__(self, "dimension", whole)
        object.__setattr__(self, "radius", exact)
        object.__setattr__(self, "norm", 2 if norm in (2, "2") else math.inf)

    @property
    def size(self) -> int:
        """Every index of so many words, also those that lie outside the ball."""
        return 1 << WORD_BITS * self.dimension

    @cached_property
    def reach(self) -> float:
        """The Euclidean length of the longest vector."""
        return float(self.radius) * (1.0 if self.norm == 2 else math.sqrt(self.dimension))

    @cached_property
    def per_unit(self) -> float:
        """Lattice steps per unit of length."""
        return UNIT / self.reach

    @cached_property
    def most_square(self) -> int:
        """The squared length on the lattice that rounding can give a vector of the ball, at most."""
        return most_square(self.dimension)

    @cached_property
    def most_step(self) -> int:
        """The largest coordinate on the lattice."""
        return UNIT + 1 if self.norm == 2 else round(float(self.radius) * self.per_unit) + 1

    def numbers(self, value: Any, why: str = "the value must be a list of {} finite numbers to belong to") -> list[float]:
        """The coordinates of a value as doubles; anything else is refused."""
        if hasattr(value, "tolist"):
            value = value.tolist()
        fits = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray) and len(value) == self.dimension
        numbers = _doubles(value) if fits else None
        if numbers is None:
            raise self.refuse(why.format(self.dimension))
        return numbers

    def steps(self, value: Any) -> list[int]:
        """The coordinates of a value on the lattice."""
        numbers = self.numbers(value)
        if max(map(abs, numbers)) > 2 * self.reach:
            raise self.refuse()
        per_unit = self.per_unit
        steps = [round(number * per_unit) for number in numbers]
        if max(map(abs, steps)) > self.most_step or sum(step * step for step in steps) > self.most_square:
            raise self.refuse()
        return steps

    def encode(self, value: Any) -> int:
        """The index of the nearest vector on the lattice."""
        return index_of(self.steps(value))

    def decode(self, index: int) -> list[float]:
        """The vector with this index; indices outside the ball are refused."""
        self.check_index(index)
        steps = steps_of(index, self.dimension)
        if max(map(abs, steps)) > self.most_step or sum(step * step for step in steps) > self.most_square:
            raise OutOfDomain(f"the index is not that of a vector of {self!r}")
        return [step / self.per_unit for step in steps]

    def clip(self, value: Any) -> Any:
        """The value itself, or the vector of length `radius` in its direction (for infinity: every coordinate clipped)."""
        numbers = self.numbers(value, "only lists of {} finite numbers can be clipped to")
        radius = float(self.radius)
        if self.norm != 2:
            return value if max(map(abs, numbers)) <= radius else [min(max(number, -radius), radius) for number in numbers]
        largest = max(map(abs, numbers))
        if largest == 0:
            return value
        length = math.sqrt(math.fsum((number / largest) ** 2 for number in numbers))
        if length * largest <= radius:
            return value
        return [number / largest / length * radius for number in numbers]

    def recipe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "dimension": self.dimension,
            "radius": str(self.radius),
            "norm": "2" if self.norm == 2 else "max",
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Ball:
        if set(fields) != {"dimension", "radius", "norm"} or fields["norm"] not in ("2", "max"):
            raise InvalidDomain("a ball recipe has 'dimension', 'radius' and 'norm', which is '2' or 'max'")
        return cls(**fields)

    def __repr__(self) -> str:
        parts = [str(self.dimension)]
        parts += [] if self.radius == 1 else [f"radius={show_literal(self.radius)}"]
        parts += [] if self.norm == 2 else ['norm="max"']
        return f"Ball({', '.join(parts)})"


def most_square(dimension: int) -> int:
    """The largest squared length on the lattice: a vector of the ball is rounded by half a diagonal of a cell at most."""
    return (UNIT + math.isqrt(dimension) // 2 + 1) ** 2


def index_of(steps: Sequence[int]) -> int:
    """The index of a vector on the lattice."""
    return int.from_bytes(struct.pack(f">{len(steps)}i", *steps), "big")


def steps_of(index: int, dimension: int) -> list[int]:
    """The coordinates on the lattice of any index."""
    return list(struct.unpack(f">{dimension}i", index.to_bytes(WORD_BITS // 8 * dimension, "big")))


def _doubles(value: Sequence[Any]) -> list[float] | None:
    """Finite doubles, or None: an exception would show what it could not convert."""
    kinds = set(map(type, value))
    if not kinds <= {float, int}:
        exact = [None if isinstance(number, str) else as_fraction(number) for number in value]
        if any(number is None or not fits_a_double(number) for number in exact):
            return None
        return [float(number) for number in exact if number is not None]
    if int in kinds and any(type(number) is int and abs(number) > 10**300 for number in value):
        return None
    numbers = [float(number) for number in value]
    return numbers if all(map(math.isfinite, numbers)) else None
