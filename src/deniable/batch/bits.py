"""Unary bits, 64 at a time, and subsets as bits."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, random_words, word
from deniable.core import Bits

POOL = 1 << 15
"""Words drawn at a time."""
EARLY = 6
"""Binary digits that are compared for all lanes at once; one lane in 64 needs more, and gets a word of its own."""


@njit(nogil=True, cache=True)
def _unary(words, indices, rows, done, size, own, other, scale_bits, early):  # type: ignore[no-untyped-def]
    """Fill rows from `done` on while the pool lasts; returns how many rows are done.

    64 comparisons `random < other` run side by side, one binary digit at a time from the top; a lane is decided at the
    first digit where the two differ. After `early` digits few lanes are open: they draw the other digits one by one. A row is
    only begun when the pool holds enough for the worst case: stopping in the middle would favour short rows.
    """
    width = rows.shape[1]
    most = width * (early + 64) + 1
    rest = uint64(scale_bits - early)
    below = other & ((uint64(1) << rest) - uint64(1))
    unused = min(uint64(64) - rest, uint64(63))
    final = ~uint64(0) >> uint64(-size & 63)
    undecided = np.empty(width, np.uint64)
    used = 0
    while done < indices.size and used + most <= words.size:
        ones = rows[done]
        ones[:] = uint64(0)
        undecided[:] = ~uint64(0)
        undecided[width - 1] = final
        for digit in range(early):
            random = words[used : used + width]
            used += width
            if (other >> uint64(scale_bits - 1 - digit)) & uint64(1):
                for block in range(width):
                    ones[block] |= undecided[block] & ~random[block]
                    undecided[block] &= random[block]
            else:
                for block in range(width):
                    undecided[block] &= ~random[block]
        for block in range(width):
            lanes, more = undecided[block], uint64(0)
            while lanes:
                after = lanes & (lanes - uint64(1))
                more |= (lanes ^ after) * uint64((words[used] >> unused) < below)
                used += 1
                lanes = after
            ones[block] |= more
        lane = uint64(indices[done] & 63)
        mine = uint64((words[used] >> uint64(64 - scale_bits)) < own)
        used += 1
        ones[indices[done] >> 6] = (ones[indices[done] >> 6] & ~(uint64(1) << lane)) | (mine << lane)
        done += 1
    return done


class BitsSampler(Sampler):
    """SUE, OUE and sign bits. Outputs are rows of bytes: bit v is bit v % 8 of byte v // 8."""

    def __init__(self, channel: Bits) -> None:
        self.size = channel.size
        self.scale_bits = channel.scale.bit_length() - 1
        if channel.scale != 1 << self.scale_bits or not 1 <= self.scale_bits <= 63:
            raise TooWide
        self.width = -(-self.size // 64)
        self.chunk = max(8, (1 << 15) // self.width)
        self.early = min(EARLY, self.scale_bits)
        self._integers = (self.size, word(channel.own), word(channel.other), self.scale_bits, self.early)

    def allocate(self, count: int) -> Outputs:
        """Bytes, the last one padded with zero bits."""
        return np.empty((count, -(-self.size // 8)), np.uint8)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """As many words as the comparisons take."""
        rows = np.empty((len(indices), self.width), np.uint64)
        worst = self.width * (self.early + 64) + 1
        # Wide rows: as much again as the worst case, or most of a pool would be left over after one row.
        pool = min(max(POOL, 2 * worst), worst + len(indices) * self.width * (self.early + 2))
        done = 0
        while done < len(indices):
            done = int(_unary(random_words(keystream, pool), indices, rows, done, *self._integers))
        out[:] = rows_to_bytes(rows, self.size)


def rows_to_bytes(rows: Outputs, size: int) -> Outputs:
    """Rows of 64-bit words as rows of bytes, without the unused ones."""
    little = rows.astype("<u8", copy=False)
    return little.view(np.uint8).reshape(len(rows), -1)[:, : -(-size // 8)]
