"""Lower bounds on a rectangle, for outputs anywhere in it.

As in lower_bound.py, but h is examined cell by cell, and cells that may hold its least value are cut in four, again and
again. Where a cell of outputs does not cross the circle on which a cut changes its rule, the cut is convex there
(exponents from 1) and lies above its tangent plane at the cell's middle; the others are taken at their nearest point.
The same holds for values spread evenly over a cell, by Jensen's inequality; where the rule changes within the spread, a
cut loses at most E/2 times the mean change of the loss.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.batch import Floats
from deniable.planning.designs.lower_bound import lowered

CHUNK = 1 << 20
FIRST = 24
"""Cells of outputs along half a side at first."""
DEEPEST = 6
NEAR_THE_LEAST = 0.05
"""A cell is cut no further when its bound is as close, relatively, to a value that h takes."""


def plane_bound(
    k: float, e: float, x: Floats, levels: Floats, weights: Floats, size: tuple[float, float], blur: float = 0.0, depth: int = 2
) -> float:
    """The bound proved by cuts at places x (an array of pairs) on [0, size[0]] x [0, size[1]].

    The cuts must be symmetric under reflection of either axis (of a square, also under exchange of the axes): only one
    part of the outputs is looked at. `blur` is the half diagonal of the cells over which the x are spread (0: the x
    themselves), `depth` how often cells of outputs are then cut (without blur as often as it takes).
    """
    share = weights / weights.sum()
    across, up = ((np.arange(FIRST) + 0.5) / (2 * FIRST) for _ in size)
    shares = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    if size[0] == size[1]:
        shares = shares[shares[:, 0] >= shares[:, 1]]

    def least(shifted: Floats) -> float:
        reach = np.where(shifted > 0, np.maximum(shifted, 0.0) ** (1 / k), -1.0)
        cells, half = shares * size, float(np.hypot(*size)) / (4 * FIRST)
        quarter = np.array(size) / (8 * FIRST)
        smallest, seen = math.inf, math.inf
        deepest = DEEPEST if blur == 0 else depth
        for cut in range(deepest):
            low, taken = _examined(k, e, x, cells, shifted, reach, share, half, blur)
            seen = min(seen, float(taken.min()))
            open_cells = low < min(seen, smallest) - NEAR_THE_LEAST * abs(seen)
            if cut == deepest - 1 or not open_cells.any():
                return min(smallest, float(low.min()))
            if not open_cells.all():
                smallest = min(smallest, float(low[~open_cells].min()))
            corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) * quarter
            cells = (cells[open_cells][:, None, :] + corners).reshape(-1, 2)
            half, quarter = half / 2, quarter / 2
        return smallest

    return lowered(levels, weights, least)


def _examined(
    k: float, e: float, x: Floats, y: Floats, levels: Floats, reach: Floats, share: Floats, half: float, blur: float
) -> tuple[Floats, Floats]:
    """A lower bound of h in each cell around y, and a bound of its value at y from either side (of the plain h: itself)."""
    parts = [
        _least_in_cells(k, e, x, y[begin : begin + max(1, CHUNK // x.shape[0])], levels, reach, share, half, blur)
        for begin in range(0, y.shape[0], max(1, CHUNK // x.shape[0]))
    ]
    return np.concatenate([low for low, _ in parts]), np.concatenate([taken for _, taken in parts])


def _least_in_cells(
    k: float, e: float, x: Floats, y: Floats, levels: Floats, reach: Floats, share: Floats, half: float, blur: float
) -> tuple[Floats, Floats]:
    """A lower bound of h in each cell of outputs around y, and the one at y alone, as if the cell were a point."""
    apart = y[:, None, :] - x
    distance = np.hypot(apart[..., 0], apart[..., 1])
    above = (distance if k == 1 else distance * distance if k == 2 else distance**k) - levels
    # A cut is the loss above its level, plus E - 1 times that where it is negative.
    if k < 1:
        nearest = np.maximum(distance - half - blur, 0.0) ** k - levels
        return _cut(nearest, e) @ share, _cut(above, e) @ share
    apart_from_reach = np.abs(distance - reach)
    crossing = apart_from_reach <= half + blur
    rule = np.where((distance < reach) & ~crossing, e, 1.0) * share
    nearest = np.minimum(np.maximum(distance - half, 0.0) ** k - levels, 0.0)
    # The mean distance from the middle of a spread cell is at most its root mean square, 2 blur/sqrt(12).
    spread = k * blur / math.sqrt(12) * (distance + half + blur) ** (k - 1) if blur else 0.0
    bent = (e - 1) * share * (nearest - spread)
    value = (rule * above + np.where(crossing, bent, 0.0)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.where(distance == 0, 0.0, k * distance ** (k - 2)) * rule
    slope = np.hypot((pull * apart[..., 0]).sum(axis=1), (pull * apart[..., 1]).sum(axis=1))
    at_point = _cut(above, e) - (np.where(apart_from_reach <= blur, (e - 1) * spread, 0.0) if blur else 0.0)
    return np.asarray(value - slope * half), np.asarray(at_point @ share)


def _cut(above: Floats, e: float) -> Floats:
    """What a cut is at outputs whose loss exceeds its level by so much."""
    return np.where(above > 0, above, e * above)
