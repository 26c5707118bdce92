"""Column generation for more values than rows can be listed for: rows by local search, from structured starts.

Nothing here proves anything: the bound comes from `relaxation`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from deniable.batch import Floats
from deniable.planning.workloads.generation import Generated, first_patterns
from deniable.planning.workloads.master import Master
from deniable.planning.workloads.symmetry import canonical

Patterns = NDArray[np.bool_]
MOST_COLUMNS = 900
MOST_FLIPS = 300
STARTS = 1500
ROUNDS = 14


def climbed(pull: Floats, shares: Floats, multipliers: Floats, raised: float, starts: Patterns) -> tuple[Patterns, Floats]:
    """From every start, flip the entry that gains most until none does; the rows and their prices per unit of s·1."""
    patterns = starts.copy()
    rows = np.where(patterns, raised, 1.0)
    towards = rows @ pull
    square, mass, cost, total = (rows * towards).sum(axis=1), rows @ shares, rows @ multipliers, rows.sum(axis=1)
    own, numbers = np.diagonal(pull), np.arange(len(rows))
    price = (square / mass - cost) / total
    for _ in range(MOST_FLIPS):
        step = np.where(patterns, 1 - raised, raised - 1)
        squares = square[:, None] + 2 * step * towards + step * step * own
        trial = (squares / (mass[:, None] + step * shares) - cost[:, None] - step * multipliers) / (total[:, None] + step)
        flip = trial.argmax(axis=1)
        better = trial[numbers, flip] > price + 1e-12 * np.abs(price)
        if not better.any():
            break
        which, place = numbers[better], flip[better]
        length = step[which, place]
        square[which], price[which] = squares[which, place], trial[which, place]
        mass[which] += length * shares[place]
        cost[which] += length * multipliers[place]
        total[which] += length
        towards[which] += length[:, None] * pull[place]
        patterns[which, place] ^= True
    return patterns, price


def structured(size: int, count: int) -> Patterns:
    """Unions of up to four intervals, spread over all of them."""
    points = qmc.Halton(8, scramble=False).random(count + 1)[1:]
    pieces = 1 + np.arange(count) % 4
    ends = np.sort(np.floor(points * (size + 1)).astype(np.int64), axis=1)
    places = np.arange(size)
    unions = np.zeros((count, size), np.bool_)
    for k in range(4):
        inside = (ends[:, 2 * k, None] <= places) & (places < ends[:, 2 * k + 1, None])
        unions |= inside & (k < pieces)[:, None]
    return unions


def generate_some(
    master: Master, least: float, tolerance: float, pull: Floats | None = None, multipliers: Floats | None = None
) -> Generated:
    """Rows and weights; stops within `tolerance` of `least` (a bound on the objective), or when rounds no longer help."""
    size = master.size
    starts = np.concatenate([structured(size, STARTS), first_patterns(master)])
    patterns = first_patterns(master)
    if pull is not None and multipliers is not None:
        rows, price = climbed(pull, master.shares, multipliers, master.raised, starts)
        patterns = _joined(master, patterns, rows[np.argsort(-price)][:MOST_COLUMNS])
    theta = np.ones(len(patterns))
    prices: Floats | None = None
    best: Generated | None = None
    for round_ in range(ROUNDS):
        point = master.solve(master.rows(patterns), theta, 3e-4, prices)
        before = np.inf if best is None else best.point.objective
        if point.objective < before:
            best = Generated(patterns, point, 0.0, round_ + 1)
        if point.objective < least * (1 + tolerance) or point.objective > before * (1 - tolerance / 20):
            break
        order = np.argsort(-point.theta)
        kept = order[: MOST_COLUMNS // 2][point.theta[order[: MOST_COLUMNS // 2]] > 1e-6 * point.theta.max()]
        rows, price = climbed(point.pull, master.shares, point.multipliers, master.raised, np.concatenate([starts, patterns[kept]]))
        useful = np.argsort(-price)[: 4 * MOST_COLUMNS]
        useful = useful[price[useful] > 0]
        fresh = canonical(rows[useful], master.elements)
        known = {row.tobytes() for row in patterns[kept]}
        fresh = fresh[[row.tobytes() not in known for row in fresh]] if len(fresh) else fresh
        if len(fresh) == 0:
            break
        fresh = fresh[: MOST_COLUMNS - len(kept)]
        patterns = np.concatenate([patterns[kept], fresh])
        theta = np.concatenate([point.theta[kept], np.full(len(fresh), 0.1 * point.theta.sum() / len(fresh))])
        prices = np.asarray(np.bincount(master.kind, point.multipliers), np.float64)
    assert best is not None
    return best


def _joined(master: Master, first: Patterns, second: Patterns) -> Patterns:
    proper = second[second.any(axis=1) & ~second.all(axis=1)]
    return canonical(np.concatenate([first, proper]), master.elements)
