"""Where people are: the density map behind many perturbed places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from deniable.batch import Floats
from deniable.core import Mechanism
from deniable.errors import InvalidParameter
from deniable.estimators import IMAGINED, Fit, Target, check_target, count_covariance, maximise, of_table, sensitivity, simplex
from deniable.studies.trajectories.density_estimate import DensityMap
from deniable.studies.trajectories.map_fit import described, stop_at
from deniable.studies.trajectories.map_intervals import map_intervals
from deniable.studies.trajectories.place_channel import (
    PlaceChannel,
    Source,
    cells_along,
    map_rows_and_columns,
    place_channel,
    source_mechanism,
)

Method = Literal["ems", "em", "unbiased"]
FITTED = 16
"""Cells along the longer side of the map that is fitted, at least."""


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
    Intervals assume nothing about where people are: where reports cannot tell neighbouring cells apart they are wide, although
    the map looks sure. They are those of a population, and wider than need be for "these users". They are worked out when they
    are asked for, all cells at once: a second or two for a map of 3 by 3, half a minute for one of 16 by 16.
    Reports of tracs-d are those seen from its own reference. Places of a walk, each seen from the report before, are not:
    where people were before says where they are, which a map of independent places would take for news.
    One person may give many reports: they are independent given the places, so intervals for "these users" hold.
    For "population" they hold when everyone gives one.

    >>> from deniable.core import make_mechanism
    >>> here = make_mechanism("nearest-cells", epsilon=6).randomize_many([(0.3, 0.8)] * 1000)
    >>> density = density_map(here, cells=4, method="em")
    >>> density.labels[int(density.value.argmax())], density.hotspots()[0].low > 0.5
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
        exact = Fit(shares)
        name = described(method, mechanism, laid.grid, exact)
        likely = simplex(shares, 1.0)
        if (cells_along(mechanism, "x"), cells_along(mechanism, "y")) == (columns, rows):
            sure = of_table(shares, likely, laid.unbiased, laid.matrix, n, float(target == "population"), 1.0)
            return DensityMap(laid.grid, exact, n, target, name, lambda: spread, sure=sure)
        # The channel is inverted as if places were spread evenly within cells; the intervals do not rest on that.
        return DensityMap(laid.grid, exact, n, target, name, lambda: spread, lambda: map_intervals(laid, source))
    fitting = _Fitting(laid, counts, method == "ems", target)
    fine = fitting.fit(counts, limit, most_iterations)
    grid, adding = laid.grid.coarser(factor)
    fit = fine._replace(shares=adding @ fine.shares)
    name = described(method, mechanism, grid, fit)
    return DensityMap(
        grid,
        fit,
        n,
        target,
        name,
        lambda: adding @ fitting.spread(fine) @ adding.T,
        lambda: map_intervals(laid, source),
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
        # Reports that say the same count together: the likelihood changes by a constant.
        (matrix, alike), cells = self.laid.told_apart, len(self.laid.grid)
        counts = np.asarray(np.bincount(alike, counts), np.float64)
        # Outputs that nobody reported have no say.
        seen = counts > 0
        matrix, counts = np.ascontiguousarray(matrix[:, seen]), counts[seen]
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
