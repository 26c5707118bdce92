"""The share of yes over time, from signs of changes along a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.core import TreeOfChanges
from deniable.errors import InvalidParameter
from deniable.estimators.estimate import Estimate, half_width


@dataclass(frozen=True, eq=False)
class SignIntervals:
    """Intervals of sums of mean signs, whose devices are independent: for few of them too.

    Signs lie between -1 and 1, so Hoeffding's inequality bounds how far a sum strays, however few there are. A normal reach and
    one step of the coarsest mean is shorter where there are many. The shorter of both is taken, and cut to shares.
    """

    value: Floats
    error: Floats
    step: Floats

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends; from 0 to 1 where nobody was heard, or nothing explains what was."""
        sure = math.sqrt(2 * math.log(2 / (1 - level)))
        reach = np.minimum(sure * self.error, half_width(level) * self.error + self.step)
        low, high = np.clip(self.value - reach, 0, 1), np.clip(self.value + reach, 0, 1)
        # Beyond all shares: the nearest ones are as far away as the reach says at least.
        beyond = np.maximum(self.value - 1, -self.value) > reach
        return np.where(beyond, 0.0, low), np.where(beyond, 1.0, high)


def yes_shares(stream: TreeOfChanges, signs: Mapping[int, Any]) -> Estimate:
    """The share of yes at the end of every period, from the signs of a `TreeOfChanges`.

    `signs[length]` has one row for every stretch of that length: how many devices of this length sent 0 and how many sent 1. A
    stretch's mean sign, times `changes` and (high + low) / (high - low), is unbiased for the mean change within it; the share in a
    period is the sum over the stretches that make up all periods so far. Errors count every sign as pure noise: not too small.
    Where nobody was heard of a stretch that is needed, its change counts as 0, and the error is infinite.

    >>> yearly = TreeOfChanges(2, changes=1, epsilon=1)
    >>> estimate = yes_shares(yearly, {1: [[40, 60], [50, 50]], 2: [[45, 55]]})
    >>> low, high = estimate.interval()
    >>> bool(low[0] < estimate.value[0] < high[0])
    True
    """
    scale = stream.changes * (stream.high + stream.low) / (stream.high - stream.low)
    steps: dict[int, tuple[Floats, Floats]] = {}
    devices = 0
    for length, rows in signs.items():
        counts = np.asarray(rows, np.float64)
        if length < 1 or length & (length - 1) or counts.shape != (stream.periods // length, 2):
            raise InvalidParameter("signs must have, for each length 1, 2, 4, …, one row of two counts for every stretch")
        heard = counts.sum(axis=1)
        devices += int(heard.max())
        with np.errstate(divide="ignore"):
            steps[length] = scale * (counts[:, 1] - counts[:, 0]) / np.maximum(heard, 1), scale / heard
    share, variance, coarsest = np.zeros(stream.periods), np.zeros(stream.periods), np.zeros(stream.periods)
    for period in range(stream.periods):
        end = 0
        for bit in reversed(range(stream.lengths)):
            length = 1 << bit
            if (period + 1) & length:
                if length not in steps:
                    raise InvalidParameter(f"signs has no devices of the length {length}")
                change, step = (part[end // length] for part in steps[length])
                share[period] += change
                variance[period] += scale * step
                coarsest[period] = max(coarsest[period], step)
                end += length
    return Estimate(
        value=share,
        variance=variance,
        n=devices,
        target="these users",
        method="shares of yes from a tree of changes",
        labels=range(stream.periods),
        bounds=(0.0, 1.0),
        sure=SignIntervals(share, np.sqrt(variance), coarsest),
    )
