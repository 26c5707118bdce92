"""What is known of where people are: shares of map cells with intervals, hotspots, and the share of people in a range."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter
from deniable.estimators import Ends, Estimate, Fit, ScoreIntervals, Target, half_width
from deniable.studies.trajectories.map_grid import MapGrid
from deniable.studies.trajectories.map_intervals import MapIntervals

MOST_VARIANCE = 0.25
"""Of anything between 0 and 1."""


class Hotspot(NamedTuple):
    """A map cell (its number, its left, lower, right and upper side), its share and the interval of that."""

    cell: int
    bounds: tuple[float, float, float, float]
    share: float
    low: float
    high: float


class DensityMap(Estimate):
    """The share of people, or of places, in every cell of a map. `grid` says where the cells are.

    `interval`, `variance` and `covariance` are worked out when they are asked for. Intervals of fitted maps do not rest
    on the fit, which is bent: they hold for all distributions of places (`map_intervals`).
    """

    grid: MapGrid
    iterations: int
    converged: bool
    _spread: Callable[[], Floats]
    _divided: Callable[[], MapIntervals] | None
    _known: dict[float, tuple[Floats, Floats]]

    def __init__(
        self,
        grid: MapGrid,
        fit: Fit,
        n: int,
        target: Target,
        method: str,
        spread: Callable[[], Floats],
        divided: Callable[[], MapIntervals] | None = None,
        sure: ScoreIntervals | None = None,
    ) -> None:
        fields = {
            "value": fit.shares,
            "n": n,
            "target": target,
            "method": method,
            "labels": grid.labels,
            "total": 1.0 if fit.iterations == 0 else None,
            "bounds": (0.0, 1.0),
            "small_sample": None,
            "sure": sure,
            "parent": None,
            "grid": grid,
            "iterations": fit.iterations,
            "converged": fit.converged,
            "_spread": spread,
            "_divided": divided,
            "_known": {},
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        return f"DensityMap({self.method}, n={self.n})"

    @cached_property
    def intervals(self) -> MapIntervals | None:
        """What intervals are worked out with, unless the map was inverted on the mechanism's own cells."""
        return None if self._divided is None else self._divided()

    def interval(
        self, level: float = 0.95, method: Literal["auto", "wald", "exact"] = "auto", *, together: bool = False
    ) -> tuple[Floats, Floats]:
        """Lower and upper ends, each at this level on its own; of a fitted map between 0 and 1, and never without its value."""
        if self.intervals is None or method == "exact":
            return super().interval(level, method, together=together)
        reach = half_width(1 - (1 - level) / len(self.value) if together else level)
        if reach not in self._known:
            cells = self.grid.numbered(self.intervals.ground.middles)
            weights = [(cells == i).astype(np.float64) for i in range(len(self.grid))]
            ends = self.intervals.ends(weights, weights, reach)
            low, high = np.array(ends).T
            self._known[reach] = np.clip(np.minimum(low, self.value), 0, 1), np.clip(np.maximum(high, self.value), 0, 1)
        low, high = self._known[reach]
        return low.copy(), high.copy()

    @cached_property
    def variance(self) -> Floats:
        """The covariance's diagonal; of a fitted map so large that 1.96 standard errors reach both ends of its interval."""
        if self.iterations == 0:
            return np.diagonal(self._spread()).copy()
        low, high = self.interval()
        return np.asarray((np.maximum(high - self.value, self.value - low) / half_width(0.95)) ** 2)

    @cached_property
    def covariance(self) -> Floats:
        """How the shares vary together; of a fitted map the fit's correlations with the variances above."""
        spread = self._spread()
        if self.iterations == 0:
            return spread
        own = np.sqrt(np.diagonal(spread))
        scale = np.divide(self.standard_error, own, out=np.zeros_like(own), where=own > 0)
        together = scale[:, None] * spread * scale
        np.fill_diagonal(together, self.variance)
        return together

    @property
    def table(self) -> Floats:
        """The shares as rows by columns, lowest row first; nan outside the region."""
        return self.grid.table(self.value)

    def weighted(self, weights: Floats) -> tuple[float, float]:
        """The sum of weights times shares, and its variance."""
        return float(weights @ self.value), max(float(weights @ self.covariance @ weights), 0.0)

    def range_share(self, low: tuple[float, float], high: tuple[float, float]) -> Estimate:
        """The share of people in the rectangle between two corners; cells it cuts count by their area in it."""
        weights = self.grid.covered(low, high)
        value = float(weights @ self.value)
        if self.intervals is None:
            return self._range(value, self.weighted(weights)[1], None)
        intervals = self.intervals

        def work(level: float) -> tuple[Floats, Floats]:
            least, most = intervals.inside(low, high, half_width(level))
            return np.asarray(least), np.asarray(most)

        ends = Ends(work, np.asarray(value), (0.0, 1.0))
        return self._range(value, float(ends.variance()), ends)

    def _range(self, value: float, variance: float, ends: Ends | None) -> Estimate:
        return Estimate(
            value=np.asarray(value),
            variance=np.asarray(min(variance, MOST_VARIANCE)),
            n=self.n,
            target=self.target,
            method=f"range of {self.method}",
            bounds=(0.0, 1.0),
            sure=ends,
        )

    def hotspots(self, threshold: float | None = None, level: float = 0.95, *, together: bool = True) -> list[Hotspot]:
        """The cells whose whole interval lies above `threshold` (left out: twice an even share), fullest first.

        With `together` the level holds for all cells at once (Bonferroni): a false hotspot anywhere is rarer than 1 - level.
        """
        limit = 2.0 / len(self.value) if threshold is None else threshold
        if not 0 <= limit < 1:
            raise InvalidParameter("threshold must be a share from 0 up to, but not including, 1")
        low, high = self.interval(1 - (1 - level) / len(self.value) if together else level)
        order = np.argsort(-self.value, kind="stable")
        bounds = self.grid.bounds
        return [
            Hotspot(int(i), tuple(bounds[i].tolist()), float(self.value[i]), float(low[i]), float(high[i]))
            for i in order
            if low[i] > limit
        ]
