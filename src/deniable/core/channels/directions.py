"""Directions in the plane as integers: which of many equal angles a vector lies in, by cross products alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.errors import InvalidParameter

SCALE = 1 << 30
"""The longer half axis of the table's vectors. Cross products with lattice vectors below 2**15 fit 64 bits."""
MOST_ASPECT = 1 << 16
BITS = 160
PI = 31415926535897932384626433832795028841971693993751 << BITS
PI_UNIT = 10**49


@dataclass(frozen=True)
class Directions:
    """`cells` equal angles around a point of a lattice whose cells need not be square.

    Angle k begins at the vector number k. `across` and `up` are the vectors of the first quarter, both ends included, in
    units of the lattice; the others are their mirror images. The table is public: it has nothing to do with any secret.

    >>> quarter = Directions.at(8, Fraction(1))
    >>> [quarter.cell(*v) for v in ((1, 0), (2, 1), (1, 1), (0, 3), (-1, 0), (0, -1), (5, -1))]
    [0, 0, 1, 2, 4, 6, 7]
    """

    cells: int
    across: Sequence[int]
    up: Sequence[int]

    @classmethod
    def at(cls, cells: int, aspect: Fraction) -> Directions:
        """The table for lattice cells that are `aspect` times as wide as high."""
        if cells < 4 or cells % 4:
            raise InvalidParameter("direction_cells must be a multiple of 4, at least 4")
        if not Fraction(1, MOST_ASPECT) <= aspect <= MOST_ASPECT:
            raise InvalidParameter(f"domain: the cells may be at most {MOST_ASPECT} times as wide as high, and the other way round")
        # A wide cell makes horizontal steps count for more: the vectors, in cells, are shorter across.
        across, up = min(1 / aspect, Fraction(1)) * SCALE, min(aspect, Fraction(1)) * SCALE
        quarter = _quarter_circle(cells)
        return cls(cells, tuple(_scaled(c, across) for c, _ in quarter), tuple(_scaled(s, up) for _, s in quarter))

    @cached_property
    def half(self) -> tuple[tuple[int, int], ...]:
        """The vectors of the upper half, from straight right to straight left."""
        quarter = list(zip(self.across, self.up, strict=True))
        return (*quarter, *((-x, y) for x, y in reversed(quarter[:-1])))

    def cell(self, across: int, up: int) -> int:
        """The angle a vector lies in, counted from the right and anticlockwise; the zero vector goes to angle 0."""
        if across == up == 0:
            return 0
        base = 0
        if up < 0 or (up == 0 and across < 0):
            across, up, base = -across, -up, self.cells // 2
        low, high = 0, self.cells // 2
        while high - low > 1:
            middle = (low + high) // 2
            x, y = self.half[middle]
            low, high = (middle, high) if x * up >= y * across else (low, middle)
        return base + low

    def middle(self, cell: int) -> tuple[int, int]:
        """A vector in the middle of an angle: the sum of its two sides."""
        turned, cell = divmod(cell, self.cells // 2)
        (x, y), (to_x, to_y) = self.half[cell], self.half[cell + 1]
        return (-x - to_x, -y - to_y) if turned else (x + to_x, y + to_y)

    def compiled(self) -> dict[str, Any]:
        """The first quarter's vectors."""
        return {"cells": self.cells, "across": list(self.across), "up": list(self.up)}


def _quarter_circle(cells: int) -> list[tuple[int, int]]:
    """Cosine and sine of k / cells of a turn, k = 0 … cells / 4, times 2**BITS: integers only, the same on every machine."""
    one = 1 << BITS
    step = 2 * PI // (PI_UNIT * cells)
    cosine, sine, term, order = 0, 0, one, 0
    while term:
        sign = -1 if order % 4 >= 2 else 1
        if order % 2 == 0:
            cosine += sign * term
        else:
            sine += sign * term
        order += 1
        term = term * step // (order * one)
    corners = [(one, 0)]
    for _ in range(cells // 4 - 1):
        c, s = corners[-1]
        corners.append(((c * cosine - s * sine) // one, (s * cosine + c * sine) // one))
    return [*corners, (0, one)]


def _scaled(value: int, factor: Fraction) -> int:
    """value / 2**BITS times a factor, to the nearest whole number."""
    return (2 * value * factor.numerator + (factor.denominator << BITS)) // (2 * factor.denominator << BITS)
