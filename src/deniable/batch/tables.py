"""Tables and profiles: find a random integer among running sums of any size, 64 bits at a time.

An integer below `total` (of b bits) is b random bits, rejected when not below. Its first 64 bits, one
word, nearly always decide between which running sums it lies; only when they equal a sum's first 64 bits
are the others needed, and then they are drawn and compared exactly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from deniable.batch.keystream import Keystream, KeystreamCoins
from deniable.batch.sampler import Indices, Outputs, Sampler, Words, output_dtype, random_words, word
from deniable.channels import Profile, Table

GUIDE_BITS = 12


class RunningSums:
    """The first 64 bits of running sums, and the exact ones behind them."""

    def __init__(self, cumulative: Sequence[int]) -> None:
        self.exact = cumulative
        self.total = cumulative[-1]
        self.bits = (self.total - 1).bit_length()
        self.tops = np.array([self.top(sum_) for sum_ in cumulative[:-1]], np.uint64)
        # Words from here on are rejected; 0 when the total is a power of two and nothing is.
        full = self.total == 1 << self.bits
        self.limit = word(0 if full else self.top(self.total))

    def top(self, number: int) -> int:
        """The first 64 of `bits` bits."""
        return number << (64 - self.bits) if self.bits <= 64 else number >> (self.bits - 64)

    @property
    def ambiguous(self) -> bool:
        """Can a word leave the place undecided?"""
        return self.bits > 64

    def resolve(self, first: int, coins: KeystreamCoins) -> int:
        """The place of an integer whose first 64 bits are known, or -1 when it is not below the total."""
        rest = self.bits - 64
        drawn = first << rest | coins.below(1 << rest)
        return bisect_right(self.exact, drawn) if drawn < self.total else -1


@njit(nogil=True, cache=True)
def _search_guided(words, places, tops, guide, limit, ambiguous):  # type: ignore[no-untyped-def]
    """places[i] = how many running sums are <= words[i]; -1 rejected, -2 undecided."""
    for i in range(words.size):
        word_ = words[i]
        place = guide[word_ >> uint64(64 - 12)]
        while place < tops.size and tops[place] <= word_:
            place += 1
        if limit != uint64(0) and word_ >= limit:
            place = -2 if ambiguous and word_ == limit else -1
        elif ambiguous and place > 0 and tops[place - 1] == word_:
            place = -2
        places[i] = place


@njit(nogil=True, cache=True)
def _search_rows(words, indices, places, tops, limit, ambiguous):  # type: ignore[no-untyped-def]
    """The same in row indices[i] of a matrix of running sums, by bisection."""
    for i in range(words.size):
        word_ = words[i]
        row = indices[i]
        low = 0
        high = tops.shape[1]
        while low < high:
            middle = (low + high) // 2
            if tops[row, middle] <= word_:
                low = middle + 1
            else:
                high = middle
        place = low
        if limit != uint64(0) and word_ >= limit:
            place = -2 if ambiguous and word_ == limit else -1
        elif ambiguous and place > 0 and tops[row, place - 1] == word_:
            place = -2
        places[i] = place


class ProfileSampler(Sampler):
    """One list of running sums serves every input; a guide table starts the search next to its end."""

    def __init__(self, channel: Profile) -> None:
        self.channel = channel
        self.sums = RunningSums(channel.cumulative)
        edges = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
        self.guide = np.searchsorted(self.sums.tops, edges, side="left").astype(np.int64)

    def allocate(self, count: int) -> Outputs:
        """Unsigned integers."""
        return np.empty(count, output_dtype(self.channel.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """Draw an offset, add it, wrap or clip."""
        offsets = self.offsets(len(indices), keystream)
        if self.channel.wrap:
            out[:] = (indices + offsets) % self.channel.inputs
        else:
            out[:] = np.clip(indices + (offsets + self.channel.margin), 0, self.channel.outputs - 1)

    def offsets(self, count: int, keystream: Keystream) -> Indices:
        """Offsets, none of which depends on an input."""
        places = np.empty(count, np.int64)
        open_places: NDArray[np.int64] = np.arange(count)
        while len(open_places):
            words = random_words(keystream, len(open_places))
            found = np.empty(len(open_places), np.int64)
            _search_guided(words, found, self.sums.tops, self.guide, self.sums.limit, self.sums.ambiguous)
            for i in np.nonzero(found == -2)[0]:
                found[i] = self.sums.resolve(int(words[i]), KeystreamCoins(keystream))
            places[open_places] = found
            open_places = open_places[found < 0]
        return places + self.channel.first


class TableSampler(Sampler):
    """One list of running sums per row; all rows have one total, so rejection does not see the input."""

    def __init__(self, channel: Table) -> None:
        self.channel = channel
        self.sums = [RunningSums(row) for row in channel.cumulative]
        self.tops: Words = np.array([sums.tops for sums in self.sums], np.uint64).reshape(channel.inputs, channel.outputs - 1)

    def allocate(self, count: int) -> Outputs:
        """Unsigned integers."""
        return np.empty(count, output_dtype(self.channel.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """A bisection per report."""
        open_places: NDArray[np.int64] = np.arange(len(indices))
        limit, ambiguous = self.sums[0].limit, self.sums[0].ambiguous
        while len(open_places):
            words = random_words(keystream, len(open_places))
            found = np.empty(len(open_places), np.int64)
            rows = indices[open_places]
            _search_rows(words, rows, found, self.tops, limit, ambiguous)
            for i in np.nonzero(found == -2)[0]:
                found[i] = self.sums[rows[i]].resolve(int(words[i]), KeystreamCoins(keystream))
            accepted = found >= 0
            out[open_places[accepted]] = found[accepted]
            open_places = open_places[~accepted]
