"""Hadamard response: one word for the level, one for the free bits."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, Words, acceptance, draw_until_accepted, output_dtype, word
from deniable.batch.wide import multiply_high
from deniable.channels import TwoLevel
from deniable.channels.hadamard import Hadamard


@njit(nogil=True, cache=True)
def _parity(x):  # type: ignore[no-untyped-def]
    x ^= x >> uint64(32)
    x ^= x >> uint64(16)
    x ^= x >> uint64(8)
    x ^= x >> uint64(4)
    return (uint64(0x6996) >> (x & uint64(15))) & uint64(1)


@njit(nogil=True, cache=True)
def _hadamard(words, indices, out, pending, total, threshold, high, free_shift):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(indices.size):
        level = words[2 * i]
        odd = uint64(multiply_high(level, total) >= high)
        row = uint64(indices[i]) + uint64(1)
        pivot = row & (~row + uint64(1))
        free = words[2 * i + 1] >> free_shift if free_shift < uint64(64) else uint64(0)
        output = (free & (pivot - uint64(1))) | ((free & ~(pivot - uint64(1))) << uint64(1))
        out[i] = output | (pivot * (_parity(row & output) ^ odd))
        if level * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class HadamardSampler(Sampler):
    """Half of the outputs are favoured, so the level is one draw below low + high."""

    def __init__(self, channel: TwoLevel) -> None:
        assert isinstance(channel.sets, Hadamard)
        self.outputs = channel.outputs
        free_bits = channel.sets.order - 1
        self._integers = (*acceptance(channel.low + channel.high), word(channel.high), word(64 - free_bits))

    def allocate(self, count: int) -> Outputs:
        """Unsigned integers."""
        return np.empty(count, output_dtype(self.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """Two words per report."""
        draw_until_accepted(self._run, indices, out, keystream, words_each=2)

    def _run(self, words: Words, indices: Indices, out: Outputs, pending: Indices) -> int:
        return int(_hadamard(words, indices, out, pending, *self._integers))
