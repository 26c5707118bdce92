"""How far perturbed paths are from the true ones: errors, range queries, hotspots and directions.

Every metric is computed for each path and then averaged over the paths, as in the dissertation's sections
6.3.1 (average error) and 6.3.2 (range queries and hotspots). Coordinates must be in one plane unit, such as
metres: project degrees first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from deniable.batch import Flags, Floats, Integers
from deniable.core import Rectangle
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.paths import Paths


@dataclass(frozen=True, eq=False)
class Metric:
    """An average over paths with its standard error; `per_path` is nan where a path has no value."""

    name: str
    per_path: Floats = field(repr=False)

    @property
    def counted(self) -> int:
        """How many paths have a value."""
        return int(np.isfinite(self.per_path).sum())

    @property
    def value(self) -> float:
        """The average over the paths that have one; nan when none has."""
        return float(np.nanmean(self.per_path)) if self.counted else float("nan")

    @property
    def standard_error(self) -> float:
        """Of the average, from the spread between paths; nan for fewer than two."""
        if self.counted < 2:
            return float("nan")
        return float(np.nanstd(self.per_path, ddof=1) / np.sqrt(self.counted))

    def __float__(self) -> float:
        return self.value


def average_error(true: Paths, perturbed: Paths) -> Metric:
    """The mean Euclidean distance between a place and its perturbed place (section 6.3.1, AE).

    >>> true = Paths.of([[(0, 0), (1, 0)], [(0, 0)]])
    >>> average_error(true, Paths.of([[(0, 1), (1, 3)], [(4, 0)]])).value
    3.0
    """
    return Metric("average error", path_means(distances(true, perturbed), true))


def range_query_preservation(true: Paths, perturbed: Paths, threshold: float) -> Metric:
    """The percentage of places that stay within `threshold` of the true one (section 6.3.2, RQP)."""
    if not (np.isfinite(threshold) and threshold > 0):
        raise InvalidParameter("threshold must be a positive distance in the unit of the places")
    near = distances(true, perturbed) <= threshold
    return Metric("range query preservation", path_means(100.0 * near.astype(np.float64), true))


@dataclass(frozen=True, eq=False)
class Hotspots:
    """Busy places: `places` are all that there are, `busy` says which of them are hotspots.

    A location belongs to the nearest of the places, as perturbed locations are rounded to places.
    """

    places: Floats = field(repr=False)
    busy: Flags = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", np.asarray(self.places, np.float64).reshape(-1, 2))
        object.__setattr__(self, "busy", np.asarray(self.busy, np.bool_))
        if len(self.places) == 0 or self.busy.shape != (len(self.places),) or not np.isfinite(self.places).all():
            raise InvalidParameter("there must be at least one place, all of them numbers, and one flag per place")

    @classmethod
    def of(cls, paths: Paths, share: float = 0.2) -> Hotspots:
        """The most frequent `share` of the different places in the data (section 6.3.2 takes 20 %); ties by position."""
        places, counts = np.unique(_checked_paths(paths).places, axis=0, return_counts=True)
        return cls(places, _busiest(counts, share))

    @classmethod
    def on_grid(cls, paths: Paths, region: Rectangle, share: float = 0.2) -> Hotspots:
        """The fullest `share` of a grid's cells, for data whose places never repeat."""
        x, y = (_middles(float(side.low), float(side.high), side.cells) for side in (region.x, region.y))
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        counts = np.bincount(_nearest(places, _checked_paths(paths).places), minlength=len(places))
        return cls(places, _busiest(counts, share))

    def hit(self, places: ArrayLike) -> Flags:
        """Is the nearest known place of each location a hotspot?"""
        return self.busy[_nearest(self.places, np.asarray(places, np.float64).reshape(-1, 2))]


def hotspot_count_difference(true: Paths, perturbed: Paths, hotspots: Hotspots) -> Metric:
    """How many of a path's visits to hotspots are no longer visits to any hotspot (section 6.3.2, CD)."""
    _comparable(true, perturbed)
    lost = hotspots.hit(true.places) & ~hotspots.hit(perturbed.places)
    sums = path_means(lost.astype(np.float64), true) * true.lengths
    return Metric("hotspot count difference", sums)


def direction_error(true: Paths, perturbed: Paths) -> Metric:
    """The circular distance, from 0 to pi, between the directions of a step in the true and the perturbed path.

    A step that goes nowhere in one of them has no direction and is left out.

    >>> direction_error(Paths.of([[(0, 0), (1, 0)]]), Paths.of([[(0, 0), (0, 2)]])).value / np.pi
    0.5
    """
    _comparable(true, perturbed)
    moves = [np.diff(paths.places, axis=0) for paths in (true, perturbed)]
    within = np.ones(max(len(true.places) - 1, 0), np.bool_)
    borders = true.starts[1:-1] - 1
    within[borders[(borders >= 0) & (borders < len(within))]] = False
    angles = [np.arctan2(move[:, 1], move[:, 0]) for move in moves]
    valid = within & (moves[0] != 0).any(axis=1) & (moves[1] != 0).any(axis=1)
    apart = np.abs(angles[0] - angles[1])
    apart = np.minimum(apart, 2 * np.pi - apart)
    # Step i leaves place i, so the steps can be averaged where the places are; each path's last place leaves nothing.
    padded = np.append(np.where(valid, apart, np.nan), np.nan) if len(true.places) else np.empty(0)
    return Metric("direction error", path_means(padded, true))


def distances(true: Paths, perturbed: Paths) -> Floats:
    """The Euclidean distance of every place from its perturbed place, place after place."""
    _comparable(true, perturbed)
    return np.asarray(np.hypot(*(true.places - perturbed.places).T), np.float64)


def path_means(values: Floats, paths: Paths) -> Floats:
    """The mean over each path's places, nan left out; nan for a path without any."""
    known = np.isfinite(values)
    path = np.repeat(np.arange(len(paths)), paths.lengths)
    sums = np.bincount(path[known], values[known], minlength=len(paths))
    counts = np.bincount(path[known], minlength=len(paths))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _comparable(true: Paths, perturbed: Paths) -> None:
    if not np.array_equal(true.starts, perturbed.starts):
        raise InvalidParameter("the true and the perturbed paths must have the same lengths, one for one")
    _checked_paths(true)
    _checked_paths(perturbed)


def _checked_paths(paths: Paths) -> Paths:
    if not paths.finite:
        raise InvalidParameter("some coordinates are not numbers; drop those places before comparing paths")
    return paths


def _busiest(counts: Integers, share: float) -> Flags:
    if not 0 < share <= 1:
        raise InvalidParameter("share must lie between 0 and 1, for example 0.2")
    if len(counts) == 0:
        raise InvalidParameter("there are no places to find hotspots among")
    busy = np.zeros(len(counts), np.bool_)
    busy[np.argsort(-counts, kind="stable")[: max(1, round(share * len(counts)))]] = True
    return busy


def _nearest(places: Floats, locations: Floats) -> Integers:
    return np.asarray(cKDTree(places).query(locations)[1], np.int64) if len(locations) else np.empty(0, np.int64)


def _middles(low: float, high: float, cells: int) -> Floats:
    return low + (high - low) * (np.arange(cells) + 0.5) / cells
