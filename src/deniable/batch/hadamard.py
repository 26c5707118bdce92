"""Hadamard response: one word for the level, one for the free bits."""

from __future__ import annotations

from numba import njit, uint64

from deniable.batch.sampler import WordSampler, acceptance, word
from deniable.batch.wide import multiply_high
from deniable.core import Hadamard, TwoLevel


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


class HadamardSampler(WordSampler):
    """Half of the outputs are favoured, so the level is one draw below low + high."""

    kernel = staticmethod(_hadamard)
    words_each = 2

    def __init__(self, channel: TwoLevel) -> None:
        assert isinstance(channel.sets, Hadamard)
        free_bits = channel.sets.order - 1
        super().__init__(channel.outputs, *acceptance(channel.low + channel.high), word(channel.high), word(64 - free_bits))
