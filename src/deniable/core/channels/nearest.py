"""The cells of a region nearest to the true one: a disc that keeps its area at the border."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import isqrt
from typing import Any, NamedTuple

from deniable.core.channels.neighbourhood import Neighbourhood
from deniable.errors import InvalidParameter


class Reach(NamedTuple):
    """The cells nearer than `square` (a squared distance) are favoured, and the first `ties` of those exactly so far."""

    square: int
    ties: int


@dataclass(frozen=True)
class NearestCellSets(Neighbourhood):
    """S_x = the `members` cells of a region nearest to cell x, on a rows-by-columns grid.

    `inside_region` lists the grid cells (row * columns + column, growing) that form the region; None
    means all of them. Inputs and outputs are numbered within the region. Cells equally far away are taken by position.
    """

    rows: int
    columns: int
    members: int
    inside_region: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if self.inside_region is not None:
            object.__setattr__(self, "inside_region", tuple(self.inside_region))
        if not 0 < self.members < self.outputs:
            raise InvalidParameter(f"a neighbourhood must have at least 1 and fewer than {self.outputs} cells, got {self.members}")

    @cached_property
    def outputs(self) -> int:
        return self.rows * self.columns if self.inside_region is None else len(self.inside_region)

    @property
    def inputs(self) -> int:
        return self.outputs

    @cached_property
    def before(self) -> tuple[int, ...] | None:
        """How many cells of the region come before each grid cell, and in all; None when the region is the whole grid."""
        if self.inside_region is None:
            return None
        present = bytearray(self.rows * self.columns)
        for cell in self.inside_region:
            present[cell] = 1
        return tuple(accumulate(present, initial=0))

    @property
    def effort(self) -> int:
        return 4 + self.members // 8

    def place(self, index: int) -> tuple[int, int]:
        """Row and column of a cell."""
        return divmod(index if self.inside_region is None else self.inside_region[index], self.columns)

    def span(self, row: int, start: int, stop: int) -> tuple[int, int]:
        """The region's numbers of the cells start … stop-1 of a row, as a run: its first number and its end."""
        start, stop = row * self.columns + max(start, 0), row * self.columns + min(stop, self.columns)
        if start >= stop:
            return 0, 0
        return (start, stop) if self.before is None else (self.before[start], self.before[stop])

    def _spans(self, row: int, column: int, square: int) -> Iterator[tuple[int, int]]:
        """The cells within a squared distance, row by row, as runs of numbers."""
        reach = isqrt(square) if square >= 0 else -1
        for to_row in range(max(row - reach, 0), min(row + reach, self.rows - 1) + 1):
            half = isqrt(square - (to_row - row) ** 2)
            yield self.span(to_row, column - half, column + half + 1)

    def _within(self, row: int, column: int, square: int) -> int:
        return sum(stop - start for start, stop in self._spans(row, column, square))

    def reach(self, index: int) -> Reach:
        """How far S_index goes. Not remembered: the index of a draw is private."""
        row, column = self.place(index)
        low, high = -1, 1
        while self._within(row, column, high) < self.members:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._within(row, column, middle) < self.members else (low, middle)
        return Reach(high, self.members - self._within(row, column, high - 1))

    def _tied(self, row: int, column: int, reach: Reach) -> list[int]:
        """The favoured ones among the cells at exactly the last distance, in order."""
        furthest = isqrt(reach.square)
        tied: list[int] = []
        for to_row in range(max(row - furthest, 0), min(row + furthest, self.rows - 1) + 1):
            half = isqrt(reach.square - (to_row - row) ** 2)
            if half * half == reach.square - (to_row - row) ** 2:
                for to_column in (column - half, column + half) if half else (column,):
                    start, stop = self.span(to_row, to_column, to_column + 1) if to_column >= 0 else (0, 0)
                    tied += range(start, stop)
        return tied[: reach.ties]

    def _runs(self, index: int) -> list[tuple[int, int]]:
        """S_index as runs of numbers, growing."""
        row, column = self.place(index)
        reach = self.reach(index)
        runs = [run for run in self._spans(row, column, reach.square - 1) if run[0] < run[1]]
        return sorted(runs + [(cell, cell + 1) for cell in self._tied(row, column, reach)])

    def neighbours(self, index: int) -> list[int]:
        return [cell for run in self._runs(index) for cell in range(*run)]

    def inside(self, index: int, j: int) -> int:
        """The j-th cell of the neighbourhood, in the order of numbers."""
        for start, stop in self._runs(index):
            if j < stop - start:
                return start + j
            j -= stop - start
        raise InvalidParameter(f"a neighbourhood has {self.members} cells")

    def outside(self, index: int, j: int) -> int:
        """The j-th cell of the region, in order, that is not among the nearest."""
        for start, stop in self._runs(index):
            if j < start:
                break
            j += stop - start
        return j

    def compiled(self) -> dict[str, Any]:
        """The grid, the region and how many cells."""
        region = None if self.inside_region is None else list(self.inside_region)
        return {"set": "nearest", "rows": self.rows, "columns": self.columns, "members": self.members, "region": region}
