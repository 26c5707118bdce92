"""The most likely distribution whose logarithm is smooth, with as much smoothness as the reports ask for.

The logarithm of the density is a cubic spline (on an interval with an atom at either end, where many values often lie), and
its bending is penalized: Eilers' composite link model ("Ill-posed problems with counts, the composite link model and penalized
likelihood", Statistical Modelling, 2007). Of a ladder of penalties the one with the least AIC is taken; so a straight line in the
logarithm (even, exponential) costs almost nothing, and two peaks are found when the reports show them.

A spline cannot follow spikes. Where the reports are far less likely under it than under the most likely distribution of all
(twice the difference is about chi-squared under the truth, with as many degrees of freedom as that distribution has points),
expectation maximization goes on from there and stops as it does when it starts from an even distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numba import njit
from scipy.interpolate import BSpline

from deniable.batch import Floats
from deniable.estimators.active_set import LOOSE
from deniable.estimators.expectation_maximization import Fit
from deniable.estimators.most_likely import most_likely

SEGMENTS = 40
"""Pieces of the spline."""
DEGREE = 3
LADDER = tuple(10.0**power for power in range(5, -3, -1))
"""Penalties, from nearly straight to nearly free."""
ATOM = 3.0
"""Standard deviation that the logarithm of an atom's height over its neighbours is thought to have."""
MOST_STEPS, CLOSE = 60, 1e-3
FAR = 3.0
"""Standard deviations of chi-squared from which on a spline is not believed."""
MOST_SHARPENED = 10_000
MOST_GROUPS = 256
"""Outputs are put together into about so many groups."""
MOST_ROWS = 256
"""Cells among which the most likely distribution of all is looked for."""


@dataclass(frozen=True, eq=False)
class Family:
    """Columns whose weighted sum is the logarithm of the shares, and how much each sum bends."""

    columns: Floats
    bending: Floats
    fixed: Floats
    """A penalty that does not depend on the ladder: of the atoms, and a trace of one for the constant."""

    def moved(self, shares: Floats, likely: Floats, matrix: Floats) -> Floats:
        """How the chances of the outputs change with each weight."""
        return np.asarray(_mixed(self.columns, shares, matrix) - np.outer(shares @ self.columns, likely))


@lru_cache(maxsize=8)
def family(cells: int, circular: bool) -> Family:
    """Splines on so many cells; around a circle they close, on an interval each end has an atom."""
    segments = min(SEGMENTS, max(cells // 4, 4))
    knots = np.arange(-DEGREE, segments + DEGREE + 1) / segments
    splines = BSpline.design_matrix((np.arange(cells) + 0.5) / cells, knots, DEGREE).toarray()
    count = splines.shape[1]
    if circular:
        splines[:, :DEGREE] += splines[:, segments:]
        splines, count = splines[:, :segments], segments
        turned = np.eye(count)
        differences = turned - 2 * np.roll(turned, 1, axis=1) + np.roll(turned, 2, axis=1)
        return Family(splines, differences.T @ differences, 1e-6 * np.eye(count))
    differences = np.diff(np.eye(count), 2, axis=0)
    columns = np.zeros((cells, count + 2))
    columns[:, :count] = splines
    columns[0, count] = columns[-1, count + 1] = 1.0
    bending, fixed = np.zeros((count + 2, count + 2)), 1e-6 * np.eye(count + 2)
    bending[:count, :count] = differences.T @ differences
    fixed[count, count] = fixed[count + 1, count + 1] = ATOM**-2
    return Family(columns, bending, fixed)


@dataclass(frozen=True, eq=False)
class Rung:
    """The best of a family at one penalty."""

    weights: Floats
    shares: Floats
    log_likelihood: float
    freedom: float
    """How many parameters the reports really chose."""
    steps: int

    @property
    def criterion(self) -> float:
        """Akaike's information criterion of the fit."""
        return 2 * self.freedom - 2 * self.log_likelihood


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _mixed(columns, shares, matrix):  # type: ignore[no-untyped-def]
    """columns' diag(shares) matrix; most of a column of splines is 0."""
    mixtures = np.zeros((columns.shape[1], matrix.shape[1]))
    for cell in range(columns.shape[0]):
        for column in range(columns.shape[1]):
            weight = shares[cell] * columns[cell, column]
            if weight != 0.0:
                for output in range(matrix.shape[1]):
                    mixtures[column, output] += weight * matrix[cell, output]
    return mixtures


def penalized_fit(matrix: Floats, counts: Floats, *, circular: bool, tolerance: float) -> Fit:
    """The shares of the cells, from a matrix of chances (a row per cell) and the counts of the outputs.

    `tolerance` is the change of the log-likelihood that ends expectation maximization, where it is needed.
    """
    starts = np.arange(0, matrix.shape[1], max(1, matrix.shape[1] // MOST_GROUPS))
    matrix, counts = np.add.reduceat(matrix, starts, axis=1), np.add.reduceat(counts, starts)
    seen = counts > 0
    matrix, counts = np.ascontiguousarray(matrix[:, seen]), counts[seen]
    members = family(len(matrix), circular)
    rung, best, steps = None, None, 0
    for penalty in LADDER:
        start = np.zeros(members.columns.shape[1]) if rung is None else rung.weights
        rung = _climbed(matrix, counts, members, penalty, start)
        steps += rung.steps
        if best is None or rung.criterion < best.criterion:
            best = rung
    assert best is not None
    shares, sharpened = sharpened_fit(matrix, counts, best.shares, tolerance)
    reached = float(counts @ np.log(shares @ matrix))
    return Fit(shares, steps + sharpened, reached, sharpened < MOST_SHARPENED)


def _shares(members: Family, weights: Floats) -> Floats:
    logarithms = members.columns @ weights
    shares = np.exp(logarithms - logarithms.max())
    return np.asarray(shares / shares.sum())


def _climbed(matrix: Floats, counts: Floats, members: Family, penalty: float, weights: Floats) -> Rung:
    """Fisher's scoring, damped as far as a step would lead down."""
    price = penalty * members.bending + members.fixed
    n, damping = counts.sum(), 1e-6

    def value(weights: Floats) -> tuple[float, Floats, Floats]:
        shares = _shares(members, weights)
        likely = np.maximum(shares @ matrix, 1e-300)
        return float(counts @ np.log(likely) - weights @ price @ weights / 2), shares, likely

    now, shares, likely = value(weights)
    for step in range(MOST_STEPS):  # noqa: B007  # counted
        moved = members.moved(shares, likely, matrix)
        slope = moved @ (counts / likely) - price @ weights
        information = (moved * (n / likely)) @ moved.T
        curve = information + price
        while True:
            further = weights + np.linalg.solve(curve + damping * np.diag(np.diag(curve)), slope)
            then = value(further)
            if then[0] >= now or damping > 1e6:
                break
            damping = max(damping, 1e-4) * 64
        if then[0] < now:
            break
        gained, (now, shares, likely), weights, damping = then[0] - now, then, further, damping / 8
        if gained < CLOSE:
            break
    freedom = float(np.trace(np.linalg.solve(curve, information)))
    return Rung(weights, shares, float(counts @ np.log(likely)), freedom, step + 1)


def sharpened_fit(matrix: Floats, counts: Floats, shares: Floats, tolerance: float) -> tuple[Floats, int]:
    """The shares themselves where they are believable, else after steps of expectation maximization; and how many."""
    n = counts.sum()
    rows = matrix[:: max(1, len(matrix) // MOST_ROWS)]
    best, points = most_likely(rows, counts / n, n)
    free = max(points - 1, 1)
    if 2 * (n * best - float(counts @ np.log(shares @ matrix))) <= free + FAR * math.sqrt(2 * free):
        return shares, 0
    before = -math.inf
    for step in range(MOST_SHARPENED):
        likely = shares @ matrix
        now = float(counts @ np.log(likely))
        if now - before < tolerance:
            return np.asarray(shares / shares.sum()), step
        before, shares = now, shares * (matrix @ (counts / n / likely))
    return np.asarray(shares / shares.sum()), MOST_SHARPENED
