"""Code words on a randomly rotated sphere: a public seed rotates, the nearest words are favoured.

Everything is in integers, so every language ranks alike. The privacy rests on none of it: whatever the ranking does, as many
words are favoured under every seed.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from dataclasses import dataclass
from operator import add, sub
from typing import Any, ClassVar

from deniable.core.channels.base import Sums
from deniable.core.channels.hashing import mix
from deniable.core.channels.sets import SetSystem
from deniable.core.domains.ball import UNIT, most_square, steps_of
from deniable.errors import InvalidParameter

SEED_BITS = 128
LEAST_WIDTH_BITS, MOST_WIDTH_BITS = 7, 13
MOST_CODE_BITS = 16
LENGTH_BITS = 23
"""Vectors are rotated with a length below 2**23: then no step of the rotation leaves 32 bits."""
ROUNDS = 3
FOLD_ROUND = 0xFFFFF
FOLD_BLOCK_BITS = 10
TRIED_PLACES = 4
"""Where every place is taken, the filling goes to the smallest coordinate of so many: it disturbs that one least."""


@dataclass(frozen=True)
class NearestCodeSets(SetSystem):
    """Outputs are (seed, word) = seed * codes + word; S_x holds, for every seed, the `nearest` words nearest to x.

    The seed gives signs, three times, between transforms of Walsh and Hadamard in 2**width_bits dimensions; vectors with more
    coordinates are first folded into as many, by random places and signs. Up to 2**width_bits words are the corners of a regular
    simplex; more words are the axes of several rotations, in both directions.
    A vector gets one more coordinate that fills it up to the length of the radius, so that all vectors lie on one sphere and the
    length of each is reported with its direction.
    """

    dimension: int
    width_bits: int
    code_bits: int
    nearest: int
    sums: ClassVar[Sums] = "vector"

    def __post_init__(self) -> None:
        if not LEAST_WIDTH_BITS <= self.width_bits <= MOST_WIDTH_BITS:
            raise InvalidParameter(f"a rotation has 2**{LEAST_WIDTH_BITS} to 2**{MOST_WIDTH_BITS} dimensions")
        if not 1 <= self.code_bits <= MOST_CODE_BITS:
            raise InvalidParameter(f"there are 2 to 2**{MOST_CODE_BITS} code words")
        if not 1 <= self.nearest <= self.codes // 2:
            raise InvalidParameter("nearest must be at least 1 and at most half of the code words")

    @property
    def codes(self) -> int:
        """How many code words every seed gives."""
        return 1 << self.code_bits

    @property
    def width(self) -> int:
        """The dimension that is rotated."""
        return 1 << self.width_bits

    @property
    def folds(self) -> bool:
        """Has a vector more coordinates than the rotation?"""
        return self.dimension > self.width

    @property
    def simplex(self) -> bool:
        """Are the words the corners of a simplex, rather than axes in both directions?"""
        return self.codes <= self.width

    @property
    def bases(self) -> int:
        """How many rotations give the words."""
        return 1 if self.simplex else self.codes // (2 * self.width)

    @property
    def inputs(self) -> int:
        return 1 << 32 * self.dimension

    @property
    def outputs(self) -> int:
        return 1 << SEED_BITS + self.code_bits

    @property
    def members(self) -> int:
        return self.nearest << SEED_BITS

    @property
    def effort(self) -> int:
        """A rotation takes hundreds of times as long as a draw."""
        return 50 + self.width * self.width_bits * (2 + self.bases) // 8

    @property
    def in_bytes(self) -> bool:
        return True

    def _scores(self, index: int, seed: int) -> list[int]:
        """How near every word is, larger for nearer."""
        keys = seed_keys(seed)
        vector = rotated(self._prepared(steps_of(index, self.dimension), keys), keys, self.width_bits)
        if self.simplex:
            return hadamard(signed(vector, keys, 2))[: self.codes]
        scores: list[int] = []
        for base in range(self.bases):
            for score in hadamard(signed(vector, keys, 2 + base)):
                scores += (score, -score)
        return scores

    def _prepared(self, steps: list[int], keys: tuple[int, ...]) -> list[int]:
        """A vector as what is rotated: filled up to the radius by one more coordinate, and folded where it is too wide."""
        square = 0
        for step in steps:
            square += step * step
            if square > most_square(self.dimension):  # no vector of the ball; it counts as the zero vector
                return [0] * self.width
        filling = math.isqrt(max(0, UNIT * UNIT - square))
        if self.dimension < self.width:
            return [*steps, filling] + [0] * (self.width - self.dimension - 1)
        if self.dimension == self.width:
            places = (self.fold_place(keys, self.dimension + tried) for tried in range(TRIED_PLACES))
            where, negative = min(places, key=lambda place: abs(steps[place[0]]))
            return [step + (-filling if negative else filling) * (place == where) for place, step in enumerate(steps)]
        folded = [0] * self.width
        for place, step in enumerate([*steps, filling]):
            where, negative = self.fold_place(keys, place)
            folded[where] += -step if negative else step
        while sum(step * step for step in folded) >= 1 << 2 * LENGTH_BITS:
            folded = [step >> 1 for step in folded]
        return folded

    def fold_place(self, keys: tuple[int, ...], place: int) -> tuple[int, int]:
        """Where a coordinate is folded to, and 1 when its sign changes."""
        block = stream_word(keys, FOLD_ROUND, place >> FOLD_BLOCK_BITS)
        hashed = mix(block, place & (1 << FOLD_BLOCK_BITS) - 1)
        return hashed >> (32 - self.width_bits), hashed & 1

    def _favoured(self, index: int, seed: int) -> list[int]:
        """The nearest words under a seed, in their order; of equally near ones the first."""
        scores = self._scores(index, seed)
        return sorted(heapq.nsmallest(self.nearest, range(self.codes), key=lambda word: (-scores[word], word)))

    def rank(self, index: int, output: int) -> tuple[bool, int]:
        """Is the word of an output favoured, and how many words of the same level come before it?"""
        seed, word = divmod(output, self.codes)
        favoured = self._favoured(index, seed)
        before = bisect_left(favoured, word)
        inside = before < self.nearest and favoured[before] == word
        return inside, before if inside else word - before

    def contains(self, index: int, output: int) -> bool:
        return self.rank(index, output)[0]

    def inside(self, index: int, j: int) -> int:
        seed, rank = divmod(j, self.nearest)
        return seed * self.codes + self._favoured(index, seed)[rank]

    def outside(self, index: int, j: int) -> int:
        seed, word = divmod(j, self.codes - self.nearest)
        for favoured in self._favoured(index, seed):
            word += favoured <= word
        return seed * self.codes + word

    def direction(self, output: int) -> list[int]:
        """The word of an output in the coordinates of vectors, in whole numbers: width**(3/2) times an axis or a corner."""
        seed, word = divmod(output, self.codes)
        keys, base, negative = seed_keys(seed), 0, 0
        if not self.simplex:
            word, negative = divmod(word, 2)
            base, word = divmod(word, self.width)
        row = [-1 if ((place & word).bit_count() & 1) ^ negative else 1 for place in range(self.width)]
        if self.simplex:  # less the mean of all corners, which this transform turns into few coordinates
            for place in range(0, self.width, self.codes):
                row[place] -= 1
        for step in (2 + base, 1):
            row = hadamard(signed(row, keys, step))
        row = signed(row, keys, 0)
        if not self.folds:
            return row[: self.dimension]
        places = (self.fold_place(keys, place) for place in range(self.dimension))
        return [-row[where] if flipped else row[where] for where, flipped in places]

    def compiled(self) -> dict[str, Any]:
        """Four integers; rotation and hash function are fixed by the format."""
        return {
            "set": "nearest-codes",
            "dimension": self.dimension,
            "width_bits": self.width_bits,
            "code_bits": self.code_bits,
            "nearest": self.nearest,
        }


def seed_keys(public: int) -> tuple[int, ...]:
    """The four 32-bit parts of a seed, the highest first."""
    return tuple(public >> shift & 0xFFFFFFFF for shift in (96, 64, 32, 0))


def stream_word(keys: tuple[int, ...], step: int, block: int) -> int:
    """32 public bits of a seed."""
    value = (step << 12) + block & 0xFFFFFFFF
    for key in keys:
        value = mix(key, value)
    return value


def signed(vector: list[int], keys: tuple[int, ...], step: int) -> list[int]:
    """Every coordinate with a sign of the seed: bit i % 32 of word i // 32."""
    bits = 0
    for block in range(len(vector) // 32):
        bits |= stream_word(keys, step, block) << 32 * block
    return [-value if sign == "1" else value for value, sign in zip(vector, f"{bits:0{len(vector)}b}"[::-1], strict=True)]


def hadamard(vector: list[int]) -> list[int]:
    """The transform of Walsh and Hadamard, in the natural order, without a factor."""
    for _ in range(len(vector).bit_length() - 1):
        even, odd = vector[::2], vector[1::2]
        vector = [*map(add, even, odd), *map(sub, even, odd)]
    return vector


def rotated(vector: list[int], keys: tuple[int, ...], width_bits: int) -> list[int]:
    """Two rounds of signs and transforms; the length stays about the same."""
    for step in range(ROUNDS - 1):
        vector = [value >> width_bits // 2 for value in hadamard(signed(vector, keys, step))]
    return vector
