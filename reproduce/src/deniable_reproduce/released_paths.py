"""The paths of the released programs of chapter 6: each person's different places, sorted, in the unit square of a city.

Read in github.com/ZhengYeah/TraCS b386a50, experiments/discrete_space: the scripts that extract the paths keep the different
places of every person, sorted by latitude and then longitude, and map the box of the whole file to the unit square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats
from deniable.studies import Paths
from deniable_reproduce.artifact import Run
from deniable_reproduce.released_places import Space
from deniable_reproduce.walks import check_ins


@dataclass(frozen=True)
class ReleasedCity:
    """All sorted lists of places in the unit square, latitude first; `span` is the size of that square in degrees."""

    paths: Paths
    span: Floats
    space: Space

    @classmethod
    def of(cls, run: Run, city: str) -> ReleasedCity:
        """As the released scripts extract it from the check-ins."""
        return cls.from_paths(check_ins(run, city, most=100_000))

    @classmethod
    def from_paths(cls, visits: Paths) -> ReleasedCity:
        """From paths in time, longitude first."""
        turned = visits.places[:, ::-1]
        low, span = turned.min(axis=0), np.ptp(turned, axis=0)
        paths = Paths.of([np.unique((path[:, ::-1] - low) / span, axis=0) for path in visits])
        return cls(paths, span, Space.of(paths.places))

    def taken(self, start: int, stop: int, times: int = 1) -> Paths:
        """Some of the paths, several times."""
        return Paths.of([self.paths[i] for _ in range(times) for i in range(start, min(stop, len(self.paths)))])
