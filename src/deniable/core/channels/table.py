"""Any finite channel, as a matrix of integers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from deniable.core.channels.base import Channel
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

MOST_WEIGHTS = 1 << 22


@dataclass(frozen=True)
class Table(Channel):
    """Row x holds the weights of all outputs for input x; every row has the same sum.

    >>> Table([[3, 1], [2, 2]]).max_ratio()
    Fraction(2, 1)
    """

    rows: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        rows = tuple(tuple(row) for row in self.rows)
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise InvalidParameter("a table needs at least one row and rows of one length")
        if len(rows) * len(rows[0]) > MOST_WEIGHTS:
            raise InvalidParameter(f"a table holds at most {MOST_WEIGHTS} weights; use fewer inputs or outputs")
        if any(weight < 0 for row in rows for weight in row):
            raise InvalidParameter("weights cannot be negative")
        if len({sum(row) for row in rows}) != 1 or sum(rows[0]) == 0:
            raise InvalidParameter("all rows of a table must have the same positive sum")
        object.__setattr__(self, "rows", rows)

    @property
    def inputs(self) -> int:
        return len(self.rows)

    @property
    def outputs(self) -> int:
        return len(self.rows[0])

    @cached_property
    def total(self) -> int:
        return sum(self.rows[0])

    @cached_property
    def cumulative(self) -> tuple[tuple[int, ...], ...]:
        """Running sums of every row."""
        return tuple(tuple(accumulate(row)) for row in self.rows)

    def draw(self, index: int, coins: Coins) -> int:
        """The column whose running sum first exceeds the drawn integer."""
        return bisect_right(self.cumulative[index], coins.below(self.total))

    def weight(self, index: int, output: int) -> int:
        return self.rows[index][output]

    def row(self, index: int) -> Iterator[int]:
        return iter(self.rows[index])

    def mass(self, index: int, start: int, stop: int) -> int:
        row = self.cumulative[index]
        return (row[stop - 1] if stop else 0) - (row[start - 1] if start else 0)

    def possible(self, output: int) -> bool:
        return any(row[output] for row in self.rows)

    @cached_property
    def occurring(self) -> int:
        return sum(any(column) for column in zip(*self.rows, strict=True))

    @cached_property
    def _ratio(self) -> Fraction | None:
        worst = Fraction(1)
        for column in zip(*self.rows, strict=True):
            top, bottom = max(column), min(column)
            if bottom == 0 < top:
                return None
            # Cross-multiplied: building a Fraction for every column would reduce each one.
            if top * worst.denominator > worst.numerator * bottom:
                worst = Fraction(top, bottom)
        return worst

    def max_ratio(self) -> Fraction | None:
        """The largest column ratio; None when an output is impossible for some inputs only."""
        return self._ratio

    def compiled(self) -> dict[str, Any]:
        return {"kind": "table", "rows": [list(row) for row in self.rows]}


def level_rows(rows: Sequence[Sequence[int]], total: int) -> Table:
    """Scale rows of different sums to one sum: floor every weight, give what is left to the largest.

    The ratio between rows changes by about the relative size of one unit, so choose `total` large and
    check the result's `max_ratio` (mechanisms do).
    """
    levelled = []
    for row in rows:
        mass = sum(row)
        scaled = [weight * total // mass for weight in row]
        scaled[scaled.index(max(scaled))] += total - sum(scaled)
        levelled.append(scaled)
    return Table(levelled)
