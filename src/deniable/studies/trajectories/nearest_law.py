"""The law of nearest-cells without its matrix: every favoured set is a stretch of columns in each row it touches.

A set holds all cells nearer than some squared distance and the first few at exactly that distance, in the
order of their positions. In one row that is an interval, also with some of the farthest ones, which lie at its ends.
Sums over sets are differences of prefix sums, row by row: for 65,536 cells some 10**7 steps, not 10**9.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from deniable.batch import Floats, Integers
from deniable.core import NearestCells


class NearestLaw:
    """Sums over the favoured sets of a nearest-cells channel, for values on its grid."""

    def __init__(self, mechanism: NearestCells) -> None:
        channel, sets = mechanism.channel, mechanism.sets
        self.rows, self.columns, self.size = sets.rows, sets.columns, sets.outputs
        self.low = channel.low / channel.total
        self.gain = (channel.high - channel.low) / channel.total
        self.cells: Integers = np.arange(self.size) if sets.inside_region is None else np.array(sets.inside_region, np.int64)
        """The grid cell of every input and output."""
        region = np.zeros(self.rows * self.columns)
        region[self.cells] = 1.0
        self._region = region.reshape(self.rows, self.columns)
        sums = np.concatenate([np.zeros((self.rows, 1)), np.cumsum(self._region, axis=1)], axis=1)
        self._reach: Integers = np.empty((self.size, 2), np.int64)
        """The squared distance up to which cells are favoured, and how many at exactly that distance."""
        _reaches(self.cells, sums, self._region, sets.members, self._reach)

    def chances(self, shares: Floats) -> Floats:
        """The chance of every output when inputs have these shares."""
        steps = np.zeros((self.rows, self.columns + 1))
        _scatter(self.cells, self._reach, self._region, shares, steps)
        favoured = np.cumsum(steps, axis=1)[:, :-1].ravel()[self.cells]
        return np.asarray(self.low * shares.sum() + self.gain * favoured)

    def averages(self, values: Floats) -> Floats:
        """For every input, the expectation of a value of the output."""
        grid = np.zeros(self.rows * self.columns)
        grid[self.cells] = values
        sums = np.concatenate([np.zeros((self.rows, 1)), np.cumsum(grid.reshape(self.rows, -1), axis=1)], axis=1)
        favoured = np.empty(self.size)
        _gather(self.cells, self._reach, self._region, sums, favoured)
        return np.asarray(self.low * values.sum() + self.gain * favoured)

    def between(self, inputs: Integers, outputs: Integers) -> Floats:
        """Probabilities from groups of inputs, evenly mixed, to groups of outputs; both name the group of every cell."""
        order = np.argsort(inputs, kind="stable")
        sizes = np.bincount(inputs)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        groups = int(outputs.max()) + 1
        return np.array([self.mixed(order[starts[j] : starts[j + 1]], outputs, groups) for j in range(len(sizes))])

    def mixed(self, inputs: Integers, outputs: Integers, groups: int) -> Floats:
        """Probabilities from some inputs, evenly mixed, to groups of outputs; empty when there are no inputs."""
        if not len(inputs):
            return np.empty(0)
        steps = np.zeros((self.rows, self.columns + 1))
        _scatter(self.cells[inputs], self._reach[inputs], self._region, np.ones(len(inputs)), steps)
        favoured = (np.cumsum(steps, axis=1)[:, :-1] * self._region).ravel()[self.cells]
        sums = np.bincount(outputs, self.low * len(inputs) + self.gain * favoured, minlength=groups)
        return np.asarray(sums / len(inputs))


@njit(nogil=True, cache=True)
def _root(square):  # type: ignore[no-untyped-def]
    """The whole root, rounded down; -1 of negative numbers."""
    if square < 0:
        return -1
    root = np.int64(np.sqrt(np.float64(square)))
    while root * root > square:
        root -= 1
    while (root + 1) * (root + 1) <= square:
        root += 1
    return root


@njit(nogil=True, cache=True)
def _stretch(row, column, step, square, left, region):  # type: ignore[no-untyped-def]
    """The columns start … end-1 of a set in the row `step` rows away, and how many of the farthest cells are left to take."""
    here, columns = row + step, region.shape[1]
    half = _root(square - 1 - step * step)
    start, end = column - half, column + half + 1
    rest = square - step * step
    far = _root(rest) if left > 0 else np.int64(-1)
    if far >= 0 and far * far == rest:
        if column - far >= 0 and region[here, column - far] > 0:
            start, end = column - far, max(end, column - far + 1)
            left -= 1
        if far > 0 and left > 0 and column + far < columns and region[here, column + far] > 0:
            end = column + far + 1
            left -= 1
    return max(start, 0), min(end, columns), left


@njit(nogil=True, cache=True)
def _covered(row, column, square, ties, region, sums):  # type: ignore[no-untyped-def]
    """What `sums` adds up over one set."""
    covered, left = 0.0, ties
    reach = _root(square)
    for here in range(max(row - reach, 0), min(row + reach, region.shape[0] - 1) + 1):
        start, end, left = _stretch(row, column, here - row, square, left, region)
        if end > start:
            covered += sums[here, end] - sums[here, start]
    return covered


@njit(nogil=True, cache=True)
def _reaches(cells, sums, region, members, reaches):  # type: ignore[no-untyped-def]
    """The least squared distance within which there are `members` cells, by bisection, and how many of the last ring."""
    rows, columns = region.shape
    most = np.int64(rows * rows + columns * columns)
    guess = np.int64(1)
    for i in range(cells.size):
        row, column = cells[i] // columns, cells[i] % columns
        # Up to `low` there are too few, up to `high` enough; begin where the cell before ended, with growing steps.
        low, high, step = np.int64(-1), most, _root(guess) + 1
        middle = guess
        while high - low > 1:
            # Nearer than middle + 1 is up to middle.
            if _covered(row, column, middle + 1, 0, region, sums) >= members - 0.5:
                high = middle
                middle = max(middle - step, (low + high) // 2 if low >= 0 else np.int64(0))
            else:
                low = middle
                middle = min(middle + step, (low + high) // 2 if high < most else most - 1)
            step *= 2
            if low >= 0 and high < most:
                middle = (low + high) // 2
        guess = high
        reaches[i, 0] = high
        reaches[i, 1] = members - np.int64(_covered(row, column, high, 0, region, sums) + 0.5)


@njit(nogil=True, cache=True)
def _scatter(cells, reaches, region, shares, steps):  # type: ignore[no-untyped-def]
    """Add every input's share where its set's stretches begin, and take it away behind their ends."""
    rows, columns = region.shape
    for i in range(cells.size):
        if shares[i] == 0.0:
            continue
        row, column = cells[i] // columns, cells[i] % columns
        square, left = reaches[i]
        reach = _root(square)
        for here in range(max(row - reach, 0), min(row + reach, rows - 1) + 1):
            start, end, left = _stretch(row, column, here - row, square, left, region)
            if end > start:
                steps[here, start] += shares[i]
                steps[here, end] -= shares[i]


@njit(nogil=True, cache=True)
def _gather(cells, reaches, region, sums, favoured):  # type: ignore[no-untyped-def]
    columns = region.shape[1]
    for i in range(cells.size):
        favoured[i] = _covered(cells[i] // columns, cells[i] % columns, reaches[i, 0], reaches[i, 1], region, sums)
