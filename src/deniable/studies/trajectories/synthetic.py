"""Walking an estimated movement model: starts, lengths, steps and ends to made-up paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats, Integers, Keystream, SystemKeystream
from deniable.core import Rectangle
from deniable.errors import InvalidParameter
from deniable.estimators import Estimate
from deniable.studies.trajectories.grid_walks import GridMoves
from deniable.studies.trajectories.paths import Paths

OVERSAMPLED = 4
"""Walks per path that is asked for: ends are put right by choosing among them."""
MOST_WEIGHT = 10.0


@dataclass(frozen=True, eq=False)
class MovementModel:
    """How people move on a grid: shares of lengths, starts, steps and ends, unbiased, with their intervals.

    Everybody weighs the same in `moves`, long paths too: one step of each was asked.
    """

    region: Rectangle
    steps: GridMoves
    length_starts: tuple[int, ...]
    lengths: Estimate
    starts: Estimate
    moves: Estimate
    """The share of people whose drawn step is each one of `steps.pairs`; the last: those who never leave their cell."""
    ends: Estimate

    @cached_property
    def next_cell(self) -> Floats:
        """From each cell to each step's target, the chance to take it: rows of `steps` normalised; even where nothing is known."""
        likely = self.moves.projected("simplex").value[:-1]
        start = self.steps.pairs[:, 0]
        whole = np.bincount(start, likely, minlength=self.region.size)
        even = 1.0 / np.diff(self.steps.first)
        return np.where(whole[start] > 0, likely / np.where(whole[start] > 0, whole[start], 1.0), even[start])

    def synthesize(self, count: int, keystream: Keystream | None = None) -> Paths:
        """Made-up paths, places spread evenly within cells. They are post-processing: no privacy is spent.

        Four walks are made for each path wanted, and one of them is kept so that ends come out as often as estimated.
        The randomness needs no secrecy; it is the system's unless a keystream is given.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidParameter("count must be a whole number of paths, at least 1")
        stream = SystemKeystream() if keystream is None else keystream
        cells, lengths = self._walked(OVERSAMPLED * count, stream)
        ends = cells[np.arange(len(cells)), lengths - 1]
        wanted = self.ends.projected("simplex").value
        drawn = np.bincount(ends, minlength=self.region.size) / len(ends)
        weight = np.minimum(wanted / np.maximum(drawn, 1 / len(ends)), MOST_WEIGHT)[ends]
        # Ends that are never wanted leave nothing to choose among: then every walk is as good.
        chosen = _indices_by_weight(weight if weight.sum() > 0 else np.ones_like(weight), count, stream)
        return self._placed(cells[chosen], lengths[chosen], stream)

    def _walked(self, count: int, stream: Keystream) -> tuple[Integers, Integers]:
        """Cells of walks, a row each, and how many of them count."""
        ranges = _indices_by_weight(self.lengths.projected("simplex").value, count, stream)
        low = np.array(self.length_starts)
        high = np.append(low[1:], low[-1] + 1)
        lengths = low[ranges] + np.floor(uniform(count, stream) * (high - low)[ranges]).astype(np.int64)
        cells: Integers = np.empty((count, int(lengths.max())), np.int64)
        cells[:, 0] = _indices_by_weight(self.starts.projected("simplex").value, count, stream)
        # All rows' chances one after another: cell c's chances fill the stretch from c to c + 1.
        summed = np.cumsum(self.next_cell)
        summed -= np.repeat(np.append(0.0, summed)[self.steps.first[:-1]], np.diff(self.steps.first))
        line = self.steps.pairs[:, 0] + np.minimum(summed, 1.0)
        for step in range(1, cells.shape[1]):
            here = cells[:, step - 1]
            taken = np.searchsorted(line, here + uniform(count, stream), "right")
            taken = np.clip(taken, self.steps.first[here], self.steps.first[here + 1] - 1)
            cells[:, step] = self.steps.pairs[taken, 1]
        return cells, lengths

    def _placed(self, cells: Integers, lengths: Integers, stream: Keystream) -> Paths:
        counted = np.arange(cells.shape[1])[None, :] < lengths[:, None]
        row, column = np.divmod(cells[counted], self.region.x.cells)
        places = [
            float(side.low) + float(side.width) * (at + uniform(len(at), stream)) / side.cells
            for side, at in ((self.region.x, column), (self.region.y, row))
        ]
        return Paths(np.stack(places, axis=1), np.concatenate([[0], np.cumsum(lengths)]))


def uniform(count: int, stream: Keystream) -> Floats:
    """Numbers from 0 up to but not including 1."""
    words: NDArray[np.uint64] = np.empty(count, np.uint64)
    stream.fill(words)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _indices_by_weight(weights: Floats, count: int, stream: Keystream) -> Integers:
    """Indices drawn in proportion to weights."""
    sums = np.cumsum(np.maximum(weights, 0.0))
    places = np.searchsorted(sums, uniform(count, stream) * sums[-1], "right")
    return np.asarray(np.minimum(places, np.flatnonzero(weights > 0)[-1]), np.int64)
