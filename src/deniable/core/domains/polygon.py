"""Any region with straight borders: a city, a park, a campus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, real_parameter
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import CLIPPED, Exact, Place, Rectangle, check_side, checked_pair
from deniable.core.exact.numbers import Number, fits_a_double, show_literal
from deniable.errors import InvalidDomain

Corners = tuple[Exact, ...]
MOST_CORNERS = 1000


@dataclass(frozen=True, init=False, repr=False)
class Polygon(Domain):
    """Points inside a polygon, border included, on the square cells whose middles lie inside.

    The longer side of its bounding box has `cells` cells. The border must not cross itself; it may be convex or not.

    >>> triangle = Polygon([(0, 0), (4, 0), (0, 4)], cells=4)
    >>> triangle.size, triangle.decode(triangle.encode((1.2, 0.3)))
    (10, (1.5, 0.5))
    """

    corners: Corners
    cells: int
    kind: ClassVar[str] = "polygon"

    def __init__(self, corners: Sequence[Sequence[Number]], *, cells: int = 64) -> None:
        object.__setattr__(self, "corners", _checked_corners(corners))
        object.__setattr__(self, "cells", check_side(cells))
        if self.size < 2:
            raise InvalidDomain("at least two cell middles must lie inside the polygon; take more cells")

    @cached_property
    def grid(self) -> Rectangle:
        """The bounding box, widened to whole square cells on its shorter side."""
        xs, ys = zip(*self.corners, strict=True)
        left, bottom, width, height = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
        side = max(width, height) / self.cells
        columns, rows = (max(2, -(-length // side)) for length in (width, height))
        across = Interval(left, left + columns * side, cells=int(columns))
        return Rectangle(across, Interval(bottom, bottom + rows * side, cells=int(rows)))

    @cached_property
    def inside(self) -> tuple[int, ...]:
        """The cells of the grid whose middles lie inside, in order."""
        columns, side = self.grid.x.cells, self.grid.x.width / self.grid.x.cells
        cells = []
        for row in range(self.grid.y.cells):
            y = self.grid.y.low + (row + Fraction(1, 2)) * side
            crossings = sorted((x - self.grid.x.low) / side - Fraction(1, 2) for x in _crossings(y, self.corners))
            passed = 0
            for column in range(columns):
                while passed < len(crossings) and crossings[passed] <= column:
                    passed += 1
                cell = row * columns + column
                if self._holds_its_middle(cell) if cell in self.rim else passed % 2:
                    cells.append(cell)
        return tuple(cells)

    def _holds_its_middle(self, cell: int) -> bool:
        """Is the middle, as the doubles that decode gives, inside? What decode gives must be accepted."""
        x, y = self.grid.decode(cell)
        return self.holds((Fraction(x), Fraction(y)))

    @cached_property
    def _whole_corners(self) -> tuple[int, list[tuple[int, int]]]:
        """A common denominator of all coordinates, and the corners times it: whole numbers are quicker than fractions."""
        common = math.lcm(*(part.denominator for corner in self.corners for part in corner))
        return common, [(int(x * common), int(y * common)) for x, y in self.corners]

    def holds(self, point: Exact) -> bool:
        """Is a point inside or on the border? Exactly."""
        common, corners = self._whole_corners
        scale = math.lcm(point[0].denominator, point[1].denominator)
        across, up = int(point[0] * common * scale), int(point[1] * common * scale)
        inside = False
        x, y = corners[-1][0] * scale, corners[-1][1] * scale
        for corner in corners:
            to_x, to_y = corner[0] * scale, corner[1] * scale
            # Half-open in y, so that a corner counts once; an edge along the point's height is looked at for the border only.
            passes = (y > up) != (to_y > up)
            if passes or y == up or to_y == up:
                side = (to_x - x) * (up - y) - (to_y - y) * (across - x)
                if side == 0 and min(x, to_x) <= across <= max(x, to_x) and min(y, to_y) <= up <= max(y, to_y):
                    return True
                # An upward edge is passed when the point lies to its left, a downward one when to its right.
                inside ^= passes and (side > 0) == (to_y > y)
            x, y = to_x, to_y
        return inside

    @cached_property
    def rim(self) -> frozenset[int]:
        """The cells of the grid that the border touches: only there a point needs a closer look."""
        return frozenset(self._touched())

    def _touched(self) -> Iterator[int]:
        grid = self.grid
        side, columns, rows = grid.x.width / grid.x.cells, grid.x.cells, grid.y.cells
        for start, end in _edges(self.corners):
            (x, y), (to_x, to_y) = (((p[0] - grid.x.low) / side, (p[1] - grid.y.low) / side) for p in sorted((start, end)))
            bottom, top = min(y, to_y), max(y, to_y)
            for row in range(max(int(bottom) - 1, 0), min(int(top) + 1, rows - 1) + 1):
                # The part of the edge within the row, or all of it when it runs along the row.
                low, high = max(bottom, Fraction(row)), min(top, Fraction(row + 1))
                if low > high:
                    continue
                ends = [x, to_x] if y == to_y else [x + (to_x - x) * (at - y) / (to_y - y) for at in (low, high)]
                for column in range(max(int(min(ends)) - 1, 0), min(int(max(ends)) + 1, columns - 1) + 1):
                    yield row * columns + column

    @cached_property
    def _position(self) -> dict[int, int]:
        return {cell: index for index, cell in enumerate(self.inside)}

    @property
    def size(self) -> int:
        """Cells whose middles lie inside."""
        return len(self.inside)

    def encode(self, value: Any) -> int:
        """The cell of a point; a border cell whose middle is outside goes to the nearest one whose middle is inside."""
        pair = checked_pair(self, value)
        if not self._in_the_box(pair) or not self.holds(pair):
            raise self.refuse()
        return self.nearest(self.grid.encode(pair))

    def nearest(self, cell: int) -> int:
        """The number of a grid cell, or of the nearest cell inside (ties by position)."""
        index = self._position.get(cell)
        if index is not None:
            return index
        row, column = divmod(cell, self.grid.x.cells)
        reach = 1
        while True:
            near = [
                (r * r + c * c, (row + r) * self.grid.x.cells + column + c)
                for r in range(-reach, reach + 1)
                for c in range(-reach, reach + 1)
                if 0 <= column + c < self.grid.x.cells
            ]
            near = [(square, other) for square, other in near if square <= reach * reach and other in self._position]
            if near:
                return self._position[min(near)[1]]
            reach *= 2

    def _in_the_box(self, pair: Exact) -> bool:
        x, y = self.grid.x, self.grid.y
        return x.low <= pair[0] <= x.high and y.low <= pair[1] <= y.high

    def decode(self, index: int) -> Place:
        """The middle of a cell."""
        return self.grid.decode(self.inside[self.check_index(index)])

    def clip(self, value: Any) -> Any:
        """The point itself, or the nearest one on the border."""
        pair = checked_pair(self, value, CLIPPED)
        return value if self.holds(pair) else nearest_on_border(pair, self.corners)

    def recipe(self) -> dict[str, Any]:
        """Exact corners and cells."""
        return {"kind": self.kind, "corners": [[str(x), str(y)] for x, y in self.corners], "cells": self.cells}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Polygon:
        if set(fields) != {"corners", "cells"}:
            raise InvalidDomain("a polygon recipe has 'corners' and 'cells'")
        return cls(**fields)

    def __repr__(self) -> str:
        shown = ", ".join(f"({show_literal(x)}, {show_literal(y)})" for x, y in self.corners[:6])
        return f"Polygon([{shown}{', …' if len(self.corners) > 6 else ''}], cells={self.cells})"


def nearest_on_border(point: Exact, corners: Corners) -> Exact:
    """The point of the border nearest to a point outside (the first one, on a tie), exactly."""
    best, least = corners[0], None
    for (x, y), (to_x, to_y) in _edges(corners):
        across, up = to_x - x, to_y - y
        way = min(max(((point[0] - x) * across + (point[1] - y) * up) / (across**2 + up**2), Fraction(0)), Fraction(1))
        foot = (x + way * across, y + way * up)
        square = (foot[0] - point[0]) ** 2 + (foot[1] - point[1]) ** 2
        if least is None or square < least:
            best, least = foot, square
    return best


def _edges(corners: Corners) -> Iterator[tuple[Exact, Exact]]:
    return zip(corners, (*corners[1:], corners[0]), strict=True)


def _crossings(y: Fraction, corners: Corners) -> Iterator[Fraction]:
    """Where a horizontal line crosses the border, corners counted once."""
    for start, end in _edges(corners):
        if (start[1] > y) != (end[1] > y):
            yield start[0] + (end[0] - start[0]) * (y - start[1]) / (end[1] - start[1])


def _checked_corners(corners: Sequence[Sequence[Number]]) -> Corners:
    if isinstance(corners, str) or not isinstance(corners, Sequence) or not 3 <= len(corners) <= MOST_CORNERS:
        raise InvalidDomain(f"a polygon needs 3 to {MOST_CORNERS} corners")
    checked: list[Exact] = []
    for corner in corners:
        if isinstance(corner, str) or not isinstance(corner, Sequence) or len(corner) != 2:
            raise InvalidDomain("every corner must be a pair of numbers")
        checked.append((real_parameter("a corner", corner[0]), real_parameter("a corner", corner[1])))
        if not (fits_a_double(checked[-1][0]) and fits_a_double(checked[-1][1])):
            raise InvalidDomain("the coordinates of a corner must be below 1e300")
    exact = tuple(checked)
    if len(set(exact)) < len(exact):
        raise InvalidDomain("the corners of a polygon must differ; do not repeat the first one at the end")
    if _touches_itself(list(_edges(exact))):
        raise InvalidDomain("the border of a polygon must not cross or touch itself")
    return exact


def _turn(a: Exact, b: Exact, c: Exact) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _on(edge: tuple[Exact, Exact], point: Exact) -> bool:
    (x, y), (to_x, to_y) = edge
    inside = min(x, to_x) <= point[0] <= max(x, to_x) and min(y, to_y) <= point[1] <= max(y, to_y)
    return inside and _turn(*edge, point) == 0


def _touches_itself(edges: list[tuple[Exact, Exact]]) -> bool:
    """Do any two edges share a point they should not? Only edges above one another are compared."""
    order = sorted(range(len(edges)), key=lambda i: min(edges[i])[0])
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            if min(edges[j])[0] > max(edges[i])[0]:
                break
            if _meet(edges[i], edges[j], abs(i - j) in (1, len(edges) - 1)):
                return True
    return False


def _meet(first: tuple[Exact, Exact], second: tuple[Exact, Exact], neighbours: bool) -> bool:
    """Do two edges share a point, other than the corner between neighbours?"""
    if neighbours:
        shared = set(first) & set(second)
        return any(_on(first, point) for point in set(second) - shared) or any(_on(second, point) for point in set(first) - shared)
    if any(_on(first, point) for point in second) or any(_on(second, point) for point in first):
        return True
    crossing = (_turn(*first, second[0]) > 0) != (_turn(*first, second[1]) > 0)
    return crossing and (_turn(*second, first[0]) > 0) != (_turn(*second, first[1]) > 0)
