"""Prefixes of wide words: hashed into buckets, or into the signs of a Count-Sketch."""

from __future__ import annotations

import numpy as np
from numba import njit, uint32, uint64

from deniable.batch.hadamard import _parity as parity
from deniable.batch.hashing import mix
from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, WordSampler, acceptance, power_of_two, word
from deniable.batch.wide import multiply_high
from deniable.core import SketchSigns, TwoLevel, WideHashing


@njit(nogil=True, cache=True)
def wide_mix(key, wide):  # type: ignore[no-untyped-def]
    """channels.wide_hashing.wide_mix in 32-bit arithmetic."""
    return mix(mix(key, uint32(wide >> uint64(32))), uint32(wide))


@njit(nogil=True, cache=True)
def _wide_hashing(words, indices, out, pending, total, threshold, high, low_bits, buckets, dropped):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(indices.size):
        level = words[2 * i]
        drawn = multiply_high(level, total)
        key = uint32(words[2 * i + 1])
        own = (uint64(wide_mix(key, uint64(indices[i]) >> dropped)) * buckets) >> uint64(32)
        other = own + uint64(1) + ((drawn - high) >> low_bits)
        other = other - buckets if other >= buckets else other
        out[i] = uint64(key) * buckets + (own if drawn < high else other)
        if level * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


@njit(nogil=True, cache=True)
def _sketch_signs(words, indices, out, pending, total, threshold, high, dropped, keys, width_bits, at_shift):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(indices.size):
        level = words[2 * i]
        odd = uint64(multiply_high(level, total) >= high)
        at = words[2 * i + 1] >> at_shift
        hashed = wide_mix(keys[at >> width_bits], uint64(indices[i]) >> dropped)
        cell = uint64(hashed) >> (uint64(32) - width_bits)
        out[i] = uint64(2) * at + (parity(at & cell) ^ (uint64(hashed) & uint64(1)) ^ odd)
        if level * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class _LongWordSampler(WordSampler):
    """Inputs are words of up to 64 bits."""

    words_each = 2

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        super().draw(_as_words(indices), out, keystream)


class WideHashingSampler(_LongWordSampler):
    """The key is uniform whatever the word, so only the bucket is drawn by level."""

    kernel = staticmethod(_wide_hashing)

    def __init__(self, channel: TwoLevel, sets: WideHashing) -> None:
        super().__init__(
            channel.outputs,
            *acceptance(channel.high + (sets.buckets - 1) * channel.low),
            word(channel.high),
            power_of_two(channel.low),
            word(sets.buckets),
            word(sets.bits - sets.kept),
        )


class SketchSignsSampler(_LongWordSampler):
    """Row and coordinate are uniform whatever the word, so only the bit is drawn by level."""

    kernel = staticmethod(_sketch_signs)

    def __init__(self, channel: TwoLevel, sets: SketchSigns) -> None:
        super().__init__(
            channel.outputs,
            *acceptance(channel.low + channel.high),
            word(channel.high),
            word(sets.bits - sets.kept),
            np.array(sets.keys, np.uint32),
            word(sets.width_bits),
            word(64 - sets.row_bits - sets.width_bits),
        )


def _as_words(indices: Indices) -> Indices:
    """Inputs of 64 bits arrive as the int64 of the same bits, or as Python's integers."""
    return np.array(indices, np.uint64).view(np.int64) if indices.dtype == object else indices
