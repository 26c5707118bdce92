"""The published way to fit a mechanism to a workload: projected gradient descent on its whole table, for comparison.

The table Q (outputs times values) keeps z ≤ Q ≤ e^ε z in every row and sums of one in every column; Q and z descend together on
tr(W (Qᵀ D⁻¹ Q)⁻¹ Wᵀ). The problem in (Q, z) is not convex, so it ends where it ends; the best of a few starts is kept.
Source: McKenna, Maity, Mazumdar and Miklau, "A workload-adaptive mechanism for linear queries under local differential
privacy", 2020.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from deniable.batch import Floats
from deniable.core import Epsilon, Table
from deniable.planning.workloads.workload import Gram, Spread

OUTPUTS_PER_VALUE = 4
STARTS = 3
STEPS = 400
UNIT_BITS = 40
MOST_PRIMES = 64
"""Values, beyond which tables start from points of Sobol: those of Halton in large primes lie on few lines."""


def descend(gram: Gram, epsilon: Epsilon, people: Spread, *, starts: int = STARTS, steps: int = STEPS) -> Table:
    """The best table of a few starts, in integers that keep epsilon."""
    raised, size = math.exp(float(epsilon)), len(people.weights)
    outputs = OUTPUTS_PER_VALUE * size
    best: tuple[float, Floats, Floats] | None = None
    points = qmc.Halton(size, scramble=False) if size <= MOST_PRIMES else qmc.Sobol(size, scramble=False).fast_forward(outputs)
    for _ in range(starts):
        table = points.random(outputs + 1)[1:]
        lows = np.full(outputs, (1 + 1 / raised) / (2 * outputs))
        tried = _one_start(gram.floats, people.shares, raised, table, lows, steps)
        if best is None or tried[0] < best[0]:
            best = tried
    assert best is not None
    return integers(best[1], best[2], epsilon)


def _one_start(
    gram: Floats, shares: Floats, raised: float, table: Floats, lows: Floats, steps: int
) -> tuple[float, Floats, Floats]:
    table, _, _ = projected(table, lows, raised)
    value, slope = _objective(table, gram, shares)
    length = 1.0 / (len(lows) * max(float(np.abs(slope).max()), 1e-300))
    for _ in range(steps):
        _, low, high = projected(table, lows, raised)
        free = ~(low | high)
        mean = (slope * free).sum(axis=0) / np.maximum(free.sum(axis=0), 1)
        pushed = ((slope - mean) * (low + raised * high)).sum(axis=1)
        for _ in range(40):
            moved = _feasible(np.clip(lows - length / (len(shares) * raised) * pushed, 1e-9, 1.0), raised)
            trial, _, _ = projected(table - length * slope, moved, raised)
            reached, turned = _objective(trial, gram, shares)
            if reached < value:
                break
            length /= 2
        else:
            break
        if value - reached < 1e-9 * value:
            value, table, lows = reached, trial, moved
            break
        value, slope, table, lows, length = reached, turned, trial, moved, length * 1.3
    return value, table, lows


def _feasible(lows: Floats, raised: float) -> Floats:
    """Lower ends that leave room for sums of one."""
    total = float(lows.sum())
    return lows * min(1.0, 0.999 / total) * max(1.0, 1.001 / (raised * total))


def projected(table: Floats, lows: Floats, raised: float) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """The nearest table with z ≤ Q ≤ e^ε z and columns that sum to one; which entries are at the lower and the upper end."""
    bottom, top = lows[:, None], raised * lows[:, None]
    least, most = (bottom - table).min(axis=0), (top - table).max(axis=0)
    for _ in range(60):
        middle = (least + most) / 2
        over = np.clip(table + middle, bottom, top).sum(axis=0) > 1
        least, most = np.where(over, least, middle), np.where(over, middle, most)
    nearest = np.clip(table + (least + most) / 2, bottom, top)
    return nearest, nearest <= bottom * (1 + 1e-12), nearest >= top * (1 - 1e-12)


def _objective(table: Floats, gram: Floats, shares: Floats) -> tuple[float, Floats]:
    """tr(W M⁻¹ Wᵀ) and its slope in every entry."""
    mass = table @ shares
    scaled = table / mass[:, None]
    information = table.T @ scaled
    try:
        inverse = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return math.inf, np.zeros_like(table)
    value = float((inverse * gram).sum())
    pull = inverse @ gram @ inverse
    slope = -2 * scaled @ pull + np.outer(((scaled @ pull) * scaled).sum(axis=1), shares)
    return (value if value > 0 else math.inf), np.asarray(slope, np.float64)


def integers(table: Floats, lows: Floats, epsilon: Epsilon) -> Table:
    """Whole weights within low and floor(low e^ε) of every output; equal totals by moving entries within those ends."""
    low = np.maximum(np.rint(lows * 2.0**UNIT_BITS), 1).astype(np.int64).tolist()
    high = [epsilon.floor(weight) for weight in low]
    rows = []
    for column in table.T:
        whole = [round(float(share) * 2.0**UNIT_BITS) for share in column]
        rows.append([min(max(weight, least), most) for weight, least, most in zip(whole, low, high, strict=True)])
    total = min(max(sum(rows[0]), sum(low)), sum(high))
    return Table([_moved(row, low, high, total) for row in rows])


def _moved(row: list[int], low: list[int], high: list[int], total: int) -> list[int]:
    """The row with this sum; entries move toward the end they have room for."""
    missing = total - sum(row)
    moved = list(row)
    for j, weight in enumerate(row):
        room = (high[j] if missing > 0 else low[j]) - weight
        step = min(room, missing) if missing > 0 else max(room, missing)
        moved[j] += step
        missing -= step
    return moved
