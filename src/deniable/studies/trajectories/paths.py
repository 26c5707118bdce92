"""Many trajectories in two flat arrays: all places one after another, and where each path begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable._results import counted
from deniable.errors import InvalidParameter


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """Places (x, y) of many paths, path after path; path i is places[starts[i]:starts[i + 1]].

    >>> paths = Paths.of([[(0, 0), (1, 1)], [(0.5, 0.5)]])
    >>> len(paths), paths.places.shape, paths[1].tolist()
    (2, (3, 2), [[0.5, 0.5]])
    """

    places: NDArray[np.float64]
    starts: NDArray[np.int64]
    names: tuple[str, ...] | None = field(default=None)
    """Public labels of the paths (not user identifiers), or None."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", np.ascontiguousarray(self.places, dtype=np.float64).reshape(-1, 2))
        object.__setattr__(self, "starts", np.ascontiguousarray(self.starts, dtype=np.int64))
        if self.starts.ndim != 1 or self.starts.size == 0 or self.starts[0] != 0 or self.starts[-1] != len(self.places):
            raise InvalidParameter("starts must run from 0 to the number of places")
        if np.any(np.diff(self.starts) < 0):
            raise InvalidParameter("starts must not decrease")
        if self.names is not None and len(self.names) != len(self):
            raise InvalidParameter("names must have one entry per path")

    @classmethod
    def of(cls, paths: Iterable[ArrayLike], names: Iterable[str] | None = None) -> Paths:
        """From one sequence of (x, y) per path; a path may be empty."""
        parts = [np.asarray(path, dtype=np.float64).reshape(-1, 2) for path in paths]
        places = np.concatenate(parts) if parts else np.empty((0, 2))
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
        return cls(places, starts, None if names is None else tuple(names))

    def with_places(self, places: NDArray[np.float64]) -> Paths:
        """The same paths with other places, one for one."""
        return Paths(places, self.starts, self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many places each path has."""
        return np.diff(self.starts)

    @property
    def finite(self) -> bool:
        """Are all coordinates numbers?"""
        return bool(np.isfinite(self.places).all())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, path: int) -> NDArray[np.float64]:
        if not -len(self) <= path < len(self):
            raise IndexError(f"there are {len(self)} paths")
        path %= len(self)
        return self.places[self.starts[path] : self.starts[path + 1]]

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        # Counts only: the places may be private.
        return f"Paths({counted(len(self), 'path')}, {counted(len(self.places), 'place')})"
