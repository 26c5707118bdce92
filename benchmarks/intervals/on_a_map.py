"""Places: density maps and ranges, and trips between cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.batch import randomize_many
from deniable.core import Interval, Rectangle, make_mechanism
from deniable.errors import NotSupported
from deniable.studies import density_map, fine_density_map, length_distribution, origin_destination, transition_table
from intervals.answers import LEVEL, Answer, Cell, Floats, Trial, bins, fixed, of_shares, parts_of, truth_of
from intervals.shapes import NUMBERS, PLACES

SIDE, FINE, MOST_PLACES = 4, 8, 8
"""Cells of the map and of the mechanism along a side, and places of a path: finer cells have the same laws and take long."""
MAPS = ("tracs-d",), ("nearest-cells", "tracs-c")
"""The main mechanism, and others."""
FINE_MAPS = (), ("nearest-cells",)
LENGTHS = (), ("counted",)
"""Every report shows how long a path is: no mechanism."""
CORNERS = ((0.0, 0.0), (0.375, 0.625))


def _square(cells: int) -> Rectangle:
    return Rectangle(Interval(0, 1, cells=cells), Interval(0, 1, cells=cells))


def _table(places: Floats) -> Floats:
    """The share of places in every cell, lowest row first."""
    return np.histogram2d(places[:, 1], places[:, 0], bins=SIDE, range=((0, 1), (0, 1)))[0].ravel() / len(places)


def _in_the_corner(places: Floats) -> Any:
    return np.mean((places[:, 0] < CORNERS[1][0]) & (places[:, 1] < CORNERS[1][1]))


def maps(cell: Cell) -> Trial:
    """A map of four by four cells, and a range that cuts them."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=_square(FINE), epsilon=cell.epsilon)
    target: Any = cell.target

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        places = PLACES[cell.shape](draws, cell.n)
        reports = randomize_many(mechanism, places, stream)
        fitted, truth = density_map(reports, cells=SIDE, target=target), truth_of(cell, target, places, _table)
        yield of_shares("density_map", target, truth, partial(fitted.interval, LEVEL))
        inside = truth_of(cell, target, places, _in_the_corner)
        yield of_shares("density_map: range_share", target, inside, lambda: fitted.range_share(*CORNERS).interval(LEVEL))
        with suppress(NotSupported):
            inverted = density_map(reports, cells=SIDE, target=target, method="unbiased")
            yield of_shares("density_map, unbiased", target, truth, partial(inverted.interval, LEVEL))

    return trial


def fine_maps(cell: Cell) -> Trial:
    """The same of a map that is made for many cells; the resampled runs do not matter for the intervals, so there are two."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=_square(FINE), epsilon=cell.epsilon)

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        reports = randomize_many(mechanism, PLACES[cell.shape](draws, cell.n), stream)
        fitted = fine_density_map(reports, cells=SIDE, runs=2, most_iterations=20, keystream=stream)
        truth, inside = (truth_of(cell, "population", np.empty((0, 2)), question) for question in (_table, _in_the_corner))
        yield of_shares("fine_density_map", "population", truth, lambda: fitted.estimate.interval(LEVEL))
        ends = lambda: fitted.range_share(*CORNERS).interval(LEVEL)  # noqa: E731
        yield of_shares("fine_density_map: range_share", "population", inside, ends)

    return trial


def lengths(cell: Cell) -> Trial:
    """How many places paths have, which reports show: from one to eight."""

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        starts = np.concatenate([[0], np.cumsum(1 + parts_of(NUMBERS[cell.shape](draws, cell.n), MOST_PLACES))])
        estimate = length_distribution(starts, np.arange(1, MOST_PLACES + 2), target="population")
        truth = truth_of(cell, "population", np.empty(0), bins(MOST_PLACES))
        yield of_shares("length_distribution", "population", truth, partial(estimate.interval, LEVEL))

    return trial


def trips(cell: Cell) -> Trial:
    """From where to where people go, on a map of two by two cells that are the mechanism's own: there, and on from there."""
    mechanism: Any = make_mechanism(cell.mechanism, domain=_square(2), epsilon=cell.epsilon, area="1/4")

    def trial(draws: np.random.Generator, stream: Any) -> Iterator[Answer]:
        stops = [PLACES[cell.shape](draws, cell.n) for _ in range(3)]
        for before, after in pairwise(stops):
            after[:] = np.where(draws.random((cell.n, 1)) < 0.3, before, after)
        of = [np.minimum((places * 2).astype(int), 1) @ np.array([1, 2]) for places in stops]
        steps = [np.bincount(4 * a + b, minlength=16) / cell.n for a, b in pairwise(of)]
        reports = randomize_many(mechanism, np.stack(stops[:2], axis=1).reshape(-1, 2), stream)
        trips = origin_destination(reports, np.arange(0, 2 * cell.n + 1, 2), cells=2)
        yield of_shares("origin_destination", "these users", steps[0], partial(trips.interval, LEVEL))
        reports = randomize_many(mechanism, np.stack(stops, axis=1).reshape(-1, 2), stream)
        moves = transition_table(reports, np.arange(0, 3 * cell.n + 1, 3), cells=2)
        truth = (steps[0] + steps[1]) / 2
        yield of_shares("transition_table", "these users", truth, partial(moves.interval, LEVEL))
        low, high = moves.next_cells.interval(LEVEL)
        leaving = truth.reshape(4, 4).sum(axis=1, keepdims=True)
        shares = (truth.reshape(4, 4) / np.where(leaving > 0, leaving, 1.0)).ravel()
        # Rows that are unknown have no interval, and where nobody leaves there is no truth: both count as held, without a width.
        unknown = np.isnan(low) | (np.repeat(leaving.ravel(), 4) == 0)
        ends = np.where(unknown, shares, low), np.where(unknown, shares, high)
        yield of_shares("transition_table: next_cells", "these users", shares, fixed(*ends))

    return trial
