"""Subset selection: whether the true value is in, then a uniform subset of the others (Floyd, 1987)."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.bits import rows_to_bytes
from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, acceptance, random_words, word
from deniable.batch.wide import multiply_high
from deniable.core import Subsets, TwoLevel

SPARE = 16
"""Words kept for rejections per report. One rejection has probability below 2**-44, so needing more
than these never happens; if it did, the draw would stop with an error rather than go on unlawfully."""


@njit(nogil=True, cache=True)
def add_subset(words, used, end, rows, i, size, wanted, without):  # type: ignore[no-untyped-def]
    """Set the bits of a uniform subset of 0 … size in row i, one of these numbers left out: `without`.

    Returns the next unused word, or -1 when the words ran out.
    """
    # Floyd: for m = size - wanted … size - 1 add a uniform element of 0 … m, or m itself when it is taken.
    for m in range(size - wanted, size):
        bound = uint64(m + 1)
        limit = (~bound + uint64(1)) % bound
        if used == end:
            return -1
        while words[used] * bound < limit:
            used += 1
            if used == end:
                return -1
        pick = multiply_high(words[used], bound)
        used += 1
        value = pick + uint64(pick >= without)
        if (rows[i, value >> uint64(6)] >> (value & uint64(63))) & uint64(1):
            value = uint64(m) + uint64(uint64(m) >= without)
        rows[i, value >> uint64(6)] |= uint64(1) << (value & uint64(63))
    return used


@njit(nogil=True, cache=True)
def _subsets(words, indices, rows, total, threshold, favoured, size, chosen, words_each):  # type: ignore[no-untyped-def]
    """One row of bits per report; returns False when the spare words ran out."""
    for i in range(indices.size):
        used = i * words_each
        end = used + words_each
        while words[used] * total < threshold:
            used += 1
            if used == end:
                return False
        held = multiply_high(words[used], total) < favoured
        used += 1
        for block in range(rows.shape[1]):
            rows[i, block] = uint64(0)
        true = uint64(indices[i])
        wanted = chosen - 1 if held else chosen
        if add_subset(words, used, end, rows, i, size - 1, wanted, true) < 0:
            return False
        if held:
            rows[i, true >> uint64(6)] |= uint64(1) << (true & uint64(63))
    return True


class SubsetsSampler(Sampler):
    """Members stand to others as chosen to size - chosen, so small integers decide the level."""

    def __init__(self, channel: TwoLevel, sets: Subsets) -> None:
        self.size, self.chosen = sets.size, sets.chosen
        self.words_each = 1 + sets.chosen + SPARE
        self.chunk = max(1, (1 << 17) // self.words_each)
        favoured = sets.chosen * channel.high
        self._integers = (
            *acceptance(favoured + (sets.size - sets.chosen) * channel.low),
            word(favoured),
            self.size,
            self.chosen,
            self.words_each,
        )

    def allocate(self, count: int) -> Outputs:
        """Bytes: bit v is bit v % 8 of byte v // 8."""
        return np.empty((count, -(-self.size // 8)), np.uint8)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """One word for the level and one for every chosen value."""
        rows = np.empty((len(indices), -(-self.size // 64)), np.uint64)
        words = random_words(keystream, len(indices) * self.words_each)
        if not _subsets(words, indices, rows, *self._integers):
            raise RuntimeError("the keystream was rejected more often than is possible; it is broken")
        out[:] = rows_to_bytes(rows, self.size)
