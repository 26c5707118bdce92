"""Made-up paths for comparing mechanisms: every location anywhere in the unit square."""

from __future__ import annotations

import numpy as np

from deniable.errors import InvalidParameter
from deniable.studies.trajectories.paths import Paths

MOST = 1 << 24


def random_paths(paths: int, locations: int, *, seed: int = 0) -> Paths:
    """`paths` paths of `locations` independent uniform locations; equal seeds, equal paths.

    >>> random_paths(2, 3).lengths.tolist(), bool(random_paths(2, 3).places.max() < 1)
    ([3, 3], True)
    """
    for name, count in (("paths", paths), ("locations", locations)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidParameter(f"{name} must be a whole number, at least 1")
    if paths * locations > MOST:
        raise InvalidParameter(f"paths times locations must be at most {MOST}")
    places = np.random.default_rng(seed).random((paths * locations, 2))
    return Paths(places, locations * np.arange(paths + 1))
