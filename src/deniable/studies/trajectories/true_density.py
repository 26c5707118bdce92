"""The true density map on the cells of an estimated one: for pictures and tests, never for a collector."""

from __future__ import annotations

import numpy as np

from deniable.core import Mechanism
from deniable.estimators import Fit
from deniable.studies.trajectories.density_estimate import DensityMap
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.place_channel import place_channel


def true_density(paths: Paths, mechanism: Mechanism, cells: int = 16) -> DensityMap:
    """The share of the true places in every cell of the map that `density_map` would estimate. It is not private.

    >>> from deniable.core import make_mechanism
    >>> density = true_density(Paths.of([[(0.1, 0.1), (0.9, 0.9)], [(0.9, 0.8)]]), make_mechanism("nearest-cells", epsilon=1), 2)
    >>> density.value.round(3).tolist()
    [0.333, 0.0, 0.0, 0.667]
    """
    grid = place_channel(mechanism, cells).grid
    numbers = grid.numbered(paths.places)
    shares = np.bincount(numbers[numbers >= 0], minlength=len(grid)) / max(len(numbers), 1)
    fit = Fit(shares)
    return DensityMap(grid, fit, len(numbers), "these users", "true shares", lambda: np.zeros((len(grid), len(grid))))
