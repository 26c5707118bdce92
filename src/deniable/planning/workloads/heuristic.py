"""Column generation for more values than rows can be listed for: rows by local search.

It starts from the rows of half as many values, each doubled, and from unions of intervals.
Nothing here proves anything: the bound comes from `relaxation`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from deniable.batch import Floats
from deniable.planning.workloads.generation import Generated, first_patterns, generate
from deniable.planning.workloads.master import Master
from deniable.planning.workloads.symmetry import canonical, representatives

Patterns = NDArray[np.bool_]
MOST_FLIPS = 300
STARTS = 1500
ROUNDS = 40
LISTED = 16
"""Values for which all rows are priced, where the search begins."""


def most_columns(size: int) -> int:
    """How many rows a program has: a good mechanism for n values has some n²/8 of them."""
    return max(900, size * size // 7)


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


def generate_some(master: Master, least: float, tolerance: float, start: Generated | None = None) -> Generated:
    """Rows and weights; stops within `tolerance` of `least` (a bound on the objective), or when rounds no longer help."""
    size, most = master.size, most_columns(master.size)
    starts = np.concatenate([structured(size, STARTS), first_patterns(master)])
    if start is None:
        patterns = first_patterns(master)
        if (half := halved(master)) is not None:
            coarse = generate(half, tolerance) if half.size <= LISTED else generate_some(half, 0.0, tolerance)
            doubled = np.repeat(coarse.patterns[np.argsort(-coarse.point.theta)[: most // 2]], 2, axis=1)
            patterns, starts = _joined(master, patterns, doubled), np.concatenate([starts, doubled])
        theta = np.ones(len(patterns))
    else:
        patterns, theta = start.patterns, start.point.theta
    prices: Floats | None = None
    best: Generated | None = None
    for round_ in range(ROUNDS):
        point = master.solve(master.rows(patterns), theta, 3e-4, prices)
        before = np.inf if best is None else best.point.objective
        if point.objective < before:
            best = Generated(patterns, point, 0.0, round_ + 1)
        if point.objective < least * (1 + tolerance) or point.objective > before * (1 - tolerance / 20):
            break
        order = np.argsort(-point.theta)[: most // 2]
        kept = order[point.theta[order] > 1e-6 * point.theta.max()]
        near = neighbours(patterns[kept])
        rows, price = climbed(point.pull, master.shares, point.multipliers, master.raised, np.concatenate([starts, near]))
        chosen = best_rows(master, rows, price, patterns[kept], most - len(kept))
        if len(chosen) == 0:
            break
        patterns = np.concatenate([patterns[kept], chosen])
        theta = np.concatenate([point.theta[kept], np.full(len(chosen), 0.1 * point.theta.sum() / len(chosen))])
        prices = np.asarray(np.bincount(master.kind, point.multipliers), np.float64)
    assert best is not None
    return best


def best_rows(master: Master, rows: Patterns, price: Floats, known: Patterns, most: int) -> Patterns:
    """One row for every orbit that gains something and is not known: those with the highest prices."""
    order = np.argsort(-price, kind="stable")
    fresh = representatives(rows[order[price[order] > 0]], master.elements)
    old = {row.tobytes() for row in known}
    unique = {row.tobytes(): row for row in fresh if row.tobytes() not in old}
    return np.array(list(unique.values())[:most], np.bool_).reshape(-1, master.size)


def neighbours(patterns: Patterns) -> Patterns:
    """These rows, and each moved by one place or two: a step that flips of single entries do not make."""
    return np.concatenate([np.roll(patterns, by, axis=1) for by in (0, -1, 1, -2, 2)])


def halved(master: Master) -> Master | None:
    """The program in which two neighbours are always alike; None for an odd number of values, or few of them."""
    if master.size % 2 or master.size <= LISTED:
        return None
    spread = np.repeat(np.eye(master.size // 2), 2, axis=0) / 2
    paired = [one[::2] // 2 for one in master.elements if (one[::2] // 2 == one[1::2] // 2).all()]
    elements = np.unique(np.array(paired, np.int64), axis=0)
    shares = master.shares.reshape(-1, 2).sum(axis=1)
    return Master(spread.T @ master.gram @ spread, shares, master.raised, elements)


def _joined(master: Master, first: Patterns, second: Patterns) -> Patterns:
    proper = second[second.any(axis=1) & ~second.all(axis=1)]
    return canonical(np.concatenate([first, proper]), master.elements)
