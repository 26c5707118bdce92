"""A leaning rectangle: the image of a rectangle under a linear map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, real_parameter
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import CLIPPED, Exact, Place, Rectangle, checked_pair
from deniable.core.exact.numbers import Number, fits_a_double, show_literal
from deniable.errors import InvalidDomain

ROOT_BITS = 40


@dataclass(frozen=True, init=False, repr=False)
class Parallelogram(Domain):
    """Points origin + s * across + t * up with s and t from 0 to 1, on a lattice of cells[0] by cells[1] cells.

    >>> street = Parallelogram((0, 0), (4, 1), (1, 2), cells=(4, 2))
    >>> street.encode((1.5, 1.25)), street.decode(5)
    (5, (2.25, 1.875))
    """

    origin: Exact
    across: Exact
    up: Exact
    cells: tuple[int, int]
    kind: ClassVar[str] = "parallelogram"

    def __init__(
        self,
        origin: Sequence[Number] = (0, 0),
        across: Sequence[Number] = (1, 0),
        up: Sequence[Number] = (0, 1),
        *,
        cells: Sequence[int] = (64, 64),
    ) -> None:
        for name, pair in (("origin", origin), ("across", across), ("up", up)):
            object.__setattr__(self, name, _vector(name, pair))
        if isinstance(cells, str) or not isinstance(cells, Sequence) or len(cells) != 2:
            raise InvalidDomain("cells must be a pair of whole numbers")
        object.__setattr__(self, "cells", (cells[0], cells[1]))
        if self._area == 0:
            raise InvalidDomain("across and up must not be parallel")
        assert isinstance(self.sides, Rectangle)  # built now: refuses bad cells, and sides that doubles cannot tell from nothing

    @property
    def _area(self) -> Fraction:
        return self.across[0] * self.up[1] - self.across[1] * self.up[0]

    @cached_property
    def sides(self) -> Rectangle:
        """The rectangle it is the image of, with sides as long as its own (to 40 bits)."""
        lengths = (_length(self.across), _length(self.up))
        return Rectangle(Interval(0, lengths[0], cells=self.cells[0]), Interval(0, lengths[1], cells=self.cells[1]))

    @property
    def size(self) -> int:
        """Cells across times cells up."""
        return self.sides.size

    def shares(self, pair: Exact) -> Exact:
        """s and t of any point of the plane, exactly."""
        x, y = pair[0] - self.origin[0], pair[1] - self.origin[1]
        return (x * self.up[1] - y * self.up[0]) / self._area, (self.across[0] * y - self.across[1] * x) / self._area

    def coordinates(self, value: Any) -> Exact:
        """Where a point lies in `sides`, exactly."""
        pair = checked_pair(self, value)
        s, t = self.shares(pair)
        if not (0 <= s <= 1 and 0 <= t <= 1):
            raise self.refuse()
        return s * self.sides.x.high, t * self.sides.y.high

    def place(self, x: float, y: float) -> Place:
        """The point at these coordinates of `sides`."""
        s, t = x / float(self.sides.x.high), y / float(self.sides.y.high)
        across = float(self.across[0]) * s + float(self.up[0]) * t
        upward = float(self.across[1]) * s + float(self.up[1]) * t
        return float(self.origin[0]) + across, float(self.origin[1]) + upward

    def encode(self, value: Any) -> int:
        """The cell of a point, counted row by row from the origin."""
        return self.sides.encode(self.coordinates(value))

    def decode(self, index: int) -> Place:
        """The middle of a cell."""
        return self.place(*self.sides.decode(index))

    def clip(self, value: Any) -> Any:
        """The nearest point: the point itself, or one on the border."""
        from deniable.core.domains.polygon import nearest_on_border

        pair = checked_pair(self, value, CLIPPED)
        s, t = self.shares(pair)
        return value if 0 <= s <= 1 and 0 <= t <= 1 else nearest_on_border(pair, self.corners)

    @property
    def corners(self) -> tuple[Exact, ...]:
        """The four corners, in order around."""
        (x, y), (a, b), (c, d) = self.origin, self.across, self.up
        return (x, y), (x + a, y + b), (x + a + c, y + b + d), (x + c, y + d)

    def recipe(self) -> dict[str, Any]:
        """Exact vectors and cells."""
        vectors = {name: [str(part) for part in getattr(self, name)] for name in ("origin", "across", "up")}
        return {"kind": self.kind, **vectors, "cells": list(self.cells)}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Parallelogram:
        if set(fields) != {"origin", "across", "up", "cells"}:
            raise InvalidDomain("a parallelogram recipe has 'origin', 'across', 'up' and 'cells'")
        return cls(**fields)

    def __repr__(self) -> str:
        shown = ", ".join(f"({show_literal(x)}, {show_literal(y)})" for x, y in (self.origin, self.across, self.up))
        return f"Parallelogram({shown}, cells={self.cells})"


def _vector(name: str, pair: Sequence[Number]) -> Exact:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise InvalidDomain(f"{name} must be a pair of numbers")
    x, y = real_parameter(name, pair[0]), real_parameter(name, pair[1])
    if not (fits_a_double(x) and fits_a_double(y)):
        raise InvalidDomain(f"{name} must be below 1e300")
    return x, y


def _length(vector: Exact) -> Fraction:
    """The length of a vector by an integer root: the same number on every machine, and never 0."""
    square = vector[0] ** 2 + vector[1] ** 2
    if square == 0:
        raise InvalidDomain("across and up must not be parallel")
    shift = max(0, ROOT_BITS - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)
