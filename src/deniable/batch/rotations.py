"""Random rotations by fast transforms in 32-bit integers, as the scalar path of nearest code words does them."""

from __future__ import annotations

import numpy as np
from numba import int32, int64, njit, uint32, uint64

from deniable.batch.hashing import mix
from deniable.core import FOLD_BLOCK_BITS, FOLD_ROUND, LENGTH_BITS, TRIED_PLACES, UNIT


@njit(nogil=True, cache=True)
def stream_word(keys, step, block):  # type: ignore[no-untyped-def]
    """channels.nearest_codes.stream_word."""
    value = uint32((step << 12) + block)
    for part in range(4):
        value = mix(keys[part], value)
    return value


@njit(nogil=True, cache=True)
def transform(vector):  # type: ignore[no-untyped-def]
    """The transform of Walsh and Hadamard in place, in the natural order; blocks of 8, then two stages at a time."""
    n = vector.size
    for start in range(0, n, 8):
        a, b, c, d = vector[start], vector[start + 1], vector[start + 2], vector[start + 3]
        e, f, g, h = vector[start + 4], vector[start + 5], vector[start + 6], vector[start + 7]
        a, b, c, d, e, f, g, h = a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h
        a, b, c, d, e, f, g, h = a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h
        vector[start], vector[start + 1], vector[start + 2], vector[start + 3] = a + e, b + f, c + g, d + h
        vector[start + 4], vector[start + 5], vector[start + 6], vector[start + 7] = a - e, b - f, c - g, d - h
    size = 8
    while 2 * size < n:
        for start in range(0, n, 4 * size):
            first, second = vector[start : start + size], vector[start + size : start + 2 * size]
            third, fourth = vector[start + 2 * size : start + 3 * size], vector[start + 3 * size : start + 4 * size]
            for i in range(size):
                a, b, c, d = first[i] + second[i], first[i] - second[i], third[i] + fourth[i], third[i] - fourth[i]
                first[i], second[i], third[i], fourth[i] = a + c, b + d, a - c, b - d
        size *= 4
    if size < n:
        first, second = vector[:size], vector[size:]
        for i in range(size):
            a, b = first[i], second[i]
            first[i], second[i] = a + b, a - b


@njit(nogil=True, cache=True)
def sign(vector, keys, step):  # type: ignore[no-untyped-def]
    """Every coordinate with a sign of the seed."""
    for block in range(vector.size >> 5):
        bits = stream_word(keys, step, block)
        part = vector[32 * block : 32 * block + 32]
        for i in range(32):
            flip = -int32((bits >> uint32(i)) & uint32(1))
            part[i] = (part[i] ^ flip) - flip


@njit(nogil=True, cache=True)
def _fold_place(keys, place, width_bits):  # type: ignore[no-untyped-def]
    """NearestCodeSets.fold_place; -1 instead of 1 where the sign changes."""
    block = stream_word(keys, FOLD_ROUND, place >> FOLD_BLOCK_BITS)
    hashed = mix(block, uint32(place & ((1 << FOLD_BLOCK_BITS) - 1)))
    return hashed >> uint32(32 - width_bits), -int64(hashed & uint32(1))


@njit(nogil=True, cache=True)
def prepare(steps, keys, limit, folds, width_bits, folded, vector):  # type: ignore[no-untyped-def]
    """What is rotated, as NearestCodeSets does it: `vector` is filled."""
    vector[:] = 0
    square = np.int64(0)
    for i in range(steps.size):
        square += np.int64(steps[i]) * np.int64(steps[i])
        if square > limit:
            return
    missing = max(np.int64(0), np.int64(UNIT) * np.int64(UNIT) - square)
    filling = np.int64(np.sqrt(np.float64(missing)))
    while filling * filling > missing:
        filling -= 1
    while (filling + 1) * (filling + 1) <= missing:
        filling += 1
    if not folds:
        vector[: steps.size] = steps
        if steps.size < vector.size:
            vector[steps.size] = int32(filling)
        else:
            place, flip = _fold_place(keys, steps.size, width_bits)
            for tried in range(1, TRIED_PLACES):
                other, other_flip = _fold_place(keys, steps.size + tried, width_bits)
                if abs(steps[other]) < abs(steps[place]):
                    place, flip = other, other_flip
            vector[place] += int32((filling ^ flip) - flip)
        return
    folded[:] = 0
    block = uint32(0)
    for i in range(steps.size):
        inner = i & ((1 << FOLD_BLOCK_BITS) - 1)
        if inner == 0:
            block = stream_word(keys, FOLD_ROUND, i >> FOLD_BLOCK_BITS)
        hashed = mix(block, uint32(inner))
        flip = -int64(hashed & uint32(1))
        folded[hashed >> uint32(32 - width_bits)] += (int64(steps[i]) ^ flip) - flip
    place, flip = _fold_place(keys, steps.size, width_bits)
    folded[place] += (filling ^ flip) - flip
    while _too_long(folded):
        for i in range(folded.size):
            folded[i] >>= 1
    for i in range(folded.size):
        vector[i] = int32(folded[i])


@njit(nogil=True, cache=True)
def _too_long(folded):  # type: ignore[no-untyped-def]
    square = uint64(0)
    for i in range(folded.size):
        square += uint64(folded[i] * folded[i])
        if square >= uint64(1) << uint64(2 * LENGTH_BITS):
            return True
    return False


@njit(nogil=True, cache=True)
def score_words(vector, keys, width_bits, simplex, bases, base_vector, scores):  # type: ignore[no-untyped-def]
    """How near every word is; `vector` is overwritten."""
    for step in range(2):
        sign(vector, keys, step)
        transform(vector)
        for i in range(vector.size):
            vector[i] >>= width_bits >> 1
    if simplex:
        sign(vector, keys, 2)
        transform(vector)
        scores[:] = vector[: scores.size]
        return
    for base in range(bases):
        base_vector[:] = vector
        sign(base_vector, keys, 2 + base)
        transform(base_vector)
        for i in range(vector.size):
            scores[2 * (base * vector.size + i)] = base_vector[i]
            scores[2 * (base * vector.size + i) + 1] = -base_vector[i]
