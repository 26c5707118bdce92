"""Unary bits, 64 at a time, and subsets as bits."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, random_words, word
from deniable.core import Bits

POOL = 1 << 14
"""Words drawn at a time."""


@njit(nogil=True, cache=True)
def _unary(words, indices, rows, done, size, own, other, scale_bits):  # type: ignore[no-untyped-def]
    """Fill rows from `done` on while the pool lasts; returns how many rows are done.

    64 comparisons `random < other` run side by side, one binary digit at a time from the top; a lane is
    decided at the first digit where the two differ, so eight words or so serve 64 bits. A row is only
    begun when the pool holds enough for the worst case: stopping in the middle would favour short rows.
    """
    width = rows.shape[1]
    most = width * scale_bits + 1
    used = 0
    while done < indices.size and used + most <= words.size:
        for block in range(width):
            undecided = ~uint64(0)
            ones = uint64(0)
            digit = scale_bits
            while digit > 0 and undecided != uint64(0):
                digit -= 1
                random = words[used]
                used += 1
                if (other >> uint64(digit)) & uint64(1):
                    ones |= undecided & ~random
                    undecided &= random
                else:
                    undecided &= ~random
            rows[done, block] = ones
        last = uint64(size & 63)
        if last:
            rows[done, width - 1] &= (uint64(1) << last) - uint64(1)
        block = indices[done] >> 6
        lane = uint64(indices[done] & 63)
        mine = uint64((words[used] >> uint64(64 - scale_bits)) < own)
        used += 1
        rows[done, block] = (rows[done, block] & ~(uint64(1) << lane)) | (mine << lane)
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
        self.chunk = max(1, (1 << 15) // self.width)
        self._integers = (self.size, word(channel.own), word(channel.other), self.scale_bits)

    def allocate(self, count: int) -> Outputs:
        """Bytes, the last one padded with zero bits."""
        return np.empty((count, -(-self.size // 8)), np.uint8)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """As many words as the comparisons take."""
        rows = np.empty((len(indices), self.width), np.uint64)
        pool = max(POOL, self.width * self.scale_bits + 1)
        done = 0
        while done < len(indices):
            done = int(_unary(random_words(keystream, pool), indices, rows, done, *self._integers))
        out[:] = rows_to_bytes(rows, self.size)


def rows_to_bytes(rows: Outputs, size: int) -> Outputs:
    """Rows of 64-bit words as rows of bytes, without the unused ones."""
    little = rows.astype("<u8", copy=False)
    return little.view(np.uint8).reshape(len(rows), -1)[:, : -(-size // 8)]
