"""Local lines through a row of noisy numbers, and how far they should reach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.errors import InvalidParameter

GROWTH = 1.35
"""Reaches that are tried grow by this factor, from 1.5 periods to all of them."""


def local_lines(at: Floats, values: Floats, variances: Floats, reach: float | None = None, *, ahead: bool = True) -> Floats:
    """The value at its own period of a line through its neighbours, weighted by Epanechnikov's kernel.

    `values` and `variances` have one row per period. Without `ahead` a line sees the past only. Without `reach` the data choose
    it: for a linear smoother S, |y - S y|^2 + 2 tr(S V) is an unbiased estimate of its squared error, up to a constant, since
    the variances V are known (Mallows 1973). One reach serves all periods; without `ahead` every period has the one that did
    best up to it.

    >>> at = np.arange(5.0)
    >>> local_lines(at, (2 * at)[:, None], np.ones((5, 1)), 2)[:, 0].round(6).tolist()
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    if reach is not None:
        if not reach > 0:
            raise InvalidParameter("reach must be a positive number of periods")
        return _lines(at, values, reach, ahead)[0]
    span = float(at[-1] - at[0]) if len(at) else 0.0
    tried = [0.5, *(1.5 * GROWTH**step for step in range(max(1, math.ceil(math.log(max(span, 1.5) / 1.5, GROWTH)) + 1)))]
    every = [_lines(at, values, each, ahead) for each in tried]
    risks = np.array([((values - lines) ** 2 + (2 * own[:, None] - 1) * variances).sum(axis=1) for lines, own in every])
    lines = np.array([lines for lines, _ in every])
    if ahead:
        best: Floats = lines[int(risks.sum(axis=1).argmin())]
        return best
    # Reaches beyond the first period are left out, or later periods would decide which ones an earlier one may have.
    early = np.array(tried)[:, None] > np.maximum(GROWTH * (at - at[0]), 1.5 * (at > at[0]) + 0.5)
    chosen: Floats = lines[np.where(early, np.inf, risks.cumsum(axis=1)).argmin(axis=0), np.arange(len(at))]
    return chosen


def _lines(at: Floats, values: Floats, reach: float, ahead: bool) -> tuple[Floats, Floats]:
    """The lines, and how much of every period's own value is in its line."""
    lines, own = np.empty_like(values), np.empty(len(at))
    first = np.searchsorted(at, at - reach)
    last = np.searchsorted(at, at + reach, side="right") if ahead else np.arange(1, len(at) + 1)
    for row, middle in enumerate(at):
        near = slice(first[row], last[row])
        distance = at[near] - middle
        weight = _weights(distance, np.abs(distance) < reach, reach)
        lines[row] = weight @ values[near]
        own[row] = weight[row - first[row]]
    return lines, own


def _weights(distance: Floats, near: Any, reach: float) -> Floats:
    """What each neighbour contributes to the line's value at distance 0."""
    kernel = np.where(near, 1 - (distance / reach) ** 2, 0.0)
    none, first, second = (kernel @ distance**power for power in range(3))
    spread = none * second - first**2
    if spread <= 1e-12 * none * (second + 1e-300):  # a single neighbour, or all at one place: their mean
        return kernel / none
    weights: Floats = kernel * (second - first * distance) / spread
    return weights
