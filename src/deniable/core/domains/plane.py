"""Places in the plane: a rectangle, a disc, or a list of points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, real_parameter
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import check_count
from deniable.core.exact.numbers import Number, as_fraction, fits_a_double, show_literal
from deniable.errors import InvalidDomain

Place = tuple[float, float]
Exact = tuple[Fraction, Fraction]
MOST_SIDE = 1 << 11
"""Cells along a disc or a polygon: every cell of the square around it is looked at once, half a second for so many."""
MOST_PLACES = 1 << 16


def check_side(cells: object) -> int:
    """Refuse a grid that takes long to look through."""
    if check_count("cells", cells) > MOST_SIDE:
        raise InvalidDomain(f"cells must be at most {MOST_SIDE} along a disc or a polygon")
    return check_count("cells", cells)


def pair_of(value: Any) -> Exact | None:
    """Two exact coordinates, or None. Sequences and numpy arrays only: a dict or a set has no order to read."""
    if isinstance(value, str | bytes) or not (isinstance(value, Sequence) or type(value).__name__ == "ndarray"):
        return None
    items = list(value) if getattr(value, "shape", (2,)) == (2,) else []
    if len(items) != 2 or any(isinstance(item, str) for item in items):
        return None
    first, second = as_fraction(items[0]), as_fraction(items[1])
    if first is None or second is None:
        return None
    return first, second


CLIPPED = "only pairs of finite numbers can be clipped to"


def checked_pair(domain: Domain, value: Any, refusal: str = "the value must be a pair of finite numbers to belong to") -> Exact:
    """Two finite numbers, exactly; anything else is refused."""
    pair = pair_of(value)
    if pair is None:
        raise domain.refuse(refusal)
    return pair


@dataclass(frozen=True)
class Rectangle(Domain):
    """Points (x, y) with x in one interval and y in another, on a grid of cells.

    >>> Rectangle(Interval(0, 2, cells=4), Interval(0, 1, cells=2)).encode((1.9, 0.1))
    3
    """

    x: Interval = field(default_factory=lambda: Interval(0, 1, cells=64))
    y: Interval = field(default_factory=lambda: Interval(0, 1, cells=64))
    kind: ClassVar[str] = "rectangle"

    def __post_init__(self) -> None:
        if not isinstance(self.x, Interval) or not isinstance(self.y, Interval):
            raise InvalidDomain("a rectangle is made of two intervals")
        check_count("cells in x times cells in y", self.x.cells * self.y.cells)

    @property
    def size(self) -> int:
        """Cells in x times cells in y."""
        return self.x.cells * self.y.cells

    def encode(self, value: Any) -> int:
        """The cell of a point, counted row by row from the lower left."""
        x, y = self.coordinates(value)
        return self.y.encode(y) * self.x.cells + self.x.encode(x)

    def decode(self, index: int) -> Place:
        """The middle of a cell."""
        row, column = divmod(self.check_index(index), self.x.cells)
        return self.x.decode(column), self.y.decode(row)

    def clip(self, value: Any) -> Any:
        """The nearest point of the rectangle."""
        checked_pair(self, value, CLIPPED)
        return self.x.clip(value[0]), self.y.clip(value[1])

    @property
    def sides(self) -> Rectangle:
        """The rectangle of coordinates: this one."""
        return self

    def coordinates(self, value: Any) -> tuple[Fraction, Fraction]:
        """The exact coordinates of a point, which must belong."""
        pair = checked_pair(self, value)
        if not (self.x.low <= pair[0] <= self.x.high and self.y.low <= pair[1] <= self.y.high):
            raise self.refuse()
        return pair

    def place(self, x: float, y: float) -> Place:
        """The point with these coordinates."""
        return x, y

    def recipe(self) -> dict[str, Any]:
        return {"kind": self.kind, "x": self.x.recipe(), "y": self.y.recipe()}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Rectangle:
        from deniable.core.domains.base import domain_from_recipe

        sides = {name: domain_from_recipe(side) for name, side in fields.items()}
        return cls(**sides)  # type: ignore[arg-type]


@dataclass(frozen=True, init=False, repr=False)
class Disc(Domain):
    """Points within `radius` of `center`, on the cells of a square grid whose middles lie inside.

    >>> disc = Disc((0, 0), 1, cells=8)
    >>> disc.size, disc.decode(disc.encode((0.1, 0.1)))
    (52, (0.125, 0.125))
    """

    x: Fraction
    y: Fraction
    radius: Fraction
    cells: int
    kind: ClassVar[str] = "disc"

    def __init__(self, center: Sequence[Number] = (0, 0), radius: Number = 1, *, cells: int = 64) -> None:
        if isinstance(center, str) or not isinstance(center, Sequence) or len(center) != 2:
            raise InvalidDomain("center must be a pair of numbers")
        object.__setattr__(self, "x", real_parameter("center", center[0]))
        object.__setattr__(self, "y", real_parameter("center", center[1]))
        object.__setattr__(self, "radius", real_parameter("radius", radius))
        if self.radius <= 0:
            raise InvalidDomain("radius must be positive")
        object.__setattr__(self, "cells", check_side(cells))
        assert isinstance(self.square, Rectangle)  # built now: refuses a disc that doubles cannot tell from its center

    @cached_property
    def inside(self) -> tuple[int, ...]:
        """The cells of the bounding square whose middles lie in the disc, in order."""
        n = self.cells
        odd = [2 * i + 1 - n for i in range(n)]
        return tuple(r * n + c for r in range(n) for c in range(n) if odd[r] ** 2 + odd[c] ** 2 <= n * n)

    @cached_property
    def _position(self) -> dict[int, int]:
        return {cell: index for index, cell in enumerate(self.inside)}

    @property
    def size(self) -> int:
        """Cells whose middles lie inside."""
        return len(self.inside)

    @cached_property
    def square(self) -> Rectangle:
        """The bounding square."""
        return Rectangle(
            Interval(self.x - self.radius, self.x + self.radius, cells=self.cells),
            Interval(self.y - self.radius, self.y + self.radius, cells=self.cells),
        )

    def encode(self, value: Any) -> int:
        """The cell of a point; a border cell whose middle is outside goes to its neighbour toward the center."""
        pair = checked_pair(self, value)
        if (pair[0] - self.x) ** 2 + (pair[1] - self.y) ** 2 > self.radius**2:
            raise self.refuse()
        row, column = divmod(self.square.encode(pair), self.cells)
        while (inside := self._position.get(row * self.cells + column)) is None:
            row += (2 * row + 1 < self.cells) - (2 * row + 1 > self.cells)
            column += (2 * column + 1 < self.cells) - (2 * column + 1 > self.cells)
        return inside

    def decode(self, index: int) -> Place:
        """The middle of a cell."""
        return self.square.decode(self.inside[self.check_index(index)])

    def clip(self, value: Any) -> Any:
        """The point itself, or the one on the rim in its direction (a hair inside)."""
        pair = checked_pair(self, value, CLIPPED)
        across, up = pair[0] - self.x, pair[1] - self.y
        square = (across**2 + up**2) / self.radius**2
        if square <= 1:
            return value
        # An integer root, rounded up: the result is inside, however far away the point was.
        root = math.isqrt((square.numerator << 100) // square.denominator) + 1
        shrink = Fraction(1 << 50, root)
        return self.x + across * shrink, self.y + up * shrink

    def recipe(self) -> dict[str, Any]:
        """Center, radius and cells."""
        return {"kind": self.kind, "center": [str(self.x), str(self.y)], "radius": str(self.radius), "cells": self.cells}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Disc:
        return cls(**fields)

    def __repr__(self) -> str:
        center = f"({show_literal(self.x)}, {show_literal(self.y)})"
        return f"Disc({center}, {show_literal(self.radius)}, cells={self.cells})"


@dataclass(frozen=True, repr=False)
class Points(Domain):
    """A list of public places; a private value is one of them.

    >>> Points([(0, 0), (3, 4)]).encode((3, 4)), Points([(0, 0), (3, 4)]).clip((2.9, 3))
    (1, (3.0, 4.0))
    """

    places: Sequence[Sequence[Number]]
    kind: ClassVar[str] = "points"

    def __post_init__(self) -> None:
        exact = []
        if isinstance(self.places, Sequence) and len(self.places) > MOST_PLACES:
            raise InvalidDomain(f"there may be at most {MOST_PLACES} places; round them to a grid first")
        for place in self.places if isinstance(self.places, Sequence) else ():
            if isinstance(place, str) or not isinstance(place, Sequence) or len(place) != 2:
                raise InvalidDomain("every place must be a pair of numbers")
            exact.append((real_parameter("a place", place[0]), real_parameter("a place", place[1])))
            if not (fits_a_double(exact[-1][0]) and fits_a_double(exact[-1][1])):
                raise InvalidDomain("the coordinates of a place must be below 1e300")
        if len(exact) < 2 or len(set(exact)) != len(exact):
            raise InvalidDomain("there must be at least two places, all different")
        object.__setattr__(self, "places", tuple(exact))
        index = {place: i for i, place in enumerate(exact)}
        for i, (x, y) in enumerate(exact):
            # What decode and clip give must be accepted, though no double is exactly 1/10.
            index.setdefault((Fraction(float(x)), Fraction(float(y))), i)
        object.__setattr__(self, "_index", index)

    @property
    def size(self) -> int:
        return len(self.places)

    def encode(self, value: Any) -> int:
        """The number of a place."""
        index = self.__dict__["_index"].get(pair_of(value))
        if index is None:
            raise self.refuse("the value is not one of the places of")
        return int(index)

    def decode(self, index: int) -> Place:
        """The place with this number."""
        x, y = self.places[self.check_index(index)]
        return float(x), float(y)

    def clip(self, value: Any) -> Place:
        """The nearest place (the first of them, on a tie)."""
        pair = checked_pair(self, value, "only pairs of finite numbers can be moved to the nearest of")
        distances = [(Fraction(x) - pair[0]) ** 2 + (Fraction(y) - pair[1]) ** 2 for x, y in self.places]
        return self.decode(distances.index(min(distances)))

    def recipe(self) -> dict[str, Any]:
        return {"kind": self.kind, "places": [[str(x), str(y)] for x, y in self.places]}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Points:
        return cls(**fields)

    def __repr__(self) -> str:
        shown = ", ".join(f"({show_literal(Fraction(x))}, {show_literal(Fraction(y))})" for x, y in self.places[:4])
        return f"Points([{shown}{', …' if self.size > 4 else ''}])"
