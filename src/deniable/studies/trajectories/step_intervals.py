"""Intervals for the shares of steps between map cells: every share under which the average of products is no surprise.

A step from u to v is read from two reports as the product of their weights (`PlaceChannel.unbiased`), whose first three
moments follow from the channel. Two successive steps share a report: for a person at x, y, z the products for (u, v) have the
covariance [x = u] [z = v] (E[w_u w_v | y] - [y = u = v]). Of all steps, at most the smaller of the shares of (u, y) and
(y, v) are at such places. How the steps of one person hang together is not known, so they count as repetitions of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.batch import Floats, Integers
from deniable.estimators import ScoreIntervals, ScoreQuestion, half_width, simplex
from deniable.studies.trajectories.place_channel import PlaceChannel


@dataclass(frozen=True, eq=False)
class StepLaw:
    """The average products of all pairs of cells, and how many steps each path has."""

    laid: PlaceChannel
    value: Floats
    steps: Integers

    @cached_property
    def table(self) -> Floats:
        """The likely shares of steps from cell to cell, as if one more path had been seen, spread evenly: nobody seen is not
        nobody there."""
        paths, cells = len(self.steps), len(self.laid.grid)
        shares = (paths * simplex(self.value, 1.0) + 1 / len(self.value)) / (paths + 1)
        return np.asarray(shares.reshape(cells, cells))

    @cached_property
    def totals(self) -> list[float]:
        """The steps of all paths, their squares and their cubes, added up."""
        return [float((self.steps.astype(np.float64) ** power).sum()) for power in (1, 2, 3)]

    @cached_property
    def share_reports(self) -> bool:
        """Has any path two steps?"""
        return bool((self.steps > 1).any())

    def pairs(self) -> ScoreIntervals:
        """For the share of steps from each cell to each."""
        table, cells, matrix, weights = self.table, len(self.table), self.laid.matrix, self.laid.unbiased.T
        squares, cubes = matrix @ weights**2, matrix @ weights**3
        own_square, own_cube = (np.outer(np.diagonal(power), np.diagonal(power)) for power in (squares, cubes))
        # Products have the mean 1 for people of this pair, and 0 for all others.
        variance = own_square - 1, _others(squares, table, own_square)
        third = own_cube - 3 * variance[0] - 1, _others(cubes, table, own_cube)
        shared = _shared_reports(self._noise, table) if self.share_reports else np.zeros((2, cells, cells))
        questions = []
        for (u, v), share in np.ndenumerate(self.value.reshape(cells, cells)):
            laws = [np.array([side[u, v] for side in sides]) for sides in (variance, third, shared)]
            likely, moments = np.array([table[u, v], 1 - table[u, v]]), _moments(laws[0], laws[1], laws[2], self.totals)
            questions.append(ScoreQuestion(float(share), np.array([1.0, 0.0]), likely, moments, len(self.steps)))
        return ScoreIntervals(tuple(questions))

    @cached_property
    def _noise(self) -> Floats:
        """Expected products of two weights, for a person in each cell."""
        weights = self.laid.unbiased.T
        return np.asarray(np.einsum("yr,ru,rv->yuv", self.laid.matrix, weights, weights, optimize=True))

    @cached_property
    def _factors(self) -> tuple[float, float]:
        """What one step's noise and one person's own spread are multiplied by, at most.

        Successive steps share a report: the even and the odd steps of a path, added up, have at most twice the noise.
        """
        whole, squared, _ = self.totals
        return (2.0 if self.share_reports else 1.0) / whole, squared / whole**2

    def covariance(self) -> Floats:
        """Of all averages: as large as it can be, if the likely shares are the true ones.

        The spread that is seen between paths is too small where rare products have not come up.
        """
        (noisy, alike), shares, cells = self._factors, self.table.ravel(), len(self.table)
        both = self._noise.reshape(cells, -1)
        second = (both.T @ self.table @ both).reshape(cells, cells, cells, cells).transpose(0, 2, 1, 3).reshape(cells**2, -1)
        return np.asarray(noisy * (second - np.diag(shares)) + alike * (np.diag(shares) - np.outer(shares, shares)))

    def sums(self, parts: Floats) -> ScoreIntervals:
        """For sums over pairs; a row of `parts` says which part of each pair counts, from 0 to 1."""
        cells, both, (noisy, alike) = len(self.table), self._noise, self._factors
        questions = []
        for part in parts:
            across = part.reshape(cells, cells)
            noise = np.einsum("xab,ycd,ac,bd->xy", both, both, across, across, optimize=True).ravel() - part**2

            def moments(shares: Floats, part: Floats = part, noise: Floats = noise) -> tuple[float, float]:
                middle = float(shares @ part)
                return noisy * float(shares @ noise) + alike * float(shares @ (part - middle) ** 2), 0.0

            questions.append(ScoreQuestion(float(part @ self.value), part, self.table.ravel(), moments, len(self.steps)))
        return ScoreIntervals(tuple(questions))


def _others(power: Floats, table: Floats, own: Floats) -> Floats:
    """The mean of a power of the products over everyone who does not go from u to v."""
    return np.asarray((power.T @ table @ power - table * own) / (1 - table))


def _shared_reports(noise: Floats, table: Floats) -> Floats:
    """The most that two successive steps vary together, per step: what grows with the share of (u, v) itself, and the rest."""
    cells = len(table)
    here, both = np.arange(cells), noise.copy()
    both[here, here, here] -= 1
    both = np.maximum(both, 0.0)
    often = np.minimum(table.T[:, :, None], table[:, None, :])
    own = np.zeros((cells, cells))
    for y in range(cells):
        # Of steps from u to v themselves, one of the two is the step of the question.
        own[y] += both[y, y]
        own[:, y] += both[y, :, y]
        own[y, y] -= both[y, y, y]
        often[y, y], often[y, :, y] = 0.0, 0.0
    return np.stack([own, (often * both).sum(axis=0)])


def _moments(variance: Floats, third: Floats, shared: Floats, total: list[float]) -> Callable[[Floats], tuple[float, float]]:
    """The variance and the third central moment of the average, for the shares of this pair and of all others."""
    whole, squared, cubed = total

    def moments(shares: Floats) -> tuple[float, float]:
        share = float(shares[0])
        differ = share * (1 - share)
        spread = whole * (float(shares @ variance) + 2 * (share * shared[0] + shared[1])) + squared * differ
        skew = whole * float(shares @ third) + 3 * squared * differ * (variance[0] - variance[1]) + cubed * differ * (1 - 2 * share)
        return float(spread) / whole**2, float(skew) / whole**3

    return moments


@dataclass(frozen=True, eq=False)
class Ratios:
    """Parts of rows: a ratio is possible when part - ratio * row is no farther from 0 than it may be (Fieller)."""

    parts: Floats
    rows: Floats
    part_variance: Floats
    covariance: Floats
    row_variance: Floats

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends of each, flat; all from 0 to 1 where the row may be 0, nan where it is unknown."""
        reach = half_width(level) ** 2
        rows, row_variance = self.rows[:, None], self.row_variance[:, None]
        a = rows**2 - reach * row_variance
        b = self.parts * rows - reach * self.covariance
        c = self.parts**2 - reach * self.part_variance
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (np.clip((b + side * root) / a, 0.0, 1.0) for side in (-1, 1))
        known = np.isfinite(rows)
        low, high = np.where(a > 0, low, 0.0), np.where(a > 0, high, 1.0)
        return np.where(known, low, np.nan).ravel(), np.where(known, high, np.nan).ravel()
