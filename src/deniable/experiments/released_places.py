"""NGram, L-SRR and ATP over public places as other readings of the text have them, faults included.

As in released_walks, these simulate what a source may have run, in plain numbers and on recorded randomness. None of it is
certified; the released NGram and L-SRR are known not to be private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Keystream
from deniable.experiments.place_walks import GROUPS, REACH
from deniable.experiments.walks import uniforms
from deniable.trajectories import Paths
from deniable.trajectories.places import Places

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
SECTORS = 6
CHUNK = 1 << 20
"""Weights held at once."""


@dataclass(frozen=True)
class Tables:
    """What is asked again and again about public places: their distances, and the sectors in which they see each other."""

    places: Places

    @cached_property
    def distances(self) -> NDArray[np.float32]:
        """Between all pairs."""
        x, y = self.places.coordinates.T
        return np.asarray(np.hypot(x[:, None] - x[None], y[:, None] - y[None]), np.float32)

    @cached_property
    def seen(self) -> NDArray[np.int8]:
        """The sector in which the second place lies, seen from the first."""
        x, y = self.places.coordinates.T
        turns = np.arctan2(y[None] - y[:, None], x[None] - x[:, None]) / (2 * np.pi) % 1.0
        return np.asarray(np.minimum(np.floor(turns * SECTORS), SECTORS - 1), np.int8)

    @property
    def diameter(self) -> float:
        """Of the box that holds all places."""
        return float(np.hypot(*np.ptp(self.places.coordinates, axis=0)))


def drawn(weights: Callable[[slice], NDArray[Any]], rows: int, places: int, keystream: Keystream) -> Indices:
    """One place for every row, by weights that are made a few rows at a time."""
    found = np.empty(rows, np.int64)
    step = max(CHUNK // places, 1)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        whole = np.cumsum(weights(part), axis=1, dtype=np.float64)
        wanted = uniforms(part.stop - part.start, keystream) * whole[:, -1]
        found[part] = (whole <= wanted[:, None]).sum(axis=1)
    return found


def released_answers(name: str, true: Indices, tables: Tables, side: float, epsilon: float, keystream: Keystream) -> Indices:
    """What NGram (candidates near the truth) and L-SRR (groups cut at a distance, levels of ratio ε) answer as released."""
    apart = tables.distances.astype(np.float64)
    if name == "NGram":
        weights = np.exp(-epsilon * apart / (2 * tables.diameter)) * (apart <= REACH * side)
    else:
        weights = np.where(apart <= GROUPS[1] * side, (epsilon + 1) / 2, 1.0)
        weights[apart <= GROUPS[0] * side] = epsilon
    whole = np.cumsum(weights, axis=1)
    # Row i of the running sums lies between i and i + 1, so that one search serves all rows.
    line = (np.minimum(whole / whole[:, -1:], 1.0) + np.arange(len(whole))[:, None]).ravel()
    found = np.searchsorted(line, true + uniforms(len(true), keystream), side="right") - true * len(whole)
    return np.asarray(np.clip(found, 0, len(whole) - 1), np.int64)


@dataclass(frozen=True)
class ATPReading:
    """How ε of a location is divided: a pivot, one direction, a place; and whether k-RR lies too rarely, as released."""

    pivot: float
    direction: float
    place: float
    released_lies: bool = False

    def answers(self, paths: Paths, tables: Tables, epsilon: float, keystream: Keystream) -> Indices:
        """Both copies, and the nearest place to the middle between them."""
        places = tables.places
        true = places.nearest(paths.places)
        position = np.arange(len(true)) - np.repeat(np.cumsum(paths.lengths) - paths.lengths, paths.lengths)
        ends = position == np.repeat(paths.lengths, paths.lengths) - 1
        copies = [self._copy(true, position, ends, first, tables, epsilon, keystream) for first in (0, 1)]
        return np.asarray(places.nearest((places.coordinates[copies[0]] + places.coordinates[copies[1]]) / 2), np.int64)

    def _copy(
        self, true: Indices, position: Indices, ends: Flags, first: int, tables: Tables, epsilon: float, keystream: Keystream
    ) -> Indices:
        """One copy, whose pivots are the locations first, first + 2, … of every path."""
        found = np.zeros(len(true), np.int64)
        pivots, others = np.flatnonzero(position % 2 == first), np.flatnonzero(position % 2 != first)
        near, count = self._weights(tables, epsilon * self.pivot), len(tables.places)
        found[pivots] = drawn(lambda part: near(true[pivots[part]]), len(pivots), count, keystream)
        told = []
        for step, there in ((-1, position[others] > 0), (1, ~ends[others])):
            at = found[np.clip(others + step, 0, len(true) - 1)]
            told.append((at, np.where(there, self._told(tables.seen[at, true[others]], epsilon, keystream), -1)))
        steep = self._weights(tables, epsilon * self.place)

        def weights(part: slice) -> NDArray[Any]:
            allowed = np.ones((part.stop - part.start, count), np.bool_)
            for at, sector in told:
                allowed &= (tables.seen[at[part]] == sector[part, None]) | (sector[part, None] < 0)
            allowed[~allowed.any(axis=1)] = True
            return np.asarray(steep(true[others[part]]) * allowed)

        found[others] = drawn(weights, len(others), count, keystream)
        return found

    def _weights(self, tables: Tables, epsilon: float) -> Callable[[Indices], NDArray[Any]]:
        """The exponential mechanism among all places."""
        slope = np.float32(-epsilon / (2 * tables.diameter))
        return lambda rows: np.exp(slope * tables.distances[rows])

    def _told(self, own: NDArray[Any], epsilon: float, keystream: Keystream) -> Indices:
        """The sectors that are reported."""
        lies = 1 if self.released_lies else SECTORS - 1
        first, second = uniforms(len(own), keystream), uniforms(len(own), keystream)
        other = (own + 1 + np.floor(second * (SECTORS - 1))) % SECTORS
        return np.where(first < lies / (SECTORS - 1 + math.exp(epsilon * self.direction)), other, own).astype(np.int64)


ATP_READINGS: Mapping[str, ATPReading] = {
    "ATP with equal shares": ATPReading(1 / 4, 1 / 4, 1 / 4),
    "ATP with half for the pivots": ATPReading(1 / 2, 1 / 8, 1 / 4),
    "ATP with most for the directions": ATPReading(1 / 8, 3 / 8, 1 / 8),
    "ATP with half of ε for every part": ATPReading(1 / 2, 1 / 2, 1 / 2),
    "ATP with all of ε for every part": ATPReading(1, 1, 1),
    "ATP with equal shares and lies as released": ATPReading(1 / 4, 1 / 4, 1 / 4, released_lies=True),
    "ATP with all of ε for every part and lies as released": ATPReading(1, 1, 1, released_lies=True),
}
"""The text has no more than “we distribute it to each location's perturbation according to their algorithms”. The last four
spend more than ε on a location, or lie too rarely for it."""
