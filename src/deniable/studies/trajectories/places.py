"""Public places: the nearest one to every location (post-processing, or before a mechanism on places)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError, cKDTree

from deniable.batch import Floats, Integers
from deniable.core import Points, Rectangle
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.trajectories.paths import Paths

SIDE = 1 << 20
"""Lattice steps along the longer side of the places' bounding box."""


@dataclass(frozen=True, eq=False)
class Places:
    """A list of different public places (x, y).

    >>> places = Places([(0, 0), (3, 4), (10, 0)])
    >>> places.nearest([(2.5, 3), (9, 1)]).tolist(), len(places)
    ([1, 2], 3)
    """

    coordinates: Floats = field(repr=False)

    def __init__(self, coordinates: ArrayLike) -> None:
        checked = np.ascontiguousarray(coordinates, np.float64)
        if checked.ndim != 2 or checked.shape[1] != 2 or len(checked) == 0 or not np.isfinite(checked).all():
            raise InvalidParameter("places must be pairs of finite numbers, at least one")
        if len(np.unique(checked, axis=0)) != len(checked):
            raise InvalidParameter("places must differ from each other")
        object.__setattr__(self, "coordinates", checked)

    @classmethod
    def grid(cls, region: Rectangle) -> Places:
        """The middles of the cells of a rectangle, row by row."""
        across, up = (
            (np.arange(side.cells) + 0.5) / side.cells * float(side.width) + float(side.low) for side in (region.x, region.y)
        )
        return cls(np.stack([np.tile(across, len(up)), np.repeat(up, len(across))], axis=1))

    @classmethod
    def of(cls, paths: Paths) -> Places:
        """All different places of some paths. They become public: for data whose list of places is public anyway."""
        if not len(paths.places):
            raise InvalidParameter("the paths hold no place")
        return cls(np.unique(paths.places, axis=0))

    def __len__(self) -> int:
        return len(self.coordinates)

    def __repr__(self) -> str:
        return f"Places({len(self)} places)"

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.coordinates)

    def nearest(self, locations: ArrayLike) -> Integers:
        """The number of the nearest place to each location, by a k-d tree."""
        where = np.asarray(locations, np.float64).reshape(-1, 2)
        if not np.isfinite(where).all():
            raise OutOfDomain("every location must be two finite numbers; the bad ones are not shown because they are private")
        return np.asarray(self._tree.query(where)[1], np.int64)

    def round(self, paths: Paths) -> Paths:
        """Paths with every location moved to its nearest place. After a mechanism this costs no privacy."""
        return paths.with_places(self.coordinates[self.nearest(paths.places)])

    def domain(self) -> Points:
        """The same places as the domain of a mechanism."""
        return Points([(float(x), float(y)) for x, y in self.coordinates])

    @cached_property
    def lattice(self) -> tuple[Integers, Integers]:
        """The places on a grid a millionth of the longer side wide, so that distances are whole numbers."""
        low = self.coordinates.min(axis=0)
        side = float((self.coordinates - low).max()) or 1.0
        steps = np.floor((self.coordinates - low) / side * SIDE).astype(np.int64)
        return np.ascontiguousarray(steps[:, 0]), np.ascontiguousarray(steps[:, 1])

    @cached_property
    def square_diameter(self) -> int:
        """The square of the largest distance between two places, on the lattice."""
        points = np.stack(self.lattice, axis=1)
        try:
            points = points[ConvexHull(points).vertices]
        except QhullError:  # all on one line, or fewer than three
            order = np.lexsort((points[:, 1], points[:, 0]))
            points = points[order[[0, -1]]]
        apart = points[:, None] - points[None]
        return max(int((apart**2).sum(axis=2).max()), 1)

    def steps_from(self, place: int, steps: int) -> Integers:
        """Distances from a place to all places, in parts of the diameter, rounded down; by integers."""
        columns, rows = self.lattice
        squares = (columns - columns[place]) ** 2 + (rows - rows[place]) ** 2
        # Below 2**41 times 2**20; and the root of a whole number below 2**52 is rounded down rightly.
        roots = np.floor(np.sqrt(squares * (steps * steps) // self.square_diameter))
        return np.asarray(np.minimum(roots, steps), np.int64)
