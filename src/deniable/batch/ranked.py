"""Ranked places in bulk: draw all ranks, then find the places of those ranks, one true place after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, output_dtype, uniform_below
from deniable.core import Ranked

MOST_PLACES = 1 << 20


class RankedSampler(Sampler):
    """One uniform integer per report gives the rank; a partial sort per different true place gives the answers."""

    def __init__(self, channel: Ranked) -> None:
        if channel.total > 1 << 62 or channel.outputs > MOST_PLACES:
            raise TooWide
        self.total, self.outputs = channel.total, channel.outputs
        self.columns, self.rows = np.array(channel.columns, np.int64), np.array(channel.rows, np.int64)
        self.weights = np.array(channel.weights, np.int64)
        self.before = np.array([0, *channel.weight_ends[:-1]], np.int64)
        self.passed = np.array([0, *channel.size_ends[:-1]], np.int64)
        self.ends = np.array(channel.weight_ends, np.int64)

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """All ranks at once, then one true place after the other."""
        drawn = uniform_below(self.total, len(indices), keystream)
        group = np.searchsorted(self.ends, drawn, side="right")
        ranks = self.passed[group] + (drawn - self.before[group]) // self.weights[group]
        by_place = np.argsort(indices, kind="stable")
        edges = np.nonzero(np.diff(indices[by_place], prepend=-1))[0]
        for members in np.split(by_place, edges[1:]) if len(by_place) else []:
            out[members] = self.places_of(int(indices[members[0]]), ranks[members])

    def places_of(self, index: int, ranks: Indices) -> NDArray[np.int64]:
        """The places with these ranks, seen from one place."""
        squares = (self.columns - self.columns[index]) ** 2 + (self.rows - self.rows[index]) ** 2
        # Below 2**43 times at most 2**20 places: the number of a place breaks ties within 64 bits.
        keys = squares * self.outputs + np.arange(self.outputs)
        wanted, back = np.unique(ranks, return_inverse=True)
        order = np.argsort(keys) if len(wanted) > 32 else np.argpartition(keys, wanted)
        return order[wanted][back]
