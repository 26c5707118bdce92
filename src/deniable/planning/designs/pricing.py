"""Prices of categories: an upper bound on what any private mechanism can achieve in a test.

For prices λ, the best pattern S maximises part(S) - Σ_x λ_x S_x. A pattern's part is the largest of
the tangents of f, one per likelihood ratio t, and against one tangent the best pattern raises exactly
the x whose tangent value exceeds λ_x. As t grows, each x enters once and leaves once, so at most
2k + 1 patterns need to be looked at, whatever k is (proofs/extremal.md).
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from deniable.batch import Flags, Floats
from deniable.planning.designs.divergences import Divergence
from deniable.planning.designs.hypotheses import Hypotheses

HALVINGS = 60
ROUNDS = 100
TIGHT: dict[str, Any] = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Priced(NamedTuple):
    """Patterns that beat the prices, and a bound on every mechanism's divergence."""

    patterns: Flags
    upper_bound: float


def parts(hypotheses: Hypotheses, divergence: Divergence, epsilon: float, patterns: Flags) -> Floats:
    """What each pattern contributes per unit of its lower weight."""
    gain = math.expm1(epsilon)
    return divergence.part(gain * (patterns @ hypotheses.difference), 1 + gain * (patterns @ hypotheses.second))


def price(hypotheses: Hypotheses, divergence: Divergence, epsilon: float, prices: Floats) -> Priced:
    """The patterns that beat the prices, and the bound Σλ + max(0, largest excess).

    The bound holds because Σ θ part(S) <= Σ θ (λ·S + excess) = Σλ + excess Σθ, and Σθ <= 1.
    """
    gain = math.expm1(epsilon)
    begin, end = _raised_between(hypotheses, divergence, epsilon, prices)
    edges = np.unique(np.clip(np.concatenate([[-epsilon, epsilon], begin, end]), -epsilon, epsilon))
    middles = ((edges[1:] + edges[:-1]) / 2)[:, None]
    patterns = np.unique((begin <= middles) & (middles <= end), axis=0)
    excess = parts(hypotheses, divergence, epsilon, patterns) - prices.sum() - gain * (patterns @ prices)
    upper = float(prices.sum() + max(0.0, float(excess.max())))
    return Priced(patterns[excess > 0], upper)


def _raised_between(hypotheses: Hypotheses, divergence: Divergence, epsilon: float, prices: Floats) -> tuple[Floats, Floats]:
    """The range of ln t in which each category's tangent value exceeds its price; an empty range ends before it begins."""

    def tangent(log_t: Floats) -> Floats:
        d = np.expm1(log_t)
        slope = divergence.slope(d)
        # slope * P0 + (f(t) - t slope) * P1, with P0 = P1 + difference.
        return np.asarray(slope * hypotheses.difference + (divergence.excess(d) - d * slope) * hypotheses.second)

    # The tangent value of x is largest at its own likelihood ratio and falls to either side.
    top = np.clip(hypotheses.log_ratio, -epsilon, epsilon)
    raised = tangent(top) > prices
    ends = []
    for limit in (-epsilon, epsilon):
        inside, outside = top.copy(), np.full_like(top, limit)
        whole = tangent(outside) > prices
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            above = tangent(middle) > prices
            inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
        ends.append(np.where(whole, limit, inside))
    return np.where(raised, ends[0], 2 * epsilon), np.where(raised, ends[1], -2 * epsilon)


def convex_prices(
    hypotheses: Hypotheses, divergence: Divergence, epsilon: float, start: Flags, value: float, gap: float, seconds: float
) -> float:
    """The least bound found with prices that are convex in the likelihood ratio, by cutting planes.

    Against convex prices only intervals of the likelihood order are worth pricing, which keeps the
    search short. Stops when the bound is within `gap` of `value`, or out of time.
    """
    gain, deadline = math.expm1(epsilon), time.monotonic() + seconds
    share, bends = _groups(hypotheses)
    patterns, bound = np.unique(start, axis=0), math.inf
    for _ in range(ROUNDS):
        worth = parts(hypotheses, divergence, epsilon, patterns) / value
        options: Any = {**TIGHT, "time_limit": max(0.1, deadline - time.monotonic())}
        solution = linprog(
            share.sum(axis=0),
            A_ub=np.vstack([-(1 + gain * patterns) @ share, bends]) if len(bends) else -(1 + gain * patterns) @ share,
            b_ub=np.concatenate([-worth, np.zeros(len(bends))]),
            bounds=(None, None),
            method="highs",
            options=options,
        )
        if solution.x is None:
            break
        priced = price(hypotheses, divergence, epsilon, share @ solution.x * value)
        bound = min(bound, priced.upper_bound)
        grown = np.unique(np.concatenate([patterns, priced.patterns]), axis=0)
        if bound <= value * (1 + gap) or len(grown) == len(patterns) or time.monotonic() > deadline:
            break
        patterns = grown
    return bound


def _groups(hypotheses: Hypotheses) -> tuple[Floats, Floats]:
    """How a group's price is shared by its categories, and the rows that keep the groups' prices convex.

    A group holds the categories of one likelihood ratio; its price is shared by size.
    """
    groups: list[list[int]] = []
    for x in hypotheses.order.tolist():
        if hypotheses.p0[x] + hypotheses.p1[x] == 0:
            continue
        y = groups[-1][0] if groups else None
        if y is not None and hypotheses.p0[x] * hypotheses.p1[y] == hypotheses.p0[y] * hypotheses.p1[x]:
            groups[-1].append(x)
        else:
            groups.append([x])
    second = np.array([hypotheses.second[group].sum() for group in groups])
    first = np.array([hypotheses.difference[group].sum() for group in groups]) + second
    size = first + second
    share = np.zeros((hypotheses.size, len(groups)))
    for g, group in enumerate(groups):
        share[group, g] = (2 * hypotheses.second[group] + hypotheses.difference[group]) / size[g]
    # For neighbours x, y, z in ratio, p_y = a p_x + b p_z with a, b >= 0; convex: price_y <= a price_x + b price_z.
    bends = []
    for y in range(1, len(groups) - 1):
        x, z = y - 1, y + 1
        across, after, before = (first[j] * second[i] - first[i] * second[j] for i, j in ((x, z), (y, z), (x, y)))
        row = np.zeros(len(groups))
        row[[x, y, z]] = -after, across, -before
        if across > 0:
            bends.append(row / np.abs(row).max())
    return share, np.array(bends)
