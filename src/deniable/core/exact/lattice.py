"""Lattices: how a real position becomes an integer index.

A position is a fraction t of the way through a domain, 0 <= t <= 1. A `Grid` turns it into an index,
exactly: no rounding error can move a value across a boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.core.exact.numbers import show_fraction
from deniable.errors import InvalidParameter

DEFAULT_CELLS = 1 << 20
MOST_CELLS = 1 << 26
"""Above this, an exact draw would need integers the batch kernels do not hold."""


@dataclass(frozen=True)
class Grid:
    """index = floor(t * steps + shift), at most `last`.

    `cells(n)` cuts [0, 1] into n equal cells; `points(n)` rounds to the nearest of n + 1 points,
    both ends included.

    >>> cells(4).index(Fraction(1, 2)), points(4).index(Fraction(9, 16)), cells(4).index(Fraction(1))
    (2, 2, 3)
    """

    steps: int
    shift: Fraction
    last: int

    def index(self, position: Fraction) -> int:
        """The index of a position in [0, 1]."""
        scaled = position * self.steps + self.shift
        return min(scaled.numerator // scaled.denominator, self.last)

    @property
    def size(self) -> int:
        """How many indices there are."""
        return self.last + 1

    def position(self, index: int) -> Fraction:
        """The position an index stands for: a cell's middle, or the point itself."""
        return (index + Fraction(1, 2) - self.shift) / self.steps


def cells(count: int) -> Grid:
    """`count` equal cells; the last one includes the upper end."""
    check_count("cells", count)
    return Grid(steps=count, shift=Fraction(0), last=count - 1)


def points(count: int) -> Grid:
    """`count + 1` equally spaced points, both ends included; a position goes to the nearest one."""
    return Grid(steps=count, shift=Fraction(1, 2), last=count)


def check_count(name: str, count: object) -> int:
    """Refuse lattices that are not a whole number of cells, at least 2 and at most 2**26."""
    if isinstance(count, bool) or not isinstance(count, int):
        raise InvalidParameter(f"{name} must be a whole number, got {type(count).__name__}")
    if not 2 <= count <= MOST_CELLS:
        raise InvalidParameter(f"{name} must lie between 2 and {MOST_CELLS}, got {show_fraction(Fraction(count))}")
    return count
