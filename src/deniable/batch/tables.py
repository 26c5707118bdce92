"""Tables and profiles: find a random number among running sums of any size.

Think of one uniform real number U in [0, 1), written in binary, of which a 64-bit word is the beginning.
An output is chosen by where U lies among running sum / total. The word nearly always decides that; only
when it equals the first 64 bits of such a fraction are further bits drawn, until the two differ. Nothing
is ever rejected, and the law is exact for totals of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit, uint64

from deniable.batch.keystream import Keystream, KeystreamCoins
from deniable.batch.sampler import Indices, Outputs, Sampler, Words, output_dtype, random_words
from deniable.core import Profile, Table

GUIDE_BITS = 16
"""Bits of a word that lead close to its place: so many that few steps are left, so few that the guide stays in the cache."""


class RunningSums:
    """Running sums as fractions of the total: their first 64 bits, and the exact ones behind them."""

    def __init__(self, cumulative: Sequence[int]) -> None:
        self.exact, self.total = cumulative[:-1], cumulative[-1]
        # Where nothing follows, the fraction is 1: its word is the last one, and `settle` decides for it.
        self.tops = np.array([min((sum_ << 64) // self.total, (1 << 64) - 1) for sum_ in self.exact], np.uint64)

    def settle(self, first: int, coins: KeystreamCoins) -> int:
        """How many fractions are <= the number that begins with these 64 bits; draws what else it needs."""
        number, bits = first, 64
        while True:
            # U lies in [number, number + 1) / 2**bits: count the sums that are surely <= U, and surely not > U.
            below = sum((sum_ << bits) <= number * self.total for sum_ in self.exact)
            above = sum((sum_ << bits) < (number + 1) * self.total for sum_ in self.exact)
            if below == above:
                return below
            number, bits = number << 32 | coins.below(1 << 32), bits + 32


@njit(nogil=True, cache=True)
def _profile(words, indices, out, open_places, tops, guide, first, margin, last, wrap):  # type: ignore[no-untyped-def]
    """Search from a guess by the word's first bits, then add the offset to the input, wrap or clip."""
    undecided = 0
    for i in range(words.size):
        place = np.int64(guide[words[i] >> uint64(64 - GUIDE_BITS)])
        while place < tops.size and tops[place] <= words[i]:
            place += 1
        if place > 0 and tops[place - 1] == words[i]:
            open_places[undecided] = i
            undecided += 1
        landed = indices[i] + margin + first + place
        if wrap:
            landed = landed % (last + 1)
        out[i] = min(max(landed, 0), last)
    return undecided


@njit(nogil=True, cache=True)
def _table(words, indices, out, open_places, tops):  # type: ignore[no-untyped-def]
    """Bisection in the row of the input."""
    undecided = 0
    for i in range(words.size):
        row = indices[i]
        low = 0
        high = tops.shape[1]
        while low < high:
            middle = (low + high) // 2
            if tops[row, middle] <= words[i]:
                low = middle + 1
            else:
                high = middle
        if low > 0 and tops[row, low - 1] == words[i]:
            open_places[undecided] = i
            undecided += 1
        out[i] = low
    return undecided


class ProfileSampler(Sampler):
    """One list of running sums serves every input."""

    def __init__(self, channel: Profile) -> None:
        self.channel = channel
        self.sums = RunningSums(channel.cumulative)
        edges = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
        guide = np.searchsorted(self.sums.tops, edges, side="left").astype(np.int32)
        self._geometry: tuple[Any, ...] = (
            self.sums.tops,
            guide,
            np.int64(channel.first),
            np.int64(channel.margin),
            np.int64(channel.outputs - 1),
            channel.wrap,
        )

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.channel.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        words = random_words(keystream, len(indices))
        places = np.empty(len(indices), np.int64)
        undecided = _profile(words, indices, out, places, *self._geometry)
        for i in places[:undecided]:
            place = self.sums.settle(int(words[i]), KeystreamCoins(keystream))
            out[i] = self.channel.land(int(indices[i]), self.channel.first + place)


class TableSampler(Sampler):
    """One list of running sums per row."""

    def __init__(self, channel: Table) -> None:
        self.outputs = channel.outputs
        self.sums = [RunningSums(row) for row in channel.cumulative]
        self.tops: Words = np.array([sums.tops for sums in self.sums], np.uint64).reshape(channel.inputs, channel.outputs - 1)

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        words = random_words(keystream, len(indices))
        places = np.empty(len(indices), np.int64)
        undecided = _table(words, indices, out, places, self.tops)
        for i in places[:undecided]:
            out[i] = self.sums[indices[i]].settle(int(words[i]), KeystreamCoins(keystream))
