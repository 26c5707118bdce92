"""From weights of extremal rows to a mechanism: few rows with the same information, and integer weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from deniable.batch import Floats
from deniable.core import Categories, Epsilon, Extremal
from deniable.planning.workloads.master import Master
from deniable.planning.workloads.symmetry import orbit

Patterns = NDArray[np.bool_]
SMALLEST = 3e-9
UNIT = 10**12
BALANCED = 1e-8
MOST_REDUCED = 1 << 22


def expanded(master: Master, patterns: Patterns, theta: Floats) -> tuple[Patterns, Floats]:
    """Every image of every orbit with its share of the weight, and the trace of randomized response."""
    rows, weights = [], []
    for pattern, weight in zip(patterns, theta, strict=True):
        images = orbit(pattern, master.elements)
        rows.append(images)
        weights.append(np.full(len(images), weight / len(images)))
    if master.mixed:
        rows.append(np.eye(master.size, dtype=np.bool_))
        weights.append(np.full(master.size, master.mixed / (master.raised + master.size - 1)))
    stacked, place = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    summed = np.bincount(place.ravel(), np.concatenate(weights), len(stacked))
    return np.asarray(stacked, np.bool_), np.asarray(summed, np.float64)


def fewer(master: Master, patterns: Patterns, theta: Floats) -> tuple[Patterns, Floats]:
    """At most n(n+1)/2 of these rows with weights that give the same information (a vertex of what gives it)."""
    size = master.size
    upper = np.triu_indices(size)
    if len(patterns) <= len(upper[0]) or len(patterns) * len(upper[0]) > MOST_REDUCED:
        return patterns, theta
    rows = master.rows(patterns)
    products = rows[:, upper[0]] * rows[:, upper[1]] / (rows @ master.shares)[:, None]
    wanted = products.T @ theta
    solution = linprog(
        rows.sum(axis=1) * np.linspace(1, 2, len(rows)),
        A_eq=products.T / wanted[:, None],
        b_eq=np.ones(len(wanted)),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        return patterns, theta
    kept = solution.x > 0
    sums = rows[kept].T @ solution.x[kept]
    if np.abs(sums / sums.mean() - 1).max() > BALANCED:
        return patterns, theta
    return patterns[kept], np.asarray(solution.x[kept], np.float64)


def balanced(rows: Floats, theta: Floats) -> Floats:
    """The nearest weights, relative to their sizes, whose sums are exactly even up to rounding."""
    for _ in range(3):
        short = 1.0 - rows.T @ theta
        scaled = rows * theta[:, None]
        theta = theta + theta * (rows @ np.linalg.lstsq(rows.T @ scaled, short, rcond=None)[0])
    return theta


def mechanism(master: Master, patterns: Patterns, theta: Floats, epsilon: Epsilon) -> Extremal:
    """The table channel with these rows: integer weights, rounded toward privacy, equal totals."""
    patterns, theta = fewer(master, *expanded(master, patterns, theta))
    kept = theta > SMALLEST * theta.max()
    patterns, theta = patterns[kept], theta[kept]
    theta = balanced(master.rows(patterns), theta)
    shares = theta / theta.max()
    return Extremal(
        domain=Categories(master.size),
        epsilon=epsilon,
        patterns=[np.flatnonzero(pattern).tolist() for pattern in patterns],
        weights=[Fraction(max(round(float(share) * UNIT), 1), UNIT) for share in shares],
    )
