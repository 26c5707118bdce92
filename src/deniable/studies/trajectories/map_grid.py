"""The public grid of a map: which of its cells lie in the region, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.batch import Flags, Floats, Integers
from deniable.errors import InvalidParameter


@dataclass(frozen=True, eq=False)
class MapGrid:
    """Rows and columns between `y_edges` and `x_edges`; `inside` says which cells hold a part of the region.

    Shares are given for the cells inside only, row by row from the lower left.
    """

    x_edges: Floats
    y_edges: Floats
    inside: Flags
    wraps: bool = False
    """Is the last column next to the first, as on a globe?"""

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.y_edges) - 1

    @property
    def columns(self) -> int:
        """How many columns."""
        return len(self.x_edges) - 1

    @cached_property
    def cells(self) -> Integers:
        """The cells inside, as row * columns + column."""
        return np.flatnonzero(self.inside.ravel())

    @cached_property
    def numbers(self) -> Integers:
        """The number of every cell among those inside, or -1; rows by columns."""
        numbered = np.full(self.rows * self.columns, -1, np.int64)
        numbered[self.cells] = np.arange(len(self.cells))
        return numbered.reshape(self.rows, self.columns)

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def bounds(self) -> Floats:
        """Left, lower, right and upper side of every cell inside."""
        row, column = np.divmod(self.cells, self.columns)
        return np.stack([self.x_edges[column], self.y_edges[row], self.x_edges[column + 1], self.y_edges[row + 1]], axis=1)

    @property
    def labels(self) -> list[tuple[float, float]]:
        """The middle of every cell inside."""
        middles = (self.bounds[:, :2] + self.bounds[:, 2:]) / 2
        return [(float(x), float(y)) for x, y in middles]

    def table(self, shares: Floats) -> Floats:
        """Values of the cells inside as rows by columns, nan elsewhere."""
        values = np.full(self.rows * self.columns, np.nan)
        values[self.cells] = shares
        return values.reshape(self.rows, self.columns)

    def numbered(self, places: Floats) -> Integers:
        """The number of the cell of each place, -1 outside."""
        columns = np.searchsorted(self.x_edges, places[:, 0], "right") - 1
        rows = np.searchsorted(self.y_edges, places[:, 1], "right") - 1
        columns = np.where(places[:, 0] == self.x_edges[-1], self.columns - 1, columns)
        rows = np.where(places[:, 1] == self.y_edges[-1], self.rows - 1, rows)
        good = (columns >= 0) & (columns < self.columns) & (rows >= 0) & (rows < self.rows)
        return np.where(good, self.numbers[np.where(good, rows, 0), np.where(good, columns, 0)], -1)

    def covered(self, low: tuple[float, float], high: tuple[float, float]) -> Floats:
        """Which part of every cell lies in a rectangle."""
        if not (np.isfinite([*low, *high]).all() and low[0] <= high[0] and low[1] <= high[1]):
            raise InvalidParameter("a range is given by its lower left and its upper right corner, finite numbers")
        left, lower, right, upper = self.bounds.T
        across = np.minimum(right, high[0]) - np.maximum(left, low[0])
        up = np.minimum(upper, high[1]) - np.maximum(lower, low[1])
        return np.asarray(np.maximum(across, 0) * np.maximum(up, 0) / ((right - left) * (upper - lower)))

    def coarser(self, factor: int) -> tuple[MapGrid, Floats]:
        """The map of `factor` by `factor` cells put together, and the matrix that adds up their shares."""
        rows, columns = self.rows // factor, self.columns // factor
        inside = np.asarray(self.inside.reshape(rows, factor, columns, factor).any(axis=(1, 3)), np.bool_)
        grid = MapGrid(self.x_edges[::factor], self.y_edges[::factor], inside, self.wraps)
        row, column = np.divmod(self.cells, self.columns)
        adding = np.zeros((len(grid), len(self)))
        adding[grid.numbers[row // factor, column // factor], np.arange(len(self))] = 1.0
        return grid, adding

    def smoothing(self) -> Floats:
        """(1, 2, 1)/4 along rows and then along columns, as a matrix; what would leave the region stays. Columns add up to 1."""
        return self._along(1, 0) @ self._along(0, 1)

    def _along(self, down: int, across: int) -> Floats:
        count = len(self)
        smoothing = 0.5 * np.eye(count)
        row, column = np.divmod(self.cells, self.columns)
        for sign in (-1, 1):
            to_row, to_column = row + sign * down, column + sign * across
            if self.wraps:
                to_column = to_column % self.columns
            good = (to_row >= 0) & (to_row < self.rows) & (to_column >= 0) & (to_column < self.columns)
            target = np.where(good, self.numbers[np.where(good, to_row, 0), np.where(good, to_column, 0)], -1)
            target = np.where(target >= 0, target, np.arange(count))
            np.add.at(smoothing, (target, np.arange(count)), 0.25)
        return smoothing


def map_shape(cells: int | tuple[int, int], width: float, height: float) -> tuple[int, int]:
    """Rows and columns: given as (columns, rows), or as the number along the longer side for nearly square cells.

    >>> map_shape(16, 2.0, 1.0), map_shape((3, 5), 1.0, 1.0)
    ((8, 16), (5, 3))
    """
    pair = cells if isinstance(cells, tuple) else None
    if pair is None:
        if isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
            raise InvalidParameter("cells must be a whole number along the longer side, or a pair (columns, rows)")
        longer = max(width, height)
        pair = (max(1, round(cells * width / longer)), max(1, round(cells * height / longer)))
    if len(pair) != 2 or not all(isinstance(one, int) and not isinstance(one, bool) and one >= 1 for one in pair):
        raise InvalidParameter("cells must be a whole number along the longer side, or a pair (columns, rows)")
    return pair[1], pair[0]
