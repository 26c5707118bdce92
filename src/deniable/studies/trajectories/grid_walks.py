"""Paths as walks on a coarse grid: every step goes to one of the eight neighbours, jumps are filled in straight.

All in whole numbers: between the cells of two successive places a walk takes as many steps as the larger of the
row and the column difference, and stands after j of n steps at the nearest whole parts j/n of the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.batch import Integers, encode_many
from deniable.core import Rectangle, make_mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.trajectories.paths import Paths

NEIGHBOURS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


@dataclass(frozen=True, eq=False)
class GridMoves:
    """All steps from a cell of a grid to one of its neighbours, numbered."""

    rows: int
    columns: int

    @cached_property
    def pairs(self) -> Integers:
        """From and to, a row per step, by the cell it leaves."""
        steps = [
            (r * self.columns + c, (r + down) * self.columns + c + across)
            for r in range(self.rows)
            for c in range(self.columns)
            for down, across in NEIGHBOURS
            if 0 <= r + down < self.rows and 0 <= c + across < self.columns
        ]
        return np.array(steps, np.int64).reshape(-1, 2)

    @cached_property
    def first(self) -> Integers:
        """Where each cell's own steps begin, and the end."""
        return np.searchsorted(self.pairs[:, 0], np.arange(self.rows * self.columns + 1))

    def number(self, start: int, end: int) -> int:
        """The number of a step."""
        own = self.pairs[self.first[start] : self.first[start + 1], 1]
        return int(self.first[start]) + int(np.searchsorted(own, end))

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, eq=False)
class Walks:
    """Many walks: the cells of all places, path after path, and how many steps lie between successive ones."""

    cells: Integers
    starts: Integers
    columns: int

    @classmethod
    def of(cls, paths: Paths, region: Rectangle) -> Walks:
        """The walks of paths on a region's grid, by the exact cells of their places."""
        if len(paths) and int(paths.lengths.min()) == 0:
            raise OutOfDomain("an empty path has nothing to report; leave it out")
        encoding = make_mechanism("nearest-cells", domain=region, epsilon=1)
        return cls(np.asarray(encode_many(encoding, paths.places), np.int64), paths.starts, region.x.cells)

    @cached_property
    def steps(self) -> Integers:
        """Steps from each place to the next; 0 at the last place of a path."""
        row, column = np.divmod(self.cells, self.columns)
        apart = np.zeros(len(self.cells), np.int64)
        apart[:-1] = np.maximum(np.abs(np.diff(row)), np.abs(np.diff(column)))
        apart[self.starts[1:] - 1] = 0
        return apart

    @cached_property
    def _before(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.steps)])

    @cached_property
    def lengths(self) -> Integers:
        """How many cells each walk visits, counted as often as it does."""
        return np.asarray(self._before[self.starts[1:]] - self._before[self.starts[:-1]] + 1)

    def step(self, path: int, number: int) -> tuple[int, int]:
        """The cells before and after one step of a walk."""
        if not 0 <= number < self.lengths[path] - 1:
            raise InvalidParameter("the walk does not have that many steps")
        at = int(self._before[self.starts[path]]) + number
        place = int(np.searchsorted(self._before, at, "right")) - 1
        done = at - int(self._before[place])
        return self._between(place, done), self._between(place, done + 1)

    def _between(self, place: int, done: int) -> int:
        steps = int(self.steps[place])
        (row, column), (to_row, to_column) = (divmod(int(self.cells[place + i]), self.columns) for i in (0, 1))
        down, across = ((2 * done * (b - a) + steps) // (2 * steps) for a, b in ((row, to_row), (column, to_column)))
        return (row + down) * self.columns + column + across

    def cell(self, path: int, last: bool) -> int:
        """The first or the last cell of a walk."""
        return int(self.cells[self.starts[path + 1] - 1 if last else self.starts[path]])
