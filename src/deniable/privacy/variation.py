"""How far apart the rows of a channel are, and what all of them share: bounds from its integers, on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.core import Channel

MOST_WEIGHTS = 1 << 17
"""Channels with more weights are not looked at one by one."""
MOST_PAIRS = 1 << 26
"""Differences that are added up, no more."""
ROUNDING = 1e-12


@lru_cache(maxsize=256)
def overlap_of(channel: Channel) -> tuple[float | None, float]:
    """An upper bound of the total variation between two rows, None where nothing is known, and a mass that all rows share.

    >>> from deniable.core import Singleton, TwoLevel
    >>> [round(bound, 6) for bound in overlap_of(TwoLevel(Singleton(10), low=1, high=3))]  # 2 / 12 and 10 / 12
    [0.166667, 0.833333]
    """
    exact = _structured(channel)
    if exact is None and channel.inputs * channel.outputs <= MOST_WEIGHTS:
        return _enumerated(channel)
    if exact is None:
        return None, 0.0
    return float(exact[0]) + ROUNDING, max(float(exact[1]) - ROUNDING, 0.0)


def _structured(channel: Channel) -> tuple[Fraction, Fraction] | None:
    """From the channel's own structure, exactly; None where it has none that helps."""
    two = channel.two_level
    if two is not None:
        shared = None if two.buckets is not None else two.sets.overlap()
        different = two.sets.members - (0 if shared is None else shared)
        variation = Fraction(different * (two.high - two.low)) / two.total
        return variation, Fraction(two.occurring * two.low, two.total)
    if channel.free_bits and channel.support() is not None:
        own, other = channel.support() or (Fraction(1), Fraction(0))
        # Rows differ in two bits; under the blanket is every string, as likely as for a value whose bit is 0.
        return own - other, (1 - own) / (1 - other)
    if channel.alternatives:
        parts = [(one.share, _structured(one.channel)) for one in channel.alternatives]
        if all(part is not None for _, part in parts):
            return (
                sum((share * part[0] for share, part in parts if part is not None), start=Fraction(0)),
                sum((share * part[1] for share, part in parts if part is not None), start=Fraction(0)),
            )
    return None


def _enumerated(channel: Channel) -> tuple[float | None, float]:
    """By looking at every weight."""
    total = channel.total
    rows = np.array([[weight / total for weight in channel.row(x)] for x in range(channel.inputs)])
    blanket = float(rows.min(axis=0).sum()) * (1 - ROUNDING)
    if rows.size * channel.inputs > MOST_PAIRS:
        return None, max(blanket, 0.0)
    farthest = max(float(np.abs(rows - row).sum(axis=1).max()) for row in rows) / 2
    return farthest + ROUNDING, max(blanket, 0.0)


def ratio_of(channel: Channel) -> float:
    """The largest ratio of two weights, rounded up; infinite where there is none."""
    ratio = channel.ratio_bound()
    if ratio is None:
        return math.inf
    nearest = ratio.numerator / ratio.denominator
    return nearest if Fraction(nearest) >= ratio else math.nextafter(nearest, math.inf)
