"""When fitting a map stops, and how it is told."""

from __future__ import annotations

import math

from deniable.core import Mechanism
from deniable.errors import InvalidParameter
from deniable.estimators import STOP, Fit
from deniable.studies.trajectories.map_grid import MapGrid

RULES = {"ems": "smoothed", "em": "most likely", "unbiased": "linear inversion"}


def stop_at(mechanism: Mechanism, method: str, tolerance: float | None, most_iterations: int) -> float:
    """The change of the log-likelihood that ends an iteration: 0.001 for "ems", 0.001 e**epsilon for "em", as for numbers."""
    if isinstance(most_iterations, bool) or not isinstance(most_iterations, int) or most_iterations < 1:
        raise InvalidParameter("most_iterations must be a positive whole number")
    if tolerance is None:
        return STOP if method == "ems" else STOP * math.exp(min(float(mechanism.privacy), 50.0))
    if not tolerance >= 0:
        raise InvalidParameter("tolerance must not be negative")
    return tolerance


def described(method: str, mechanism: Mechanism, grid: MapGrid, fit: Fit) -> str:
    """What was done, in words."""
    steps = f", {fit.iterations} iterations" if fit.iterations else ""
    return f"{method} ({RULES[method]}) map of {mechanism.name}, {grid.columns} by {grid.rows} cells{steps}"
