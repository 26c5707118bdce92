"""Lower bounds on a rectangle, for outputs anywhere in it.

As in lower_bound.py, but h is examined cell by cell. Where a cell of outputs does not cross the circle on which a cut
changes its rule, the cut is convex there (exponents from 1) and lies above its tangent plane at the cell's middle; the
others are taken at their nearest point. The same holds for values spread evenly over a cell, by Jensen's inequality.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.design.lower_bound import lowered

Floats = NDArray[np.float64]

CHUNK = 1 << 20


def plane_bound(
    k: float, e: float, x: Floats, levels: Floats, weights: Floats, size: tuple[float, float], blur: float = 0.0, side: int = 96
) -> float:
    """The bound proved by cuts at places x (an array of pairs) on [0, size[0]] x [0, size[1]].

    The cuts must be symmetric under reflection of either axis: only a quarter of the outputs is looked at.
    `blur` is the half diagonal of the cells over which the x are spread (0: the x themselves).
    """
    share = weights / weights.sum()
    across, up = ((np.arange(side) + 0.5) / (2 * side) * length for length in size)
    y = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    half = float(np.hypot(*size)) / (4 * side)

    def least(shifted: Floats) -> float:
        reach = np.where(shifted > 0, np.maximum(shifted, 0.0) ** (1 / k), -1.0)
        found = np.inf
        rows = max(1, CHUNK // x.shape[0])
        for begin in range(0, y.shape[0], rows):
            part = _least_in_cells(k, e, x, y[begin : begin + rows], shifted, reach, share, half, blur)
            found = min(found, float(part.min()))
        return found

    return lowered(levels, weights, least)


def _least_in_cells(
    k: float, e: float, x: Floats, y: Floats, levels: Floats, reach: Floats, share: Floats, half: float, blur: float
) -> Floats:
    """A lower bound of h in each cell of outputs around y."""
    apart = y[:, None, :] - x
    distance = np.hypot(apart[..., 0], apart[..., 1])
    crossing = np.abs(distance - reach) <= half + blur if k >= 1 else np.ones_like(distance, bool)
    rule = np.where(distance < reach, e, 1.0) * share
    nearest = np.maximum(distance - half - blur, 0.0) ** k - levels
    closest = np.where(nearest > 0, nearest, e * nearest) * share
    smooth = np.where(crossing, 0.0, rule)
    value = np.where(crossing, closest, rule * (distance**k - levels)).sum(axis=1)
    if k < 1:
        return np.asarray(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.where(distance > 0, k * distance ** (k - 2), 0.0) * smooth
    slope = (pull[..., None] * apart).sum(axis=1)
    return np.asarray(value - np.hypot(slope[:, 0], slope[:, 1]) * half)
