"""Nearest cells: a disc of fixed area that follows the border of its region."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.arrays import Integers
from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, acceptance, output_dtype, random_words, word
from deniable.batch.wide import multiply_high
from deniable.core import NearestCellSets, TwoLevel


@njit(nogil=True, cache=True)
def _within(row, column, square, rows, columns, before, half_width):  # type: ignore[no-untyped-def]
    """How many cells of the region lie within a squared distance: row by row, by running counts."""
    if square < 0:
        return 0
    reach = half_width[square]
    count = 0
    for to_row in range(max(row - reach, 0), min(row + reach, rows - 1) + 1):
        half = half_width[square - (to_row - row) * (to_row - row)]
        start = to_row * columns + max(column - half, 0)
        stop = to_row * columns + min(column + half, columns - 1) + 1
        count += before[stop] - before[start]
    return count


@njit(nogil=True, cache=True)
def _squares(places, squares, members, whole, rows, columns, before, half_width):  # type: ignore[no-untyped-def]
    """squares[i] = the least squared distance within which cell i meets `members` cells of the region.

    Found by bisection, beginning with that of the cell before. A whole grid is its own mirror image.
    """
    guess = np.int64(1)
    for i in range(places.shape[0]):
        row, column = places[i, 0], places[i, 1]
        if whole:
            mirrored = min(row, rows - 1 - row) * columns + min(column, columns - 1 - column)
            if mirrored < i:
                squares[i] = squares[mirrored]
                continue
        step = np.int64(1)
        low, high = guess, guess
        if _within(row, column, guess, rows, columns, before, half_width) >= members:
            low = guess - 1
            while low >= 0 and _within(row, column, low, rows, columns, before, half_width) >= members:
                step *= 2
                high, low = low, max(low - step, np.int64(-1))
        else:
            high = guess + 1
            while _within(row, column, high, rows, columns, before, half_width) < members:
                step *= 2
                low, high = high, min(high + step, half_width.size - 1)
        while high - low > 1:
            middle = (low + high) // 2
            if _within(row, column, middle, rows, columns, before, half_width) < members:
                low = middle
            else:
                high = middle
        guess = high
        squares[i] = high


@njit(nogil=True, cache=True)
def _reaches(  # type: ignore[no-untyped-def]
    places, squares, reach, members, numbers, rows, columns, row_offsets, column_offsets, before, half_width, first
):
    """reach[i] = how many of the sorted offsets it takes to meet `members` cells of the region.

    `first[d]` is the first offset at squared distance d or more; only the cells that tie are counted one by one.
    """
    for i in range(places.shape[0]):
        row, column = places[i, 0], places[i, 1]
        left = members - _within(row, column, squares[i] - 1, rows, columns, before, half_width)
        j = first[squares[i]]
        while left > 0:
            to_row, to_column = row + row_offsets[j], column + column_offsets[j]
            if 0 <= to_row < rows and 0 <= to_column < columns and numbers[to_row * columns + to_column] >= 0:
                left -= 1
            j += 1
        reach[i] = j


@njit(nogil=True, cache=True)
def _nearest(  # type: ignore[no-untyped-def]
    words, indices, inside, out, pending, reach, cells, places, numbers, rows, columns, row_offsets, column_offsets, rank
):
    """One attempt per report: an offset within reach, or a cell of the region beyond it."""
    rejected = 0
    for i in range(indices.size):
        x = indices[i]
        row, column = places[x, 0], places[x, 1]
        bound = np.uint64(reach[x]) if inside[i] else np.uint64(cells)
        accepted = words[i] * bound >= (~bound + np.uint64(1)) % bound
        pick = np.int64(multiply_high(words[i], bound))
        if inside[i]:
            to_row = row + row_offsets[pick]
            to_column = column + column_offsets[pick]
            cell = np.int64(-1)
            if 0 <= to_row < rows and 0 <= to_column < columns:
                cell = numbers[to_row * columns + to_column]
            accepted = accepted and cell >= 0
        else:
            cell = pick
            step = (places[cell, 0] - row + rows - 1) * (2 * columns - 1) + places[cell, 1] - column + columns - 1
            accepted = accepted and rank[step] >= reach[x]
        if accepted:
            out[i] = cell
        else:
            pending[rejected] = i
            rejected += 1
    return rejected


class NearestSampler(Sampler):
    """The level is drawn once; only the cell is tried again, so that rejection cannot shift the level."""

    def __init__(self, channel: TwoLevel, sets: NearestCellSets) -> None:
        self.cells = sets.outputs
        self._level = (*acceptance(channel.total), word(channel.favoured))
        row_offsets, column_offsets, rank, first = sorted_offsets(sets.rows, sets.columns)
        region = np.arange(self.cells) if sets.inside_region is None else np.array(sets.inside_region, np.int64)
        numbers = np.full(sets.rows * sets.columns, -1, np.int64)
        numbers[region] = np.arange(self.cells)
        self._grid = (numbers, sets.rows, sets.columns, row_offsets, column_offsets)
        self._places = np.stack([region // sets.columns, region % sets.columns], axis=1)
        self._rank = rank
        before = np.concatenate([[0], np.cumsum(numbers >= 0)])
        half_width = _roots(len(first))
        squares: Integers = np.empty(self.cells, np.int64)
        self._reach: Integers = np.empty(self.cells, np.int64)
        sizes = (sets.rows, sets.columns)
        _squares(self._places, squares, sets.members, sets.inside_region is None, *sizes, before, half_width)
        _reaches(self._places, squares, self._reach, sets.members, *self._grid, before, half_width, first)

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.cells))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """A word for the level, then words for the cell until one is accepted."""
        inside = self._levels(len(indices), keystream)
        places = np.arange(len(indices))
        while len(places):
            picked = np.empty(len(places), out.dtype)
            left = np.empty(len(places), np.int64)
            words = random_words(keystream, len(places))
            count = _nearest(
                words,
                indices[places],
                inside[places],
                picked,
                left,
                self._reach,
                self.cells,
                self._places,
                *self._grid,
                self._rank,
            )
            out[places] = picked
            places = places[left[:count]]

    def _levels(self, count: int, keystream: Keystream) -> NDArray[np.bool_]:
        inside = np.empty(count, np.bool_)
        places = np.arange(count)
        while len(places):
            drawn = np.empty(len(places), np.bool_)
            left = np.empty(len(places), np.int64)
            rejected = _level(random_words(keystream, len(places)), drawn, left, *self._level)
            inside[places] = drawn
            places = places[left[:rejected]]
        return inside


def sorted_offsets(rows: int, columns: int) -> tuple[Integers, Integers, Integers, Integers]:
    """All offsets within a grid, nearest first and ties by position: their rows, their columns, each one's rank by
    position, and the first one at every squared distance or beyond."""
    across, up = np.meshgrid(np.arange(1 - columns, columns), np.arange(1 - rows, rows))
    squares = (up * up + across * across).ravel()
    order = np.argsort(squares, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    first = np.searchsorted(squares[order], np.arange(int(squares.max()) + 2))
    return up.ravel()[order], across.ravel()[order], rank, first.astype(np.int64)


def _roots(count: int) -> Integers:
    """Whole square roots of 0 … count-1, exactly."""
    numbers = np.arange(count, dtype=np.int64)
    roots = np.sqrt(numbers).astype(np.int64)
    roots -= roots * roots > numbers
    return roots + ((roots + 1) * (roots + 1) <= numbers)


@njit(nogil=True, cache=True)
def _level(words, inside, pending, total, threshold, favoured):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(words.size):
        inside[i] = multiply_high(words[i], total) < favoured
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected
