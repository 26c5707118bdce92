"""Pairs in bulk: random pairings and correlated answers, by exactly the law of the table.

One 64-bit word decides a pair, nearly always; only where it equals the first 64 bits of a threshold are
further bits drawn (see deniable.batch.tables). For tables that add up to 2**64 the word is the draw itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from deniable.batch import (
    Keystream,
    KeystreamCoins,
    RunningSums,
    SystemKeystream,
    Words,
    in_parallel,
    multiply_high,
    random_words,
    whole_numbers,
    worthwhile_threads,
)
from deniable.core import Pair

Answers = NDArray[np.uint8]
CHUNK = 1 << 14


@njit(nogil=True, cache=True)
def _answer(words, answers, out, undecided, first, second, third, all_four):  # type: ignore[no-untyped-def]
    """Turn over the answers of liars; list the pairs whose word equals a threshold."""
    waiting = 0
    for i in range(words.size):
        w = words[i]
        lies = np.uint8(w >= first) + np.uint8(w >= second) + np.uint8(all_four and w >= third)
        out[2 * i] = answers[2 * i] ^ np.uint8(lies >> 1)
        out[2 * i + 1] = answers[2 * i + 1] ^ np.uint8(lies & 1)
        if w in (first, second) or (all_four and w == third):
            undecided[waiting] = i
            waiting += 1
    return waiting


@njit(nogil=True, cache=True)
def _shuffle(items, words, last):  # type: ignore[no-untyped-def]
    """Fisher and Yates from place `last` downward; returns where it stopped when the words are used up."""
    used = 0
    while last > 0:
        if used == words.size:
            return last
        size = uint64(last + 1)
        low = words[used] * size
        place = multiply_high(words[used], size)
        used += 1
        # Lemire's rejection: the remainder is needed only when the low half is below the size.
        if low < size and low < (uint64(0) - size) % size:
            continue
        items[last], items[np.int64(place)] = items[np.int64(place)], items[last]
        last -= 1
    return 0


class PairSampler:
    """A table made ready for arrays."""

    def __init__(self, pair: Pair) -> None:
        first, second, third = pair.thresholds
        self._all_four = pair.neither > 0
        self._sums = RunningSums([first, second, *([third] if self._all_four else []), pair.total])
        tops = [*self._sums.tops.tolist(), *([] if self._all_four else [0])]
        self._tops = np.array(tops, np.uint64)

    def answer(self, answers: Answers, out: Answers, keystream: Keystream) -> None:
        """Reports of neighbours 0 and 1, 2 and 3, and so on; one bit per entry, an even number of them."""
        words = random_words(keystream, len(answers) // 2)
        undecided = np.empty(len(words), np.int64)
        first, second, third = self._tops
        waiting = _answer(words, answers, out, undecided, first, second, third, self._all_four)
        for i in undecided[:waiting]:
            lies = self._sums.settle(int(words[i]), KeystreamCoins(keystream))
            out[2 * i], out[2 * i + 1] = answers[2 * i] ^ (lies >> 1), answers[2 * i + 1] ^ (lies & 1)


def answer_in_pairs(pair: Pair, answers: Any, keystream: Keystream | None = None) -> Answers:
    """One report per bit: neighbours 0 and 1, 2 and 3, … answer together. Pair them at random first.

    The last bit of an odd number of them is answered alone, by plain randomized response with the same p.
    """
    bits = np.ascontiguousarray(whole_numbers(answers, "the answers", 2), np.uint8)
    stream = SystemKeystream() if keystream is None else keystream
    sampler, even = PairSampler(pair), len(bits) - len(bits) % 2
    out = np.empty(len(bits), np.uint8)
    starts = range(0, even, 2 * CHUNK)
    threads = worthwhile_threads(even)
    streams = [stream, *(stream.spawn() for _ in range(threads - 1))]

    def work(thread: int, share: list[int]) -> None:
        for start in share:
            end = min(start + 2 * CHUNK, even)
            sampler.answer(bits[start:end], out[start:end], streams[thread])

    in_parallel(work, starts, threads)
    if even < len(bits):
        # An unused partner: one user of a pair has exactly the law of plain randomized response.
        alone = np.empty(2, np.uint8)
        sampler.answer(np.array([bits[-1], 0], np.uint8), alone, stream)
        out[-1] = alone[0]
    return out


def draw_indicators(pair: Pair, count: int, keystream: Keystream | None = None) -> tuple[Answers, Answers]:
    """Truth indicators (T1, T2) of `count` pairs."""
    indicators = answer_in_pairs(pair, np.ones(2 * count, np.uint8), keystream)
    return indicators[0::2], indicators[1::2]


def shuffle(items: NDArray[Any], keystream: Keystream) -> None:
    """Put the items of an array in a uniformly random order, in place."""
    last = len(items) - 1
    while last > 0:
        words: Words = random_words(keystream, min(last, 4 * CHUNK))
        last = int(_shuffle(items, words, last))


def random_pairing(n: int, keystream: Keystream | None = None) -> NDArray[np.int64]:
    """Users 0 to n-1 in a random order: neighbours are paired, the last of an odd number is alone."""
    order = np.arange(n, dtype=np.int64)
    shuffle(order, SystemKeystream() if keystream is None else keystream)
    return order
