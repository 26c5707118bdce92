"""The cells of a region nearest to the true one: a disc that keeps its area at the border."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from deniable.channels.sets import SetSystem
from deniable.errors import InvalidParameter


@lru_cache(maxsize=8)
def offsets(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """All (row, column) offsets within a grid, nearest first; ties by position."""
    everything = ((r, c) for r in range(1 - rows, rows) for c in range(1 - columns, columns))
    return tuple(sorted(everything, key=lambda o: (o[0] ** 2 + o[1] ** 2, o)))


@dataclass(frozen=True)
class NearestCells(SetSystem):
    """S_x = the `members` cells of a region nearest to cell x, on a rows-by-columns grid.

    `inside_region` lists the grid cells (row * columns + column, growing) that form the region; None
    means all of them. Inputs and outputs are numbered within the region.
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
    def outputs(self) -> int:  # type: ignore[override]
        """The cells of the region."""
        return self.rows * self.columns if self.inside_region is None else len(self.inside_region)

    @property
    def inputs(self) -> int:  # type: ignore[override]
        """The same cells."""
        return self.outputs

    @cached_property
    def _number(self) -> dict[int, int] | None:
        return None if self.inside_region is None else {cell: i for i, cell in enumerate(self.inside_region)}

    def place(self, index: int) -> tuple[int, int]:
        """Row and column of a cell."""
        return divmod(index if self.inside_region is None else self.inside_region[index], self.columns)

    def number(self, row: int, column: int) -> int | None:
        """The number of a cell, or None outside the region."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            return None
        cell = row * self.columns + column
        return cell if self._number is None else self._number.get(cell)

    def neighbours(self, index: int) -> list[int]:
        """S_index, nearest first. Not remembered: the index of a draw is private."""
        row, column = self.place(index)
        found: list[int] = []
        for r, c in offsets(self.rows, self.columns):
            cell = self.number(row + r, column + c)
            if cell is not None:
                found.append(cell)
                if len(found) == self.members:
                    break
        return found

    @lru_cache(maxsize=1024)  # noqa: B019 - only auditing and plotting ask this, about public indices
    def _members(self, index: int) -> frozenset[int]:
        return frozenset(self.neighbours(index))

    def contains(self, index: int, output: int) -> bool:
        """Is the cell among the nearest?"""
        return output in self._members(index)

    def inside(self, index: int, j: int) -> int:
        """The j-th nearest cell."""
        return self.neighbours(index)[j]

    def outside(self, index: int, j: int) -> int:
        """The j-th cell of the region, in order, that is not among the nearest."""
        near = sorted(self.neighbours(index))
        low, high = j, j + self.members
        # Seen from a cell y off the neighbourhood, y - #(near <= y) is its rank among such cells.
        while low < high:
            middle = (low + high) // 2
            if middle - bisect_right(near, middle) < j:
                low = middle + 1
            else:
                high = middle
        return low

    def compiled(self) -> dict[str, Any]:
        """The grid, the region and how many cells."""
        region = None if self.inside_region is None else list(self.inside_region)
        return {"set": "nearest", "rows": self.rows, "columns": self.columns, "members": self.members, "region": region}
