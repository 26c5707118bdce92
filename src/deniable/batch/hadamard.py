"""Hadamard response: one word for what the checks give, one for the free bits."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.sampler import TooWide, WordSampler, acceptance, power_of_two, word
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
def _hadamard(words, indices, out, pending, total, threshold, high, low_bits, free_shift, checks, products):  # type: ignore[no-untyped-def]
    rejected = 0
    one = uint64(1)
    digit = (one << checks) - one
    for i in range(indices.size):
        drawn = multiply_high(words[2 * i], total)
        value = uint64(0) if drawn < high else one + ((drawn - high) >> low_bits)
        pivot, rest = uint64(0), uint64(indices[i])
        while rest >= one << pivot:
            rest -= one << pivot
            pivot += checks
        free = words[2 * i + 1] >> free_shift if free_shift < uint64(64) else uint64(0)
        below = free & ((one << pivot) - one)
        output = below | ((free ^ below) << checks)
        if checks == one:
            value ^= _parity(rest & below)
        else:
            while rest:
                value ^= products[rest & digit, below & digit]
                rest >>= checks
                below >>= checks
        out[i] = output | (value << pivot)
        if words[2 * i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class HadamardSampler(WordSampler):
    """All values of the checks have equally many outputs, so the value is one draw below high + (2**t - 1) low."""

    kernel = staticmethod(_hadamard)
    words_each = 2

    def __init__(self, channel: TwoLevel, sets: Hadamard) -> None:
        elements = 1 << sets.checks
        free_bits = sets.checks * (sets.digits - 1)
        if free_bits + sets.checks > 62:
            raise TooWide
        super().__init__(
            channel.outputs,
            *acceptance(channel.high + (elements - 1) * channel.low),
            word(channel.high),
            power_of_two(channel.low),
            word(64 - free_bits),
            word(sets.checks),
            np.array([[sets.times(a, b) for b in range(elements)] for a in range(elements)], np.uint64),
        )
