"""Local hashing: one word for the level, half a word for the seed of the hash."""

from __future__ import annotations

from numba import njit, uint32, uint64

from deniable.batch.sampler import WordSampler, acceptance, power_of_two, word
from deniable.batch.wide import multiply_high
from deniable.core import Hashing, TwoLevel


@njit(nogil=True, cache=True)
def mix(seed, value):  # type: ignore[no-untyped-def]
    """channels.hashing.mix in 32-bit arithmetic; every step is cast, or numba would widen it."""
    h = uint32(seed + uint32(value * uint32(0x9E3779B1)))
    h = uint32(uint32(h ^ (h >> uint32(16))) * uint32(0x7FEB352D))
    h = uint32(uint32(h ^ (h >> uint32(15))) * uint32(0x846CA68B))
    return uint32(h ^ (h >> uint32(16)))


@njit(nogil=True, cache=True)
def _hashing(words, indices, out, pending, total, threshold, high, low_bits, buckets):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(indices.size):
        level = words[2 * i]
        drawn = multiply_high(level, total)
        seed = uint32(words[2 * i + 1])
        own = (uint64(mix(seed, uint32(indices[i]))) * buckets) >> uint64(32)
        other = own + uint64(1) + ((drawn - high) >> low_bits)
        other = other - buckets if other >= buckets else other
        out[i] = uint64(seed) * buckets + (own if drawn < high else other)
        if level * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class HashingSampler(WordSampler):
    """The seed is uniform whatever the value, so only the bucket is drawn by level."""

    kernel = staticmethod(_hashing)
    words_each = 2

    def __init__(self, channel: TwoLevel, sets: Hashing) -> None:
        super().__init__(
            channel.outputs,
            *acceptance(channel.high + (sets.buckets - 1) * channel.low),
            word(channel.high),
            power_of_two(channel.low),
            word(sets.buckets),
        )
