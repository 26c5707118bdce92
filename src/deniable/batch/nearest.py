"""Nearest cells: a disc of fixed area that follows the border of its region."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, acceptance, output_dtype, random_words, word
from deniable.batch.wide import multiply_high
from deniable.channels import TwoLevel
from deniable.channels.nearest import NearestCells, offsets


@njit(nogil=True, cache=True)
def _reaches(places, reach, members, numbers, rows, columns, row_offsets, column_offsets):  # type: ignore[no-untyped-def]
    """reach[i] = how many of the sorted offsets it takes to meet `members` cells of the region."""
    for i in range(places.shape[0]):
        found = 0
        j = 0
        while found < members:
            row = places[i, 0] + row_offsets[j]
            column = places[i, 1] + column_offsets[j]
            if 0 <= row < rows and 0 <= column < columns and numbers[row * columns + column] >= 0:
                found += 1
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

    def __init__(self, channel: TwoLevel) -> None:
        sets = channel.sets
        assert isinstance(sets, NearestCells)
        self.cells = sets.outputs
        self._level = (*acceptance(channel.total), word(channel.favoured))
        order = np.array(offsets(sets.rows, sets.columns), np.int64)
        steps = (order[:, 0] + sets.rows - 1) * (2 * sets.columns - 1) + order[:, 1] + sets.columns - 1
        rank = np.empty(len(order), np.int64)
        rank[steps] = np.arange(len(order))
        region = np.arange(self.cells) if sets.inside_region is None else np.array(sets.inside_region, np.int64)
        numbers = np.full(sets.rows * sets.columns, -1, np.int64)
        numbers[region] = np.arange(self.cells)
        places = np.stack([region // sets.columns, region % sets.columns], axis=1)
        self._grid = (numbers, sets.rows, sets.columns, order[:, 0].copy(), order[:, 1].copy())
        self._places = places
        self._rank = rank
        self._reach: NDArray[np.int64] = np.empty(self.cells, np.int64)
        _reaches(places, self._reach, sets.members, *self._grid)

    def allocate(self, count: int) -> Outputs:
        """Cell numbers."""
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


@njit(nogil=True, cache=True)
def _level(words, inside, pending, total, threshold, favoured):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(words.size):
        inside[i] = multiply_high(words[i], total) < favoured
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected
