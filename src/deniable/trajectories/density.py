"""Where people are: the density map behind many perturbed places, its hotspots, and the share of people in a range."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from deniable.errors import InvalidParameter
from deniable.estimators.distribution import IMAGINED, STOP, count_covariance, sensitivity
from deniable.estimators.estimate import Estimate, Target, check_target, half_width
from deniable.estimators.projections import simplex
from deniable.mechanisms import Mechanism
from deniable.trajectories.leaves import Leaves, leaves
from deniable.trajectories.map_grid import Floats, MapGrid
from deniable.trajectories.place_channel import PlaceChannel, Source, cells_along, map_rows_and_columns, place_channel

Method = Literal["ems", "em", "unbiased"]
RULES = {"ems": "smoothed", "em": "most likely", "unbiased": "linear inversion"}
FITTED = 16
"""Cells along the longer side of the map that is fitted, at least."""
MOST_VARIANCE = 0.25
"""Of anything between 0 and 1."""


class Hotspot(NamedTuple):
    """A map cell (its number, its left, lower, right and upper side), its share and the interval of that."""

    cell: int
    bounds: tuple[float, float, float, float]
    share: float
    low: float
    high: float


class Fit(NamedTuple):
    """Where the iteration stopped."""

    shares: Floats
    iterations: int
    converged: bool


class DensityMap(Estimate):
    """The share of people, or of places, in every cell of a map. `grid` says where the cells are.

    `interval`, `variance` and `covariance` are worked out when they are asked for. Intervals of fitted maps do not rest
    on the fit, which is bent: they hold every share with which the reports are plausible (`strict_bounds`).
    """

    grid: MapGrid
    iterations: int
    converged: bool
    _spread: Callable[[], Floats]
    _divided: Callable[[], Leaves] | None
    _known: dict[float, tuple[Floats, Floats]]

    def __init__(
        self,
        grid: MapGrid,
        found: Fit,
        n: int,
        target: Target,
        method: str,
        spread: Callable[[], Floats],
        divided: Callable[[], Leaves] | None = None,
    ) -> None:
        fields = {
            "value": found.shares,
            "n": n,
            "target": target,
            "method": method,
            "labels": grid.labels,
            "total": 1.0 if found.iterations == 0 else None,
            "bounds": (0.0, 1.0),
            "small_sample": None,
            "parent": None,
            "grid": grid,
            "iterations": found.iterations,
            "converged": found.converged,
            "_spread": spread,
            "_divided": divided,
            "_known": {},
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        return f"DensityMap({self.method}, n={self.n})"

    @cached_property
    def leaves(self) -> Leaves | None:
        """The cells intervals are worked out with, of a fitted map."""
        return None if self._divided is None else self._divided()

    def interval(self, level: float = 0.95, method: Literal["wald", "exact"] = "wald") -> tuple[Floats, Floats]:
        """Lower and upper ends, each at this level on its own; of a fitted map between 0 and 1, and never without its value."""
        reach = half_width(level)
        if self.leaves is None or method != "wald":
            return super().interval(level, method)
        if reach not in self._known:
            cells = self.grid.numbered(self.leaves.middles)
            ends = [self.leaves.interval((cells == i).astype(np.float64), reach) for i in range(len(self.grid))]
            low, high = np.array(ends).T
            self._known[reach] = np.clip(np.minimum(low, self.value), 0, 1), np.clip(np.maximum(high, self.value), 0, 1)
        low, high = self._known[reach]
        return low.copy(), high.copy()

    @cached_property
    def variance(self) -> Floats:
        """The covariance's diagonal; of a fitted map so large that 1.96 standard errors reach both ends of its interval."""
        if self.leaves is None:
            return np.diagonal(self._spread()).copy()
        low, high = self.interval()
        return np.asarray((np.maximum(high - self.value, self.value - low) / half_width(0.95)) ** 2)

    @cached_property
    def covariance(self) -> Floats:
        """How the shares vary together; of a fitted map the fit's correlations with the variances above."""
        spread = self._spread()
        if self.leaves is None:
            return spread
        own = np.sqrt(np.diagonal(spread))
        scale = np.divide(self.standard_error, own, out=np.zeros_like(own), where=own > 0)
        found = scale[:, None] * spread * scale
        np.fill_diagonal(found, self.variance)
        return found

    @property
    def table(self) -> Floats:
        """The shares as rows by columns, lowest row first; nan outside the region."""
        return self.grid.table(self.value)

    def weighted(self, weights: Floats) -> tuple[float, float]:
        """The sum of weights times shares, and its variance."""
        return float(weights @ self.value), max(float(weights @ self.covariance @ weights), 0.0)

    def range_share(self, low: tuple[float, float], high: tuple[float, float]) -> Estimate:
        """The share of people in the rectangle between two corners; cells it cuts count by their area in it."""
        value, variance = self.weighted(self.grid.covered(low, high))
        if self.leaves is not None:
            least, most = self.leaves.interval(self.leaves.covered(low, high), half_width(0.95))
            variance = (max(most - value, value - least) / half_width(0.95)) ** 2
        return Estimate(
            value=np.asarray(value),
            variance=np.asarray(min(variance, MOST_VARIANCE)),
            n=self.n,
            target=self.target,
            method=f"range of {self.method}",
            bounds=(0.0, 1.0),
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


def density_map(
    source: Source,
    *,
    cells: int | tuple[int, int] = 16,
    method: Method = "em",
    target: Target = "these users",
    tolerance: float | None = None,
    most_iterations: int = 10_000,
) -> DensityMap:
    """The share of places in every cell of a public map, from reports of nearest-cells, tracs-c, tracs-d or x and y.

    `cells` counts along the longer side, or is (columns, rows); up to 1,024 cells in all (`fine_density_map` has more).
    "em" is the most likely map; "ems" smooths it by (1, 2, 1)/4 both ways after every step, better for few reports at
    epsilon 4 and more, too flat below; "unbiased" inverts the channel: possibly negative, for few cells.
    Maps of few cells are fitted with finer ones and put together, so that places need not be spread evenly within cells
    (for "unbiased" they must, unless the cells are the mechanism's own).
    Intervals for "em" and "ems" hold all shares with which the reports are plausible, smooth or not: where reports cannot
    tell neighbouring cells apart they are wide, although the map looks sure. They are those of a population, and wider
    than need be for "these users". One pair of ends takes some milliseconds; they are worked out when asked for.
    Reports of tracs-d are those seen from its own reference. Places of a walk, each seen from the report before, are not:
    where people were before says where they are, which a map of independent places would take for news.
    One person may give many reports: they are independent given the places, so intervals for "these users" hold.
    For "population" they hold when everyone gives one.

    >>> from deniable.mechanisms import make_mechanism
    >>> here = make_mechanism("nearest-cells", epsilon=6).randomize_many([(0.3, 0.8)] * 1000)
    >>> found = density_map(here, cells=4, method="em")
    >>> found.labels[int(found.value.argmax())], found.hotspots()[0].low > 0.5
    ((0.375, 0.875), True)
    """
    check_target(target)
    if method not in get_args(Method):
        raise InvalidParameter("method must be 'ems', 'em' or 'unbiased'")
    mechanism = source_mechanism(source)
    limit = stop_at(mechanism, method, tolerance, most_iterations)
    rows, columns = map_rows_and_columns(mechanism, cells)
    factor = 1 if method == "unbiased" else _finer(mechanism, rows, columns)
    laid = place_channel(mechanism, (columns * factor, rows * factor))
    counts = laid.counts(source)
    n = int(counts.sum())
    if method == "unbiased":
        shares = laid.unbiased @ (counts / n)
        # The noise depends on the true shares; the nearest possible ones stand in for them.
        spread = count_covariance(laid.unbiased, laid.matrix, simplex(shares, 1.0), n, target)
        exact = Fit(shares, 0, True)
        return DensityMap(laid.grid, exact, n, target, described(method, mechanism, laid.grid, exact), lambda: spread)
    fitting = _Fitting(laid, counts, method == "ems", target)
    fine = fitting.fit(counts, limit, most_iterations)
    grid, adding = laid.grid.coarser(factor)
    found = Fit(adding @ fine.shares, fine.iterations, fine.converged)
    name = described(method, mechanism, grid, found)
    return DensityMap(
        grid,
        found,
        n,
        target,
        name,
        lambda: adding @ fitting.spread(fine) @ adding.T,
        lambda: leaves(laid, source, fine.shares),
    )


def _finer(mechanism: Mechanism, rows: int, columns: int) -> int:
    """How many times finer than asked a map is fitted: until its longer side has 16 cells, if the reports allow it."""
    most = [cells_along(mechanism, name) // count for name, count in (("x", columns), ("y", rows))]
    return max(1, min(-(-FITTED // max(rows, columns)), *most))


@dataclass(frozen=True, eq=False)
class _Fitting:
    """Expectation maximization on a written-out channel, and how its result varies."""

    laid: PlaceChannel
    counts: Floats
    smooth: bool
    target: Target

    @cached_property
    def smoothing(self) -> Floats | None:
        return self.laid.grid.smoothing() if self.smooth else None

    def fit(self, counts: Floats, tolerance: float, most: int) -> Fit:
        matrix, cells = self.laid.matrix, len(self.laid.grid)
        smoothing = self.smoothing
        return maximise(
            lambda shares: shares @ matrix,
            lambda ratio: matrix @ ratio,
            (lambda shares: shares) if smoothing is None else (lambda shares: smoothing @ shares),
            counts,
            np.full(cells, 1 / cells),
            tolerance,
            most,
        )

    def spread(self, fine: Fit) -> Floats:
        """The covariance of the fixed point under multinomial counts, by the delta method: how it varies, not how far off it is."""
        matrix, n = self.laid.matrix, int(self.counts.sum())
        # Few reports seem to know much: a cell that got nothing looks certain. Some imagined ones keep it doubtful.
        real = n / (n + IMAGINED)
        shares = real * fine.shares + (1 - real) / len(fine.shares)
        seen = real * self.counts / n + (1 - real) * matrix.mean(axis=0)
        slope = sensitivity(matrix, shares, seen, fine.iterations, self.smoothing)
        return count_covariance(slope, matrix, shares, n, self.target)


def maximise(
    chances: Callable[[Floats], Floats],
    averages: Callable[[Floats], Floats],
    smooth: Callable[[Floats], Floats],
    counts: Floats,
    start: Floats,
    tolerance: float,
    most: int,
) -> Fit:
    """Expectation maximization until the log-likelihood changes by less than `tolerance`, at most `most` steps."""
    seen, whole = counts > 0, counts.sum()
    shares, previous = start, -np.inf
    ratio = np.zeros_like(counts)
    for iteration in range(most):
        likely = chances(shares)
        reached = float(counts[seen] @ np.log(likely[seen]))
        ratio[seen] = counts[seen] / (whole * likely[seen])
        shares = smooth(shares * averages(ratio))
        if abs(reached - previous) < tolerance:
            return Fit(shares, iteration + 1, True)
        previous = reached
    return Fit(shares, most, False)


def stop_at(mechanism: Mechanism, method: str, tolerance: float | None, most_iterations: int) -> float:
    """The change of the log-likelihood that ends an iteration: 0.001 for "ems", 0.001 e**epsilon for "em", as for numbers."""
    if isinstance(most_iterations, bool) or not isinstance(most_iterations, int) or most_iterations < 1:
        raise InvalidParameter("most_iterations must be a positive whole number")
    if tolerance is None:
        return STOP if method == "ems" else STOP * math.exp(min(float(mechanism.privacy), 50.0))
    if not tolerance >= 0:
        raise InvalidParameter("tolerance must not be negative")
    return tolerance


def described(method: str, mechanism: Mechanism, grid: MapGrid, found: Fit) -> str:
    """What was done, in words."""
    steps = f", {found.iterations} iterations" if found.iterations else ""
    return f"{method} ({RULES[method]}) map of {mechanism.name}, {grid.columns} by {grid.rows} cells{steps}"


def source_mechanism(source: Source) -> Mechanism:
    """The recipe behind a source; anything that is no source is refused."""
    mechanism = getattr(source, "mechanism", None)
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(f"the source of a map is an Accumulator or Reports of places, got {type(source).__name__}")
    return mechanism
