"""Where people go: origin-destination and transition tables between the cells of a coarse public map, with intervals.

A report's weights (`PlaceChannel.unbiased`) have the expectation 1 in the person's own map cell and 0 elsewhere. Two
places of a path are reported with independent coins, so the product of their weights has the expectation 1 for the true
pair of cells and 0 for all others: averages of products are unbiased. They are exactly so when the map's cells are the
mechanism's own, and otherwise as far as places are spread evenly within map cells.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deniable.batch import Floats, Integers, Reports
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import Estimate, simplex
from deniable.studies.trajectories.map_grid import MapGrid
from deniable.studies.trajectories.place_channel import PlaceChannel, cells_along, place_channel
from deniable.studies.trajectories.step_intervals import Ratios, StepLaw

Kind = Literal["origin-destination", "transition"]
MOST_PAIRS = 1 << 12
"""Pairs of cells in a table: 64 cells."""
FULL_COVARIANCE = 1 << 10
CHUNK = 1 << 22
POINTS = 4
"""Points along a side that stand for a map cell when distances are measured."""


class PlaceTable(Estimate):
    """The share of trips (or steps) from each map cell to each; flat, the cell of departure outermost.

    Shares are unbiased and may be negative; `projected()` makes them possible. Intervals follow from the law of the reports: they
    hold the noise and that other people could have been asked. For "these users" they are wider than need be.
    """

    grid: MapGrid
    law: StepLaw

    @property
    def table(self) -> Floats:
        """From rows to columns, cells numbered as in `grid`."""
        return self.value.reshape(len(self.grid), len(self.grid))

    @cached_property
    def next_cells(self) -> Estimate:
        """Given the cell of departure, the share of each cell of arrival (the Markov model), with Fieller's intervals of ratios.

        Rows whose own share is not two standard errors above 0 are unknown: nan, and so are their intervals.
        """
        if self.covariance is None:
            raise NotSupported(
                f"the shares of a row need the full covariance: use a map of at most {int(FULL_COVARIANCE**0.5)} cells"
            )
        cells = len(self.grid)
        cov = self.law.covariance().reshape(cells, cells, cells, cells)
        rows = self.table.sum(axis=1)
        row_variance = np.einsum("abac->a", cov)
        known = rows > 2 * np.sqrt(np.maximum(row_variance, 0))
        rows = np.where(known, rows, np.nan)
        shares = self.table / rows[:, None]
        with_row = np.einsum("abac->ab", cov)
        own = np.einsum("abab->ab", cov)
        variance = (own - 2 * shares * with_row + shares**2 * row_variance[:, None]) / rows[:, None] ** 2
        return Estimate(
            value=shares.ravel(),
            variance=np.maximum(variance, 0).ravel(),
            n=self.n,
            target=self.target,
            method=f"rows of {self.method}",
            labels=self.labels,
            bounds=(0.0, 1.0),
            sure=Ratios(self.table, rows, own, with_row, row_variance),
            assumes=self.assumes,
        )

    def distances(self, edges: ArrayLike) -> Estimate:
        """The share of trips (or steps) whose length lies between successive edges, in the unit of the map.

        Places are taken as spread evenly within their cells, independently of one another.
        """
        cuts = np.asarray(edges, np.float64)
        if cuts.ndim != 1 or len(cuts) < 2 or not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
            raise InvalidParameter("edges must be increasing finite distances, at least two")
        if self.covariance is None:
            raise NotSupported(f"distances need the full covariance: use a map of at most {int(FULL_COVARIANCE**0.5)} cells")
        weights = _distance_weights(self.grid, cuts)
        return Estimate(
            value=weights @ self.value,
            covariance=np.asarray(weights @ self.covariance @ weights.T),
            n=self.n,
            target=self.target,
            method=f"distances of {self.method}",
            labels=list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)),
            bounds=(0.0, 1.0),
            sure=self.law.sums(weights),
            assumes="places are spread evenly within the map's cells",
        )


def origin_destination(reports: Reports, starts: ArrayLike, *, cells: int | tuple[int, int] = 4) -> PlaceTable:
    """The share of paths from each map cell to each: their first and their last place.

    `starts` says where each path's reports begin, as in `Paths`. Paths of fewer than two places are no trips.

    >>> from deniable.core import Interval, Rectangle
    >>> from deniable.core import make_mechanism
    >>> square = Rectangle(Interval(0, 1, cells=2), Interval(0, 1, cells=2))
    >>> mechanism = make_mechanism("nearest-cells", domain=square, epsilon=6, area="1/4")
    >>> commuters = mechanism.randomize_many([(0.1, 0.1), (0.9, 0.9)] * 500)
    >>> trips = origin_destination(commuters, np.arange(0, 1001, 2), cells=2)
    >>> int(trips.value.argmax()), trips.n
    (3, 500)
    """
    borders = _checked(reports, starts)
    kept = np.flatnonzero(np.diff(borders) >= 2)
    pairs = np.stack([borders[kept], borders[kept + 1] - 1], axis=1)
    return _table("origin-destination", place_channel(reports.mechanism, cells), reports, pairs, np.arange(len(kept) + 1))


def transition_table(reports: Reports, starts: ArrayLike, *, cells: int | tuple[int, int] = 4) -> PlaceTable:
    """The share of steps from each map cell to each: all pairs of successive places of all paths.

    Steps of one path share reports and are made by one person, which the intervals allow for. Long paths weigh more.
    """
    borders = _checked(reports, starts)
    steps = np.maximum(np.diff(borders) - 1, 0)
    first = np.repeat(borders[:-1] - np.concatenate([[0], np.cumsum(steps)[:-1]]), steps) + np.arange(int(steps.sum()))
    own = steps[steps > 0]
    bounds = np.concatenate([[0], np.cumsum(own)])
    return _table("transition", place_channel(reports.mechanism, cells), reports, np.stack([first, first + 1], axis=1), bounds)


def _checked(reports: Reports, starts: ArrayLike) -> Integers:
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"the source of a table is Reports, path after path, got {type(reports).__name__}")
    borders = np.asarray(starts, np.int64)
    if borders.ndim != 1 or len(borders) < 2 or borders[0] != 0 or borders[-1] != len(reports) or (np.diff(borders) < 0).any():
        raise InvalidParameter("starts must increase from 0 to the number of reports, one entry more than paths")
    return borders


def _table(kind: Kind, laid: PlaceChannel, reports: Reports, pairs: Integers, bounds: Integers) -> PlaceTable:
    """Averages of products over pairs, and their spread between paths; bounds[i] is where path i's pairs begin."""
    cells, paths = len(laid.grid), len(bounds) - 1
    if cells**2 > MOST_PAIRS:
        raise InvalidParameter(f"a table has at most {MOST_PAIRS} pairs, 64 cells; this map has {cells}: use fewer")
    if paths < 2:
        raise InvalidParameter("at least two paths with two places each are needed to see how much they differ")
    full = cells**2 <= FULL_COVARIANCE
    weights = np.ascontiguousarray(laid.unbiased.T)
    value, spread = _averages(weights, laid.grouped(reports), pairs, bounds, full)
    if kind == "origin-destination":
        # Every path is one pair, so the spread follows from the shares and the channel: steadier than the one seen,
        # which is too small where rare products have not come up.
        spread = _expected_spread(laid, weights, value, full) / (paths - 1)
    names, law = laid.grid.labels, StepLaw(laid, value, np.diff(bounds))
    table = PlaceTable(
        value=value,
        variance=np.diagonal(spread).copy() if full else spread,
        covariance=spread if full else None,
        n=paths,
        target="population",
        method=f"unbiased {kind} table of {laid.mechanism.name}, {laid.grid.columns} by {laid.grid.rows} cells",
        labels=[(a, b) for a in names for b in names],
        total=1.0,
        bounds=(0.0, 1.0),
        sure=law.pairs(),
        assumes=_assumed(laid),
    )
    object.__setattr__(table, "grid", laid.grid)
    object.__setattr__(table, "law", law)
    return table


def _averages(weights: Floats, groups: Integers, pairs: Integers, bounds: Integers, full: bool) -> tuple[Floats, Floats]:
    """The averages of products, and their spread as seen between paths."""
    count, paths = weights.shape[1] ** 2, len(bounds) - 1
    steps = np.diff(bounds).astype(np.float64)
    total, moment, mixed = np.zeros(count), np.zeros((count, count) if full else count), np.zeros(count)
    for begin, end in _runs(bounds, CHUNK // count):
        own = pairs[bounds[begin] : bounds[end]]
        one, other = weights[groups[own[:, 0]]], weights[groups[own[:, 1]]]
        products = (one[:, :, None] * other[:, None, :]).reshape(len(own), -1)
        sums = np.add.reduceat(products, bounds[begin:end] - bounds[begin], axis=0)
        total += sums.sum(axis=0)
        moment += sums.T @ sums if full else (sums**2).sum(axis=0)
        mixed += steps[begin:end] @ sums
    whole, square = float(bounds[-1]), float(steps @ steps)
    value = total / whole
    # The ratio of two sums over paths: what path i adds beyond its expected share is sums_i - value * steps_i.
    if full:
        spread = moment - np.outer(value, mixed) - np.outer(mixed, value) + square * np.outer(value, value)
    else:
        spread = moment - 2 * value * mixed + square * value**2
    return value, np.asarray(spread * (paths / (paths - 1) / whole**2))


def _expected_spread(laid: PlaceChannel, weights: Floats, value: Floats, full: bool) -> Floats:
    """The covariance of one path's products, if the nearest possible shares are the true ones."""
    cells = len(laid.grid)
    shares = simplex(value, 1.0)
    table = shares.reshape(cells, cells)
    if not full:
        squares = laid.matrix @ weights**2
        return np.asarray((squares.T @ table @ squares).ravel() - shares**2)
    # Expected products of two weights, for a person in each cell.
    both = (laid.matrix @ (weights[:, :, None] * weights[:, None, :]).reshape(len(weights), -1)).reshape(cells, -1)
    second = (both.T @ table @ both).reshape(cells, cells, cells, cells).transpose(0, 2, 1, 3)
    return np.asarray(second.reshape(cells**2, cells**2) - np.outer(shares, shares))


def _runs(bounds: Integers, most: int) -> list[tuple[int, int]]:
    """Ranges of paths with at most `most` pairs together, a longer path by itself."""
    runs, begin, last = [], 0, len(bounds) - 1
    while begin < last:
        end = max(int(np.searchsorted(bounds, bounds[begin] + max(most, 1), "right")) - 1, begin + 1)
        runs.append((begin, end))
        begin = end
    return runs


def _assumed(laid: PlaceChannel) -> str:
    own = cells_along(laid.mechanism, "x"), cells_along(laid.mechanism, "y")
    return "" if own == (laid.grid.columns, laid.grid.rows) else "places are spread evenly within the map's cells"


def _distance_weights(grid: MapGrid, cuts: Floats) -> Floats:
    """For every pair of cells, the chance that two even places are so far apart; a row per range of distances."""
    share = (np.arange(POINTS) + 0.5) / POINTS
    left, lower, right, upper = grid.bounds.T
    x = left[:, None] + (right - left)[:, None] * np.tile(share, POINTS)
    y = lower[:, None] + (upper - lower)[:, None] * np.repeat(share, POINTS)
    cells = len(grid)
    weights = np.zeros((len(cuts) - 1, cells, cells))
    for a in range(cells):
        apart = np.hypot(x[a][None, :, None] - x[:, None, :], y[a][None, :, None] - y[:, None, :]).reshape(cells, -1)
        place = np.searchsorted(cuts, apart, "right") - 1
        place = np.where(apart == cuts[-1], len(cuts) - 2, place)
        for d in range(len(cuts) - 1):
            weights[d, a] = (place == d).mean(axis=1)
    return weights.reshape(len(cuts) - 1, -1)
