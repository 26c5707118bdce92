"""Nearest places: every place lists the others, those it favours first."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.sampler import WordSampler, acceptance, power_of_two, word
from deniable.batch.wide import multiply_high
from deniable.batch.windows import checked_reciprocal
from deniable.core import NearestPlaceSets, TwoLevel


@njit(nogil=True, cache=True)
def _places(  # type: ignore[no-untyped-def]
    words, indices, out, pending, total, threshold, favoured, multiplier, shift, low_bits, members, order
):
    rejected = 0
    for i in range(indices.size):
        drawn = multiply_high(words[i], total)
        inside = multiply_high(drawn, multiplier) >> shift
        outside = members + ((drawn - favoured) >> low_bits)
        out[i] = order[indices[i], inside if drawn < favoured else outside]
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class NearestPlacesSampler(WordSampler):
    """One word, and one look at a public table of who is near whom."""

    kernel = staticmethod(_places)

    def __init__(self, channel: TwoLevel, sets: NearestPlaceSets) -> None:
        super().__init__(
            channel.outputs,
            *acceptance(channel.total),
            word(channel.favoured),
            *map(word, checked_reciprocal(channel.high, channel.total)),
            power_of_two(channel.low),
            word(sets.members),
            nearest_first(sets),
        )


def nearest_first(sets: NearestPlaceSets) -> NDArray[np.uint32]:
    """Row x lists all places: first the members of S_x, then the others."""
    x, y = np.array(sets.columns, np.int64), np.array(sets.rows, np.int64)
    numbers = np.arange(len(x))
    order = np.empty((len(x), len(x)), np.uint32)
    for i in range(len(x)):
        # Squares of distances on the grid are below 2**50: the number of a place, below 2**12, settles ties.
        keys = ((x - x[i]) ** 2 + (y - y[i]) ** 2) * (1 << 12) + numbers
        keys[i] = -1
        order[i] = np.argpartition(keys, sets.members - 1)
    return order
