"""The law of direction and distance seen from one fixed reference, between blocks of the region and groups of reports."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from deniable.batch import Floats, Integers, StepKernel
from deniable.core import DirectionDistance, TwoLevel
from deniable.estimators import dense

DIRECTIONS, DISTANCES = 96, 48
"""Groups that reports are told apart by, at most."""
POINTS = 8
"""Points along a side that stand for a block."""
ROWS = 256


class ReferenceLaw:
    """Probabilities of groups of reports, for places spread evenly over a block. Blocks are given in shares of the sides."""

    def __init__(self, channel: DirectionDistance) -> None:
        self.view, self._kernel = channel.view, StepKernel(channel)
        self._parts = (channel.direction, channel.distance)
        self.groups: tuple[Integers, Integers] = (
            _grouped(channel.direction.outputs, DIRECTIONS),
            _grouped(channel.distance.outputs, DISTANCES),
        )
        """The group of every direction and of every distance."""

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        return _table(self._parts[0], self.groups[0]), _table(self._parts[1], self.groups[1])

    def mixed(self, left: float, lower: float, right: float, upper: float) -> Floats:
        """For a block between these shares of the region's sides; directions outermost."""
        share = (np.arange(POINTS) + 0.5) / POINTS
        columns = np.minimum((left + (right - left) * share) * self.view.columns, self.view.columns - 1).astype(np.int64)
        rows = np.minimum((lower + (upper - lower) * share) * self.view.rows, self.view.rows - 1).astype(np.int64)
        indices = (rows[:, None] * self.view.columns + columns).ravel()
        turns, shares = self._kernel.polar(indices)
        first, second = self._tables
        return np.asarray((first[turns].T @ second[shares]).ravel() / len(indices))

    def of_cells(self, columns: int, rows: int, groups: tuple[Integers, Integers]) -> tuple[Floats, Floats]:
        """For the middle of every cell of a grid, row by row: the probabilities of groups of directions, and of distances."""
        across = np.minimum((np.arange(columns) + 0.5) / columns * self.view.columns, self.view.columns - 1).astype(np.int64)
        up = np.minimum((np.arange(rows) + 0.5) / rows * self.view.rows, self.view.rows - 1).astype(np.int64)
        turns, shares = self._kernel.polar((up[:, None] * self.view.columns + across).ravel())
        first, second = (
            np.add.reduceat(table, np.flatnonzero(np.diff(wider[np.flatnonzero(np.diff(own, prepend=-1))], prepend=-1)), axis=1)
            for table, own, wider in zip(self._tables, self.groups, groups, strict=True)
        )
        return np.ascontiguousarray(first[turns]), np.ascontiguousarray(second[shares])


@lru_cache(maxsize=4)
def reference_law(channel: DirectionDistance) -> ReferenceLaw:
    """The law of a channel; its tables serve all maps of its reports."""
    return ReferenceLaw(channel)


def _grouped(outputs: int, most: int) -> Integers:
    return np.arange(outputs) * min(outputs, most) // outputs


def _table(channel: TwoLevel, groups: Integers) -> Floats:
    """Probabilities of the groups, a row per input."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    inputs = np.arange(channel.inputs)
    parts = [np.add.reduceat(dense(channel, inputs[i : i + ROWS]), starts, axis=1) for i in range(0, len(inputs), ROWS)]
    return np.concatenate(parts)
