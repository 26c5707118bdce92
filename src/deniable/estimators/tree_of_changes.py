"""The share of yes over time, from signs of changes along a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.core import TreeOfChanges
from deniable.errors import InvalidParameter


def yes_shares(stream: TreeOfChanges, signs: Mapping[int, Any]) -> tuple[Floats, Floats]:
    """The share of yes at the end of every period, and its standard error, from the signs of a `TreeOfChanges`.

    `signs[length]` has one row for every stretch of that length: how many devices of this length sent 0 and how many sent 1. A
    stretch's mean sign, times `changes` and (high + low) / (high - low), is unbiased for the mean change within it; the share in a
    period is the sum over the stretches that make up all periods so far. Errors count every sign as pure noise: not too small.
    """
    scale = stream.changes * (stream.high + stream.low) / (stream.high - stream.low)
    steps: dict[int, tuple[Floats, Floats]] = {}
    for length, rows in signs.items():
        counts = np.asarray(rows, np.float64)
        if length < 1 or length & (length - 1) or counts.shape != (stream.periods // length, 2):
            raise InvalidParameter("signs must have, for each length 1, 2, 4, …, one row of two counts for every stretch")
        heard = counts.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps[length] = scale * (counts[:, 1] - counts[:, 0]) / heard, scale**2 / heard
    share, variance = np.zeros(stream.periods), np.zeros(stream.periods)
    for period in range(stream.periods):
        end = 0
        for bit in reversed(range(stream.lengths)):
            length = 1 << bit
            if (period + 1) & length:
                if length not in steps:
                    raise InvalidParameter(f"signs has no devices of the length {length}")
                share[period] += steps[length][0][end // length]
                variance[period] += steps[length][1][end // length]
                end += length
    return share, np.sqrt(variance)
