"""NGram, L-SRR and ATP over public places as the released programs have them, faults included.

As in released_walks, these simulate what a source ran, in plain numbers and on recorded randomness. None of it is
certified; the released NGram and L-SRR are known not to be private. Read in github.com/ZhengYeah/TraCS b386a50, src/methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats, Keystream
from deniable_reproduce.walks import uniforms

Indices = NDArray[np.int64]
SECTORS = 6
REACH = 0.75 * math.sqrt(2)
"""Released candidates of NGram: places within this distance of the true one, in a unit square."""
GROUPS = (0.3, 0.6)
CHUNK = 1 << 20
"""Weights held at once."""
METHODS = ("NGram", "L-SRR", "ATP")


@dataclass(frozen=True)
class Space:
    """Public places of a unit square in the order of their coordinates, and what is asked about them again and again."""

    coordinates: Floats

    @classmethod
    def of(cls, places: Sequence[Sequence[float]] | Floats) -> Space:
        """Different places, the first coordinate first: the order of the released lists."""
        return cls(np.unique(np.asarray(places, np.float64), axis=0))

    def __len__(self) -> int:
        return len(self.coordinates)

    @cached_property
    def distances(self) -> NDArray[np.float32]:
        """Between all pairs."""
        x, y = self.coordinates.T
        return np.asarray(np.hypot(x[:, None] - x[None], y[:, None] - y[None]), np.float32)

    @cached_property
    def turns(self) -> NDArray[np.float32]:
        """The direction in which the second place lies, seen from the first."""
        x, y = self.coordinates.T
        return np.asarray(np.arctan2(y[None] - y[:, None], x[None] - x[:, None]) / (2 * np.pi) % 1.0, np.float32)

    def nearest(self, locations: Floats) -> Indices:
        """The place nearest to each location."""
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(self.coordinates).query(locations)[1], np.int64)


def drawn(weights: Callable[[slice], NDArray[Any]], rows: int, places: int, keystream: Keystream) -> Indices:
    """One place for every row, by weights that are made a few rows at a time."""
    indices = np.empty(rows, np.int64)
    step = max(CHUNK // places, 1)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        whole = np.cumsum(weights(part), axis=1, dtype=np.float64)
        wanted = uniforms(part.stop - part.start, keystream) * whole[:, -1]
        indices[part] = (whole <= wanted[:, None]).sum(axis=1)
    return np.minimum(indices, places - 1)


def by_distance(apart: NDArray[Any], allowed: NDArray[np.bool_], epsilon: float) -> NDArray[Any]:
    """The released exponential mechanism: the range of the distances to the *allowed* places is taken for the sensitivity."""
    far = np.where(allowed, apart, 0).max(axis=1, keepdims=True)
    near = np.where(allowed, apart, np.inf).min(axis=1, keepdims=True)
    reach = np.maximum(far - near, 1e-12)
    return np.asarray(np.exp(np.where(allowed, -epsilon * (apart - near) / (2 * reach), -np.inf)))


def released_answers(name: str, true: Indices, lengths: Indices, space: Space, epsilon: float, keystream: Keystream) -> Indices:
    """What a method of the released programs answers for paths of these lengths, whose places are `true` one after another."""
    count = len(space)
    if name == "NGram":
        # Candidates near the truth: an answer says where the truth cannot be.
        return drawn(
            lambda part: by_distance(space.distances[true[part]], space.distances[true[part]] <= REACH, epsilon),
            len(true),
            count,
            keystream,
        )
    if name == "L-SRR":
        # Groups cut at distances, and levels of ratio ε where e**ε is meant.
        return drawn(lambda part: staircase(space.distances[true[part]], epsilon), len(true), count, keystream)
    return released_atp(true, lengths, space, epsilon, keystream)


def staircase(apart: NDArray[Any], epsilon: float) -> NDArray[Any]:
    """Three levels by distance: ε, (ε + 1) / 2 and 1."""
    return np.where(apart <= GROUPS[0], epsilon, np.where(apart <= GROUPS[1], (epsilon + 1) / 2, 1.0))


def released_atp(true: Indices, lengths: Indices, space: Space, epsilon: float, keystream: Keystream) -> Indices:
    """Two copies, each with half of ε: every second location by the exponential mechanism, the others between two directions.

    The place nearest to both copies is always one of the two, since both lie as near: the first of the list is taken.
    """
    position = np.arange(len(true)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    last = position == np.repeat(lengths, lengths) - 1
    copies = [_copy(true, position, last, first, space, epsilon / 2, keystream) for first in (1, 0)]
    return np.minimum(*copies)


def _copy(
    true: Indices, position: Indices, last: NDArray[np.bool_], first: int, space: Space, epsilon: float, keystream: Keystream
) -> Indices:
    """One copy: locations `first`, `first` + 2, … and both ends are pivots; three quarters of its ε go to the others."""
    everywhere = np.ones((1, len(space)), np.bool_)
    pivot = (position % 2 == first) | (position == 0) | last
    copied = np.zeros(len(true), np.int64)
    pivots, others = np.flatnonzero(pivot), np.flatnonzero(~pivot)
    apart = space.distances
    copied[pivots] = drawn(
        lambda part: by_distance(apart[true[pivots[part]]], everywhere, epsilon), len(pivots), len(space), keystream
    )
    share = 0.75 * epsilon
    told = []
    for step in (-1, 1):
        at = copied[others + step]
        told.append((at, (space.turns[at, true[others]] + _shifts(len(others), share / 2, keystream) / SECTORS) % 1.0))

    def weights(part: slice) -> NDArray[Any]:
        allowed = np.ones((part.stop - part.start, len(space)), np.bool_)
        for at, middle in told:
            away = np.abs(space.turns[at[part]] - middle[part, None].astype(np.float32))
            allowed &= np.minimum(away, 1 - away) <= 0.5 / SECTORS
        allowed[~allowed.any(axis=1)] = True
        return by_distance(apart[true[others[part]]], allowed, share / 3)

    copied[others] = drawn(weights, len(others), len(space), keystream)
    return copied


def _shifts(count: int, epsilon: float, keystream: Keystream) -> Floats:
    """By how many sectors a direction is turned: a lie in all with probability 1 / (k - 1 + e**epsilon), of 1 to k sectors."""
    first, second = uniforms(count, keystream), uniforms(count, keystream)
    lies = first < 1 / (SECTORS - 1 + math.exp(epsilon))
    return np.where(lies, 1 + np.floor(second * SECTORS), 0.0)
