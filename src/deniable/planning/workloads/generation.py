"""Column generation: solve on a few rows, price all 2**n, add those that would improve, until none does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.planning.workloads.master import Master, Point
from deniable.planning.workloads.rows import linear, local_maxima, quadratic, unpacked
from deniable.planning.workloads.symmetry import canonical

MOST_ROUNDS = 60
MOST_ADDED = 200
KEPT = 1e-7
SURE = 3.0


@dataclass
class Generated:
    """The patterns of the rows in use (one for every orbit), their weights, and the price that proves the bound."""

    patterns: NDArray[np.bool_]
    point: Point
    excess: float
    """How much the multipliers must be raised, per unit of s·1, before no row improves anything."""
    rounds: int


def first_patterns(master: Master) -> NDArray[np.bool_]:
    """Single values, their complements, intervals from either end, and every second value."""
    size = master.size
    places = np.arange(size)
    below = [places < edge for edge in range(1, size)]
    rows = [*np.eye(size, dtype=np.bool_), *~np.eye(size, dtype=np.bool_), *below, *[~row for row in below]]
    width = 1
    while width < size:
        rows += [((places + shift) // width) % 2 == 0 for shift in range(width)]
        rows += [((places + shift) // width) % 2 == 1 for shift in range(width)]
        width *= 2
    stacked = np.array(rows, np.bool_)
    proper = ~(stacked.all(axis=1) | ~stacked.any(axis=1))
    return canonical(stacked[proper], master.elements)


def generate(master: Master, tolerance: float, start: tuple[NDArray[np.bool_], Floats] | None = None) -> Generated:
    """Rows, weights and multipliers whose gap is about `tolerance` relative to the objective."""
    size, raised = master.size, master.raised
    tolerance = max(tolerance, 1.5 * master.mixed)
    patterns, theta = (first_patterns(master), None) if start is None else start
    theta = np.ones(len(patterns)) if theta is None else np.maximum(theta, 1e-3 * theta.max())
    total = linear(master.shares, raised)
    ones = linear(np.ones(size), raised)
    accuracy, best_gap = 1e-3, np.inf
    multipliers: Floats | None = None
    best: Generated | None = None
    for round_ in range(MOST_ROUNDS):
        rows = master.rows(patterns)
        point = master.solve(rows, theta, accuracy, multipliers)
        price = quadratic(point.pull, raised) / total - linear(point.multipliers, raised)
        excess = float((price / ones).max())
        prices = float(point.multipliers.sum()) + max(excess, 0.0) * size
        gap = 1 - point.objective / prices
        if best is None or gap < best_gap:
            best = Generated(patterns, point, excess, round_ + 1)
        if gap < tolerance:
            break
        # A row that costs much more than it gains will not come back; the gap says how much is much.
        costs = rows @ point.multipliers
        kept = (point.theta > KEPT * point.theta.max()) & (point.slack < SURE * gap * costs)
        # Only while the gap falls: otherwise rows could come and go for ever.
        kept |= gap > best_gap / 2
        best_gap = min(gap, best_gap)
        numbers = local_maxima(price / ones, size, 1e-3 * excess, MOST_ADDED)
        fresh = canonical(unpacked(numbers, size), master.elements)
        known = {row.tobytes() for row in patterns[kept]}
        fresh = fresh[[row.tobytes() not in known for row in fresh]] if len(fresh) else fresh
        finest = tolerance * 0.2
        if len(fresh) == 0 and accuracy <= finest:
            break
        accuracy = min(max(gap * 0.05, finest), 1e-3)
        patterns = np.concatenate([patterns[kept], fresh])
        small = gap * 0.1 * point.theta.sum() / max(len(fresh), 1)
        started = np.full(len(fresh), min(small, float(point.theta.max())))
        theta = np.concatenate([np.maximum(point.theta[kept], 1e-3 * gap * point.theta.max()), started])
        multipliers = np.asarray(np.bincount(master.kind, point.multipliers), np.float64)
    assert best is not None
    return best
