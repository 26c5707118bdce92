"""Density maps of many cells: the same expectation maximization without a matrix, with intervals by resampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Counts, Floats, Integers, Keystream, SystemKeystream
from deniable.core import NearestCells
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import Ends, Estimate, Fit, accumulated, half_width, maximise
from deniable.studies.trajectories.map_fit import described, stop_at
from deniable.studies.trajectories.map_grid import MapGrid
from deniable.studies.trajectories.map_intervals import MapIntervals, map_intervals
from deniable.studies.trajectories.nearest_law import NearestLaw
from deniable.studies.trajectories.place_channel import (
    Source,
    bounding_rectangle,
    cells_along,
    nearest_grid,
    place_channel,
    source_mechanism,
)

RUNS = 20


@dataclass(frozen=True, eq=False, repr=False)
class FineMap:
    """Shares of the cells of `grid`, and the same from `runs` resampled sets of reports."""

    grid: MapGrid
    value: Floats
    replicates: Floats
    n: int
    method: str
    converged: bool
    divided: Callable[[], MapIntervals]
    """Makes the cells that intervals come from; asked for once."""

    @cached_property
    def intervals(self) -> MapIntervals:
        """What the reports say of any part of the map, whatever the distribution is."""
        return self.divided()

    @property
    def table(self) -> Floats:
        """The shares as rows by columns, lowest row first; nan outside the region."""
        return self.grid.table(self.value)

    @cached_property
    def estimate(self) -> Estimate:
        """The shares with variances from the resampled runs: how they vary, not how far off they are.

        Reports can hardly distinguish cells as small as these, so the intervals, which hold whatever the distribution is, are much
        wider than the variances suggest. They are worked out when they are asked for, which takes long for many cells.
        """
        return self._estimated(self.value, self.replicates.var(axis=0, ddof=1), Ends(self._cell_ends, self.value, (0.0, 1.0)))

    def _cell_ends(self, level: float) -> tuple[Floats, Floats]:
        parts = [self.intervals.ground.covered((box[0], box[1]), (box[2], box[3])) for box in self.grid.bounds.tolist()]
        sides = [np.floor(part + 1e-9) for part in parts], [np.ceil(part - 1e-9) for part in parts]
        low, high = np.array(self.intervals.ends(*sides, half_width(level))).T
        return low, high

    def range_share(self, low: tuple[float, float], high: tuple[float, float]) -> Estimate:
        """The share of places in the rectangle between two corners."""
        weights = self.grid.covered(low, high)
        value, variance = np.asarray(weights @ self.value), np.asarray((self.replicates @ weights).var(ddof=1))

        def work(level: float) -> tuple[Floats, Floats]:
            least, most = self.intervals.inside(low, high, half_width(level))
            return np.asarray(least), np.asarray(most)

        return self._estimated(value, variance, Ends(work, value, (0.0, 1.0)))

    def _estimated(self, value: Floats, variance: Floats, ends: Ends) -> Estimate:
        return Estimate(
            value=value, variance=variance, n=self.n, target="population", method=self.method, bounds=(0.0, 1.0), sure=ends
        )

    def __repr__(self) -> str:
        return f"FineMap({self.method}, n={self.n})"


def fine_density_map(
    source: Source,
    *,
    cells: int | tuple[int, int] = 64,
    method: Literal["ems", "em"] = "ems",
    runs: int = RUNS,
    tolerance: float | None = None,
    most_iterations: int = 200,
    keystream: Keystream | None = None,
) -> FineMap:
    """The share of places in every cell of a map of up to all cells of nearest-cells.

    One step costs some 10**7 additions on a 256 by 256 grid at epsilon 2 and fewer above. The reports are resampled
    `runs` times and fitted again, with as many steps, to see how much the shares vary.
    """
    if method not in ("ems", "em"):
        raise InvalidParameter("method must be 'ems' or 'em'")
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 2:
        raise InvalidParameter("runs must be a whole number, at least 2")
    mechanism = source_mechanism(source)
    if not isinstance(mechanism, NearestCells):
        raise NotSupported(f"fine maps are made from reports of nearest-cells, not of {mechanism.name}; use density_map")
    limit = stop_at(mechanism, method, tolerance, most_iterations)
    law = NearestLaw(mechanism)
    grid, inputs = nearest_grid(law, bounding_rectangle(mechanism), cells)
    sums = accumulated(source)
    assert isinstance(sums, Counts)
    sizes = np.bincount(inputs).astype(np.float64)

    def fitted(counts: Floats, tolerance: float, most: int) -> Fit:
        return maximise(
            lambda shares: law.chances((shares / sizes)[inputs]),
            lambda ratio: np.bincount(inputs, law.averages(ratio)) / sizes,
            (lambda shares: smoothed(shares, grid)) if method == "ems" else (lambda shares: shares),
            counts,
            np.full(len(grid), 1 / len(grid)),
            tolerance,
            most,
        )

    fit = fitted(sums.sums.astype(np.float64), limit, most_iterations)
    stream = SystemKeystream() if keystream is None else keystream
    again = [fitted(resampled(sums.sums, stream), 0.0, fit.iterations).shares for _ in range(runs)]
    name = described(method, mechanism, grid, fit)
    name = f"{name}, {runs} resampled runs"
    # Sixteen cells a side, or fewer on a coarse lattice: intervals divide them again where many people are.
    coarse = min(16, cells_along(mechanism, "x"), cells_along(mechanism, "y"))

    return FineMap(
        grid,
        fit.shares,
        np.array(again),
        sums.n,
        name,
        fit.converged,
        lambda: map_intervals(place_channel(mechanism, coarse), source),
    )


def smoothed(shares: Floats, grid: MapGrid) -> Floats:
    """(1, 2, 1)/4 along rows and then along columns; what would leave the region stays where it is.

    >>> grid = MapGrid(np.arange(4.0), np.arange(2.0), np.ones((1, 3), bool))
    >>> smoothed(np.array([1.0, 0.0, 0.0]), grid).tolist()
    [0.75, 0.25, 0.0]
    """
    table = np.zeros((grid.rows, grid.columns))
    table[grid.inside] = shares
    for axis in (1, 0):
        mixed = 0.5 * table
        for step in (-1, 1):
            from_there, there = np.roll(table, step, axis), np.roll(grid.inside, step, axis)
            border = [slice(None)] * 2
            border[axis] = slice(0, 1) if step == 1 else slice(-1, None)
            there[tuple(border)] = False
            # What comes from the neighbour, and what stays because there is none.
            mixed += 0.25 * np.where(there, from_there, table)
        table = np.where(grid.inside, mixed, 0.0)
    return np.asarray(table[grid.inside])


def resampled(counts: Integers, keystream: Keystream) -> Floats:
    """As many reports again, drawn with replacement; by comparison of 64-bit numbers, which is uneven by n / 2**64."""
    n = int(counts.sum())
    words: NDArray[np.uint64] = np.empty(n, np.uint64)
    keystream.fill(words)
    place = (words >> np.uint64(11)).astype(np.float64) * (n * 2.0**-53)
    drawn: Integers = np.searchsorted(np.cumsum(counts), place, "right")
    return np.bincount(drawn, minlength=len(counts)).astype(np.float64)
