"""The contract of a sampler: a channel made ready for arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.batch.keystream import Keystream

Indices = NDArray[np.int64]
Outputs = NDArray[Any]
Words = NDArray[np.uint64]

CHUNK = 1 << 15
"""Reports per chunk: words, inputs and outputs of a chunk stay in the cache."""


class TooWide(Exception):
    """The channel's integers do not fit the kernel; the scalar path draws it instead."""


class Sampler(ABC):
    """Draws a chunk of outputs by exactly the channel's law."""

    chunk = CHUNK

    @abstractmethod
    def allocate(self, count: int) -> Outputs:
        """An empty array for `count` outputs."""

    @abstractmethod
    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """Fill `out` with one output per input."""


def output_dtype(outputs: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned integers the kernels are compiled for."""
    if outputs <= 1 << 8:
        return np.uint8
    if outputs <= 1 << 32:
        return np.uint32
    if outputs <= 1 << 64:
        return np.uint64
    raise TooWide


def random_words(keystream: Keystream, count: int) -> Words:
    """Fresh 64-bit words."""
    words = np.empty(count, np.uint64)
    keystream.fill(words)
    return words


def uniform_below(n: int, count: int, keystream: Keystream) -> Indices:
    """Uniform integers in [0, n), n <= 2**62: the top bits of words, rejected when they are n or more."""
    bits = (n - 1).bit_length()
    if bits == 0:
        return np.zeros(count, np.int64)
    drawn = (random_words(keystream, count) >> np.uint64(64 - bits)).view(np.int64)
    if n < 1 << bits:
        places = np.nonzero(drawn >= n)[0]
        while len(places):
            again = (random_words(keystream, len(places)) >> np.uint64(64 - bits)).view(np.int64)
            drawn[places] = again
            places = places[again >= n]
    return drawn


def draw_until_accepted(
    kernel: Callable[[Words, Indices, Outputs, Indices], int],
    indices: Indices,
    out: Outputs,
    keystream: Keystream,
    words_each: int = 1,
) -> None:
    """Run a kernel, and again on the places where it rejected its words, until none is left.

    A kernel lists those places in its last argument and returns how many there are. Whether a word is
    rejected must not depend on the input nor on the output it would have given.
    """
    pending = np.empty(len(indices), np.int64)
    count = kernel(random_words(keystream, words_each * len(indices)), indices, out, pending)
    places = pending[:count]
    while len(places):
        again = np.empty(len(places), out.dtype)
        left = np.empty(len(places), np.int64)
        count = kernel(random_words(keystream, words_each * len(places)), indices[places], again, left)
        out[places] = again
        places = places[left[:count]]


class WordSampler(Sampler):
    """A sampler whose kernel takes a fixed number of words per report and lists the places it rejected."""

    kernel: ClassVar[Callable[..., int]]
    words_each: ClassVar[int] = 1

    def __init__(self, outputs: int, *integers: Any) -> None:
        self.outputs = outputs
        self._integers = integers

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """Run the kernel until every word is accepted."""
        draw_until_accepted(self._run, indices, out, keystream, self.words_each)

    def _run(self, words: Words, indices: Indices, out: Outputs, pending: Indices) -> int:
        return int(self.kernel(words, indices, out, pending, *self._integers))


def word(value: int) -> np.uint64:
    """A Python integer as an unsigned 64-bit kernel argument."""
    if not 0 <= value < 1 << 64:
        raise TooWide
    return np.uint64(value)


def acceptance(total: int) -> tuple[np.uint64, np.uint64]:
    """`(total, threshold)` for one draw below `total` from one word.

    multiply_high(word, total) is uniform once words whose low product half is below 2**64 mod total
    are rejected (Lemire, 2019).
    """
    if total >= 1 << 63:
        raise TooWide
    return word(total), word((1 << 64) % total)


def power_of_two(low: int) -> np.uint64:
    """The exponent of a low weight: dividing by it is a shift. Low weights are chosen as powers of two."""
    if low.bit_count() != 1:
        raise TooWide
    return word(low.bit_length() - 1)
