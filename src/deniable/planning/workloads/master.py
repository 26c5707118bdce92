"""The convex program on given rows: min tr(W M(θ)⁻¹ Wᵀ) with Σ θ_s s = 1, θ ≥ 0, by a primal-dual interior point.

Columns are orbits of rows under the symmetries: one θ for all images, spread evenly. M is linear in θ, the objective
convex; its gradient is −sᵀGs/(p·s) with G = M⁻¹WᵀWM⁻¹, its Hessian 2 (sᵀM⁻¹t)(sᵀGt)/((p·s)(p·t)), averaged over images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from deniable.batch import Floats
from deniable.planning.workloads.symmetry import Permutations, orbits_of_values

TO_THE_BORDER = 0.95
MOST_STEPS = 100
MIXED = 1e-5


@dataclass
class Point:
    """Where the program stands: weights of the columns, multipliers of the values, slacks."""

    theta: Floats
    multipliers: Floats
    slack: Floats
    inverse: Floats
    pull: Floats
    """G = M⁻¹WᵀWM⁻¹."""
    objective: float


class Master:
    """The program for a workload (`gram`, centred), people spread like p, and E = e**epsilon."""

    def __init__(self, gram: Floats, shares: Floats, raised: float, elements: Permutations) -> None:
        self.gram, self.shares, self.raised, self.elements = gram, shares, raised, elements
        self.size = len(shares)
        # Questions that leave something open make the best M singular: a trace of randomized response keeps it regular.
        rank = int(np.linalg.matrix_rank(gram, hermitian=True, rtol=1e-10))
        self.mixed = 0.0 if rank >= self.size - 1 else MIXED
        first = orbits_of_values(elements)
        self.values = np.unique(first)
        self.kind = np.searchsorted(self.values, first)
        self.kinds = np.bincount(self.kind).astype(np.float64)

    def rows(self, patterns: NDArray[np.bool_]) -> Floats:
        """s for patterns of raised values."""
        return np.where(patterns, self.raised, 1.0)

    def information(self, rows: Floats, theta: Floats) -> Floats:
        """M(θ), averaged over the symmetries."""
        scaled = rows * (theta / (rows @ self.shares))[:, None]
        once = rows.T @ scaled
        total = np.zeros_like(once)
        for one in self.elements:
            total += once[np.ix_(one, one)]
        total /= len(self.elements)
        if self.mixed:
            single = self.rows(np.eye(self.size, dtype=np.bool_))
            weight = self.mixed / (self.raised + self.size - 1) / (single @ self.shares)
            total += single.T @ (single * weight[:, None])
        return np.asarray(total, np.float64)

    def averages(self, rows: Floats) -> Floats:
        """What a column adds to every kind of value."""
        sums = np.zeros((len(rows), len(self.values)))
        for x in range(self.size):
            sums[:, self.kind[x]] += rows[:, x]
        return sums / self.kinds

    def at(self, rows: Floats, theta: Floats) -> tuple[Floats, Floats, float]:
        """M⁻¹, G and the objective."""
        inverse = np.linalg.inv(self.information(rows, theta))
        inverse = (inverse + inverse.T) / 2
        pull = inverse @ self.gram @ inverse
        return inverse, (pull + pull.T) / 2, float((self.gram * inverse).sum())

    def gains(self, rows: Floats, pull: Floats) -> Floats:
        """sᵀGs/(p·s): what every row adds."""
        return np.asarray(((rows @ pull) * rows).sum(axis=1) / (rows @ self.shares), np.float64)

    def curvature(self, rows: Floats, inverse: Floats, pull: Floats) -> Floats:
        """The Hessian in the weights of the rows."""
        shares = rows @ self.shares
        left, right = rows @ inverse / shares[:, None], rows @ pull
        total = np.zeros((len(rows), len(rows)))
        for one in self.elements:
            images = rows[:, one].T
            total += (left @ images) * (right @ images)
        return np.asarray(2 * total / len(self.elements) / shares, np.float64)

    def solve(self, rows: Floats, theta: Floats, tolerance: float, multipliers: Floats | None = None) -> Point:
        """The best weights of these rows, from positive ones; `tolerance` bounds Σ θ·slack relative to the objective."""
        sums = self.averages(rows)
        # Any weights can be scaled to a total of one; the steps restore the sums for every kind of value.
        theta = theta * (1 - self.mixed) / float((sums.T @ theta).mean())
        inverse, pull, objective = self.at(rows, theta)
        gains = self.gains(rows, pull)
        if multipliers is None:
            multipliers = np.full(len(self.values), objective / len(self.values))
        slack = sums @ multipliers - gains
        centre = objective / len(theta) * 1e-2
        slack = np.maximum(slack, centre / theta)
        for _ in range(MOST_STEPS):
            duality = float(theta @ slack)
            short = 1.0 - self.mixed - sums.T @ theta
            dual = -gains + sums @ multipliers - slack
            if duality < tolerance * objective and np.abs(short).max() < 1e-9 and np.abs(dual).max() < tolerance * objective:
                break
            hessian = self.curvature(rows, inverse, pull)
            hessian[np.diag_indices_from(hessian)] += slack / theta
            factor = _factor(hessian)
            towards = cho_solve(factor, sums, check_finite=False)
            schur = sums.T @ towards
            wanted = duality / len(theta) * 0.1
            complement = theta * slack - wanted
            free = cho_solve(factor, -dual - complement / theta, check_finite=False)
            turn = np.linalg.solve(schur, sums.T @ free - short)
            moved = free - towards @ turn
            pushed = (-complement - slack * moved) / theta
            step = min(1.0, TO_THE_BORDER * min(_room(theta, moved), _room(slack, pushed)))
            theta = theta + step * moved
            inverse, pull, objective = self.at(rows, theta)
            multipliers = multipliers + step * turn
            slack = slack + step * pushed
            gains = self.gains(rows, pull)
        full = (multipliers / self.kinds)[self.kind]
        return Point(theta, full, slack, inverse, pull, objective)


def _factor(hessian: Floats) -> tuple[Floats, bool]:
    """A Cholesky factor; where rounding made the matrix indefinite, of one with a slightly larger diagonal."""
    hair = 1e-13
    while True:
        try:
            factor: tuple[Floats, bool] = cho_factor(hessian, check_finite=False)
            return factor
        except LinAlgError:
            if hair > 1e-3:
                raise
            hessian[np.diag_indices_from(hessian)] *= 1 + hair
            hair *= 100


def _room(values: Floats, moved: Floats) -> float:
    """How far the step may go before a value reaches zero."""
    falling = moved < 0
    return float((values[falling] / -moved[falling]).min()) if falling.any() else np.inf
