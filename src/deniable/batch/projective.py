"""Projective geometry response: solve one linear equation over a prime field."""

from __future__ import annotations

import numpy as np
from numba import njit

from deniable.batch.sampler import TooWide, WordSampler, acceptance, word
from deniable.batch.wide import multiply_high
from deniable.core import Projective, TwoLevel


@njit(nogil=True, cache=True)
def _vector(number, prime, dimension, digits):  # type: ignore[no-untyped-def]
    """channels.projective.Projective.vector, into digits[:dimension]."""
    after = 0
    block = np.int64(1)
    while number >= block:
        number -= block
        block *= prime
        after += 1
    for place in range(dimension):
        digits[place] = 0
    digits[dimension - 1 - after] = 1
    for place in range(dimension - 1, dimension - 1 - after, -1):
        digits[place] = number % prime
        number //= prime


@njit(nogil=True, cache=True)
def _number(digits, prime, dimension, inverse):  # type: ignore[no-untyped-def]
    """channels.projective.Projective.number."""
    lead = 0
    while digits[lead] == 0:
        lead += 1
    scale = inverse[digits[lead]]
    number = np.int64(0)
    before = np.int64(0)  # points whose leading 1 comes later
    block = np.int64(1)
    for place in range(lead + 1, dimension):
        number = number * prime + digits[place] * scale % prime
        before += block
        block *= prime
    return number + before


@njit(nogil=True, cache=True)
def _projective(words, indices, out, pending, total, threshold, favoured, high, low, prime, dimension, inverse):  # type: ignore[no-untyped-def]
    rejected = 0
    x = np.empty(dimension, np.int64)
    free = np.empty(dimension, np.int64)
    y = np.empty(dimension, np.int64)
    for i in range(indices.size):
        drawn = multiply_high(words[i], total)
        _vector(indices[i], prime, dimension, x)
        pivot = dimension - 1
        while x[pivot] == 0:
            pivot -= 1
        inside = drawn < favoured
        if inside:
            _vector(np.int64(drawn // high), prime, dimension - 1, free)
        else:
            j = np.int64((drawn - favoured) // low)
            for place in range(dimension - 1):
                free[place] = j % prime
                j //= prime
        dot = np.int64(0)
        for place in range(dimension):
            if place != pivot:
                y[place] = free[place] if place < pivot else free[place - 1]
                dot += x[place] * y[place]
        wanted = (np.int64(0) if inside else np.int64(1)) - dot % prime
        y[pivot] = (wanted + prime) % prime * inverse[x[pivot]] % prime
        out[i] = _number(y, prime, dimension, inverse)
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class ProjectiveSampler(WordSampler):
    """One word per report; inverses modulo the prime are tabulated."""

    kernel = staticmethod(_projective)

    def __init__(self, channel: TwoLevel, sets: Projective) -> None:
        if sets.prime > 1 << 20 or sets.prime**sets.dimension >= 1 << 62:
            raise TooWide
        super().__init__(
            channel.outputs,
            *acceptance(channel.total),
            word(channel.favoured),
            word(channel.high),
            word(channel.low),
            np.int64(sets.prime),
            np.int64(sets.dimension),
            np.array([0, *(pow(a, -1, sets.prime) for a in range(1, sets.prime))], np.int64),
        )
