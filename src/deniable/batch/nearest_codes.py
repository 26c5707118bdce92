"""Nearest code words in bulk: which word is drawn for a vector, and what words add up to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int32, int64, njit, uint32, uint64
from numpy.typing import NDArray

from deniable.batch.arrays import Flags
from deniable.batch.hashing import mix
from deniable.batch.keystream import Keystream
from deniable.batch.rotations import prepare, score_words, sign, stream_word, transform
from deniable.batch.sampler import Indices, Outputs, Sampler, acceptance, power_of_two, random_words, word
from deniable.batch.wide import multiply_high
from deniable.core import (
    FOLD_BLOCK_BITS,
    FOLD_ROUND,
    NearestCodeSets,
    TwoLevel,
    most_square,
    steps_of,
)

Steps = NDArray[np.int32]

CHUNK_NUMBERS = 1 << 20
"""Coordinates per chunk of vectors."""
FEW_NEAREST = 32
_ROW_PATTERNS = np.array(
    [sum(((place & column).bit_count() & 1) << place for place in range(32)) for column in range(32)], np.uint32
)
"""Bit r of pattern c: is the entry of the Hadamard matrix at row r and column c negative?"""


@njit(nogil=True, cache=True)
def _least_favoured(scores, nearest, scratch):  # type: ignore[no-untyped-def]
    """The score of the last favoured word: the `nearest`-th largest."""
    if nearest <= FEW_NEAREST:
        best = scratch[:nearest]  # ascending; best[0] is the one to beat
        best[:] = -(1 << 31)
        for i in range(scores.size):
            score = scores[i]
            if score > best[0]:
                place = 0
                while place + 1 < nearest and best[place + 1] < score:
                    best[place] = best[place + 1]
                    place += 1
                best[place] = score
        return best[0]
    rest = scratch[: scores.size]
    rest[:] = scores
    low, high, wanted = 0, scores.size - 1, scores.size - nearest
    while low < high:
        pivot = rest[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while rest[left] < pivot:
                left += 1
            while rest[right] > pivot:
                right -= 1
            if left <= right:
                rest[left], rest[right] = rest[right], rest[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return rest[wanted]


@njit(nogil=True, cache=True)
def _pick(scores, nearest, wanted, inside, scratch):  # type: ignore[no-untyped-def]
    """The `wanted`-th favoured word, or the `wanted`-th of the others, in the order of words."""
    last = _least_favoured(scores, nearest, scratch)
    above = 0
    for i in range(scores.size):
        above += scores[i] > last
    ties = nearest - above  # of words as near as the last favoured one, the first ones
    for i in range(scores.size):
        score = scores[i]
        favoured = score > last
        if score == last and ties > 0:
            ties -= 1
            favoured = True
        if favoured == inside:
            if wanted == 0:
                return i
            wanted -= 1
    return -1


@njit(nogil=True, cache=True)
def _draw(words, steps, out, pending, total, threshold, favoured, high, low_bits, limit, folds, width_bits, code_bits, nearest):  # type: ignore[no-untyped-def]
    width, codes = 1 << width_bits, 1 << code_bits
    simplex = codes <= width
    bases = 1 if simplex else codes // (2 * width)
    vector, base_vector = np.empty(width, np.int32), np.empty(width, np.int32)
    folded = np.empty(width if folds else 0, np.int64)
    scores, scratch = np.empty(codes, np.int32), np.empty(codes, np.int32)
    keys = np.empty(4, np.uint32)
    rejected = 0
    for i in range(out.shape[0]):
        level, upper, lower = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        if level * total < threshold:
            pending[rejected] = i
            rejected += 1
            continue
        drawn = multiply_high(level, total)
        inside = drawn < favoured
        wanted = int64(drawn // high) if inside else int64((drawn - favoured) >> low_bits)
        keys[0], keys[1] = uint32(upper >> uint64(32)), uint32(upper)
        keys[2], keys[3] = uint32(lower >> uint64(32)), uint32(lower)
        prepare(steps[i], keys, limit, folds, width_bits, folded, vector)
        score_words(vector, keys, width_bits, simplex, bases, base_vector, scores)
        number = uint64(_pick(scores, nearest, wanted, inside, scratch))
        # seed * codes + word, the lowest byte first.
        shift = uint64(code_bits)
        parts = (
            (lower << shift) | number,
            (upper << shift) | (lower >> (uint64(64) - shift)),
            upper >> (uint64(64) - shift),
        )
        for place in range(out.shape[1]):
            out[i, place] = (parts[place >> 3] >> uint64(8 * (place & 7))) & uint64(255)
    return rejected


@njit(nogil=True, cache=True)
def _among_nearest(outputs, steps, limit, folds, width_bits, code_bits, nearest, held):  # type: ignore[no-untyped-def]
    """NearestCodeSets.contains of one vector for every output."""
    width, codes = 1 << width_bits, 1 << code_bits
    simplex = codes <= width
    bases = 1 if simplex else codes // (2 * width)
    vector, base_vector = np.empty(width, np.int32), np.empty(width, np.int32)
    folded = np.empty(width if folds else 0, np.int64)
    scores, keys = np.empty(codes, np.int32), np.empty(4, np.uint32)
    parts, shift = np.empty(3, np.uint64), uint64(code_bits)
    for i in range(outputs.shape[0]):
        parts[:] = 0
        for place in range(outputs.shape[1]):
            parts[place >> 3] |= uint64(outputs[i, place]) << uint64(8 * (place & 7))
        lower = (parts[0] >> shift) | (parts[1] << (uint64(64) - shift))
        upper = (parts[1] >> shift) | (parts[2] << (uint64(64) - shift))
        keys[0], keys[1] = uint32(upper >> uint64(32)), uint32(upper)
        keys[2], keys[3] = uint32(lower >> uint64(32)), uint32(lower)
        prepare(steps, keys, limit, folds, width_bits, folded, vector)
        score_words(vector, keys, width_bits, simplex, bases, base_vector, scores)
        own = int64(parts[0] & uint64(codes - 1))
        before = 0  # of words that come first: the nearer ones, and of equally near ones those with smaller numbers
        for other in range(codes):
            before += scores[other] > scores[own] or (scores[other] == scores[own] and other < own)
        held[i] = before < nearest


@njit(nogil=True, cache=True)
def _add_words(outputs, dimension, folds, width_bits, code_bits, patterns, sums):  # type: ignore[no-untyped-def]
    """NearestCodeSets.direction of every output, added to `sums`."""
    width, codes = 1 << width_bits, 1 << code_bits
    simplex = codes <= width
    vector, keys = np.empty(width, np.int32), np.empty(4, np.uint32)
    shift = uint64(code_bits)
    for i in range(outputs.shape[0]):
        low, middle, top = uint64(0), uint64(0), uint64(0)
        for place in range(outputs.shape[1]):
            byte = uint64(outputs[i, place]) << uint64(8 * (place & 7))
            if place < 8:
                low |= byte
            elif place < 16:
                middle |= byte
            else:
                top |= byte
        number = int64(low & uint64(codes - 1))
        lower = (low >> shift) | (middle << (uint64(64) - shift))
        upper = (middle >> shift) | (top << (uint64(64) - shift))
        keys[0], keys[1] = uint32(upper >> uint64(32)), uint32(upper)
        keys[2], keys[3] = uint32(lower >> uint64(32)), uint32(lower)
        base, negative = int64(0), uint32(0)
        if not simplex:
            negative = uint32(0) - uint32(number & 1)
            base = (number >> 1) >> width_bits
            number = (number >> 1) & (width - 1)
        pattern = patterns[number & 31] ^ negative
        for block in range(width >> 5):
            common = block & (number >> 5)
            odd = uint32(0)
            while common:
                odd = ~odd
                common &= common - 1
            bits = uint32(pattern ^ odd ^ stream_word(keys, 2 + base, block))
            part = vector[32 * block : 32 * block + 32]
            for j in range(32):
                part[j] = int32(1) - int32(2) * int32((bits >> uint32(j)) & uint32(1))
        if simplex:
            for place in range(0, width, codes):
                bits = stream_word(keys, 2, place >> 5)
                vector[place] -= int32(1) - int32(2) * int32((bits >> uint32(place & 31)) & uint32(1))
        transform(vector)
        sign(vector, keys, 1)
        transform(vector)
        sign(vector, keys, 0)
        if folds:
            _add_unfolded(vector, keys, dimension, width_bits, sums)
        else:
            for j in range(dimension):
                sums[j] += int64(vector[j])


@njit(nogil=True, cache=True)
def _add_unfolded(vector, keys, dimension, width_bits, sums):  # type: ignore[no-untyped-def]
    block = uint32(0)
    for i in range(dimension):
        inner = i & ((1 << FOLD_BLOCK_BITS) - 1)
        if inner == 0:
            block = stream_word(keys, FOLD_ROUND, i >> FOLD_BLOCK_BITS)
        hashed = mix(block, uint32(inner))
        flip = -int64(hashed & uint32(1))
        sums[i] += (int64(vector[hashed >> uint32(32 - width_bits)]) ^ flip) - flip


class NearestCodesSampler(Sampler):
    """The seed is uniform whatever the vector; the level, and which word of its level, are one draw. Inputs are rows of steps."""

    def __init__(self, channel: TwoLevel, sets: NearestCodeSets) -> None:
        self.sets = sets
        self.chunk = max(1, CHUNK_NUMBERS // max(sets.dimension, sets.width))
        self._bytes = -(-(sets.outputs - 1).bit_length() // 8)
        self._integers = (
            *acceptance(sets.nearest * channel.high + (sets.codes - sets.nearest) * channel.low),
            word(sets.nearest * channel.high),
            word(channel.high),
            power_of_two(channel.low),
            most_square(sets.dimension),
            sets.folds,
            sets.width_bits,
            sets.code_bits,
            sets.nearest,
        )

    def allocate(self, count: int) -> Outputs:
        return np.empty((count, self._bytes), np.uint8)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """Run the kernel until every word is accepted."""
        steps = _as_steps(indices, self.sets.dimension)
        places = np.arange(len(steps))
        pending = np.empty(len(steps), np.int64)
        while len(places):
            rows = np.empty((len(places), self._bytes), np.uint8)
            words = random_words(keystream, 3 * len(places))
            count = _draw(words, steps if len(places) == len(steps) else steps[places], rows, pending, *self._integers)
            out[places] = rows
            places = places[pending[:count]]


def _as_steps(indices: Any, dimension: int) -> Steps:
    """Rows of lattice steps, from rows or from the numbers that channels take."""
    if indices.ndim == 2:
        return np.ascontiguousarray(indices, np.int32)
    rows = [steps_of(int(index), dimension) for index in indices.tolist()]
    return np.array(rows, np.int32).reshape(len(rows), dimension)


def among_nearest(sets: NearestCodeSets, index: int, outputs: NDArray[np.uint8]) -> Flags:
    """Whether each output is one of the words nearest to a vector."""
    held = np.empty(len(outputs), np.bool_)
    steps = np.array(steps_of(index, sets.dimension), np.int32)
    integers = most_square(sets.dimension), sets.folds, sets.width_bits, sets.code_bits, sets.nearest
    _among_nearest(np.ascontiguousarray(outputs, np.uint8), steps, *integers, held)
    return held


def directions(sets: NearestCodeSets, outputs: NDArray[np.uint8]) -> NDArray[np.int64]:
    """NearestCodeSets.direction of every output, one row each."""
    rows = np.zeros((len(outputs), sets.dimension), np.int64)
    for row, output in zip(rows, outputs, strict=True):
        add_words(sets, output[None], row)
    return rows


def add_words(sets: NearestCodeSets, outputs: NDArray[np.uint8], sums: NDArray[np.int64]) -> None:
    """Add the direction of every output to the sums."""
    _add_words(np.ascontiguousarray(outputs), sets.dimension, sets.folds, sets.width_bits, sets.code_bits, _ROW_PATTERNS, sums)
