"""Intervals for distributions whose density changes slowly: an assumption that is the user's, and is shown with the answer.

The density rises and falls nowhere faster than that of one triangular peak that holds everybody and is `peak` wide: by at most
4/peak**2 per unit. Averages of such a density over two neighbouring cells differ by at most that, times the distance of the
cells' middles. So the most that a sum over cells can be among all such densities is a linear program, and takes the place that
the largest of all points has without the assumption (`plausible`). Estimators are looked for among mixtures of such peaks, of
narrower ones (of which few people can be in each) and without the assumption. The pilot's half of the reports says which one to
take; whichever is taken, the bound holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from deniable.batch import Floats
from deniable.estimators.plausible import Aim, Pilot, Plausible, halves, pilot_shares
from deniable.estimators.response import Response

CELLS = 96
PEAKS = 64
NARROWER = (1.0, 0.4, 0.15)
"""Widths of peaks that estimators are made for, of the widest."""


@dataclass(frozen=True, eq=False)
class SmoothGrid:
    """Cells of the domain, and the peaks that densities are thought to be mixed of."""

    response: Response
    """With points at all edges of cells."""
    edges: Floats
    peak: float

    @staticmethod
    def over(response: Response, edges: Floats, peak: float) -> SmoothGrid:
        """Equal cells that are cut at these edges."""
        low, high = response.ends
        every = np.concatenate([np.linspace(low, high, CELLS + 1), np.clip(edges, low, high)])
        every = np.unique(np.round((every - low) / (high - low), 12)) * (high - low) + low
        return SmoothGrid(response.with_edges(every), every, peak)

    @property
    def least(self) -> Floats:
        """The smallest value of every cell."""
        return self.edges[:-1]

    @property
    def most(self) -> Floats:
        """The value that every cell ends before."""
        return self.edges[1:]

    @property
    def _middles(self) -> Floats:
        return np.asarray((self.edges[1:] + self.edges[:-1]) / 2)

    def inside(self, low: float, high: float) -> tuple[Floats, Floats]:
        """Which cells lie between two edges; surely and possibly are the same."""
        middles = self._middles
        across = self.response.circular and low > high
        within = ((middles > low) | (middles < high)) if across else (middles > low) & (middles < high)
        return within.astype(np.float64), within.astype(np.float64)

    @cached_property
    def _stands_for(self) -> NDArray[np.bool_]:
        """Which points may stand for values of a cell: a row for every cell."""
        points, slack = self.response, 1e-9 * (self.edges[-1] - self.edges[0])
        if points.between:
            return np.asarray((points.least >= self.least[:, None] - slack) & (points.least <= self.most[:, None] + slack))
        return np.asarray((points.most > self.least[:, None] + slack) & (points.least < self.most[:, None] - slack))

    def lowest(self, linear: Floats) -> Floats:
        """The least that an estimator expects of any value of each cell."""
        expected = self.response.table @ linear
        return np.asarray(np.where(self._stands_for, expected, np.inf).min(axis=1))

    def peaks(self, wide: float) -> Floats:
        """Peaks as shares of cells, a row each, evenly placed; they do not depend on where cells are cut."""
        low, high = self.edges[0], self.edges[-1]
        centres = low + (high - low) * (np.arange(PEAKS) + 0.5) / PEAKS
        away = np.abs(self._middles - centres[:, None])
        if self.response.circular:
            away = np.minimum(away, (high - low) - away)
        # A peak that is narrower than the cells still lies in one of them.
        height = np.maximum(1 - 2 * away / max(wide, 2 * (high - low) / PEAKS), 0.0) * np.diff(self.edges)
        return np.asarray(height / height.sum(axis=1, keepdims=True))

    @cached_property
    def rows(self) -> Floats:
        """The chance of every group of reports in each cell, about."""
        return np.asarray(self._stands_for @ self.response.table / self._stands_for.sum(axis=1, keepdims=True))

    @cached_property
    def mixtures(self) -> list[Floats]:
        """Peaks of several widths, as shares of cells."""
        return [self.peaks(part * self.peak) for part in NARROWER]

    def at_points(self, weights: Floats) -> Floats:
        """Weights of points from those of the cells that they stand for: of two cells the larger one."""
        return np.asarray(np.where(self._stands_for, weights[:, None], -np.inf).max(axis=0))

    @cached_property
    def _slopes(self) -> tuple[sparse.csr_matrix, Floats]:
        """Differences of neighbouring densities, from shares of cells, and the most that they may be."""
        widths, middles, count = np.diff(self.edges), self._middles, len(self.edges) - 1
        first, gaps = np.arange(count - 1), np.diff(middles)
        second = first + 1
        if self.response.circular:
            first, second = np.append(first, count - 1), np.append(second, 0)
            gaps = np.append(gaps, self.edges[-1] - middles[-1] + middles[0] - self.edges[0])
        rows = np.arange(len(first))
        places = np.concatenate([rows, rows]), np.concatenate([second, first])
        change = sparse.csr_matrix((np.concatenate([1 / widths[second], -1 / widths[first]]), places), shape=(len(first), count))
        return sparse.vstack([change, -change]).tocsr(), np.tile(4 / self.peak**2 * gaps, 2)

    def most_of(self, gains: Floats) -> float:
        """The most that the sum of gains times shares of cells can be."""
        slopes, limits = self._slopes
        total = np.ones((1, len(gains)))
        solved: Any = linprog(-gains, A_ub=slopes, b_ub=limits, A_eq=total, b_eq=[1.0], bounds=(0, None), method="highs")  # type: ignore[call-overload]
        # Without a solution nothing is assumed: the largest of all cells is a bound too.
        return min(float(-solved.fun), float(gains.max())) if solved.status == 0 else float(gains.max())


@dataclass(frozen=True, eq=False)
class SmoothPilot:
    """Pilots that are mixtures of peaks of several widths, and one that assumes nothing."""

    grid: SmoothGrid
    mixed: list[Pilot]
    """One for each of the grid's mixtures."""
    free: Pilot

    @property
    def n(self) -> float:
        """Of all reports."""
        return self.free.n

    @cached_property
    def _made_by(self) -> dict[int, Pilot]:
        return {}

    def aim(self, weights: Floats, reach: float) -> Aim | None:
        """The estimator for the upper end of a sum over cells whose end the pilot expects to be lowest."""
        asked = [(pilot, mixture @ weights) for pilot, mixture in zip(self.mixed, self.grid.mixtures, strict=True)]
        best, lowest = None, np.inf
        for pilot, own in [*asked, (self.free, self.grid.at_points(weights))]:
            aim = pilot.aim(own, reach)
            if aim is None:
                continue
            spread, _ = pilot.noise(aim)
            expected = float(self.free.expected @ aim.linear) + self.slack(weights, aim.linear)
            end = expected + reach * float(np.sqrt(spread / self.n))
            if end < lowest:
                best, lowest = aim, end
                self._made_by[id(aim)] = pilot
        return best

    def slack(self, weights: Floats, linear: Floats) -> float:
        """How far the sum may lie above what the estimator expects."""
        return self.grid.most_of(weights - self.grid.lowest(linear))

    def noise(self, aim: Aim) -> tuple[float, float]:
        """The variance and the third central moment of the estimator for one report."""
        return self._made_by[id(aim)].noise(aim)


Suggested = list[list[Floats]]
"""Shares of every mixture of peaks, by each half of the reports."""


def suggested_peaks(grid: SmoothGrid, counts: Floats) -> Suggested:
    """Peaks do not depend on where cells are cut, so these are worked out once."""
    return [[pilot_shares(mixture @ grid.rows, mine) for mixture in grid.mixtures] for mine in halves(counts)]


def smooth_plausible(grid: SmoothGrid, peaks: Suggested, free: Plausible) -> Plausible:
    """What the reports say of densities that change slowly; `free` is what they say without the assumption, on the same points."""
    parts = []
    for shares, (pilot, counts) in zip(peaks, free.parts, strict=False):
        assert isinstance(pilot, Pilot)
        mixed = [Pilot(mixture @ grid.rows, own, pilot.n, pilot.target) for mixture, own in zip(grid.mixtures, shares, strict=True)]
        parts.append((SmoothPilot(grid, mixed, pilot), counts))
    return Plausible(parts)
