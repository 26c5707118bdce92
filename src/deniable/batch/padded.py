"""Sets filled up with dummies, in arrays: which places they hold, one of them picked, and sets of places that meet them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from deniable.batch.bits import rows_to_bytes
from deniable.batch.digits import WIDE
from deniable.batch.keystream import Keystream
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, acceptance, random_words, uniform_below, word
from deniable.batch.set_encoding import SetNumbering
from deniable.batch.subsets import SPARE, add_subset
from deniable.batch.wide import multiply_high
from deniable.core import Hitting, Padding, PickedItem, SignedBits, TwoLevel

MOST_ROUNDS = 10_000
"""At the largest level a set of places is refused with a chance below 1 - e**-20 a round; so many rounds never happen."""


class HeldPlaces:
    """What `Padding.held` says, for arrays: the held places and their levels, a row of `at_most` for each input."""

    def __init__(self, padding: Padding) -> None:
        self.padding = padding
        if padding.inputs < WIDE:
            self.numbering = SetNumbering(padding.starts, padding.items, padding.levels)

    def __call__(self, indices: NDArray[Any]) -> tuple[Indices, Indices]:
        most, items, count = self.padding.at_most, self.padding.items, len(indices)
        if indices.dtype == object:
            rows = np.array([self.padding.held(int(index)) for index in indices], np.int64).reshape(count, most, 2)
            return rows[:, :, 0], rows[:, :, 1]
        starts, powers, binomials = self.numbering.starts, self.numbering.powers, self.numbering.binomials
        size = np.searchsorted(starts, indices, side="right") - 1
        rank, digits = np.divmod(indices - starts[size], powers[size])
        # Column j is the j-th item of a set, or a dummy: the first dummy stands behind the last item.
        places = items + np.arange(most) - size[:, None]
        levels = np.zeros((count, most), np.int64)
        for order in range(most, 0, -1):
            mine = size >= order
            item = np.searchsorted(binomials[order], rank, side="right") - 1
            rank = np.where(mine, rank - binomials[order][item], rank)
            places[:, order - 1] = np.where(mine, item, places[:, order - 1])
            digits, level = np.where(mine, digits // self.padding.levels, digits), digits % self.padding.levels
            levels[:, order - 1] = np.where(mine, level, 0)
        return places, levels


class PickedItemSampler(Sampler):
    """One of the held places for everyone, then the inner sampler."""

    def __init__(self, channel: PickedItem, inner: Sampler) -> None:
        self.channel, self.inner = channel, inner
        self.chunk = max(1, min(inner.chunk, (1 << 18) // channel.at_most))
        self.held = HeldPlaces(channel.padding)
        if channel.at_most * channel.steps >= 1 << 62:
            raise TooWide

    def allocate(self, count: int) -> Outputs:
        return self.inner.allocate(count)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        """A coin for the place and its end, then the inner draw."""
        channel = self.channel
        places, levels = self.held(indices)
        picked, step = np.divmod(uniform_below(channel.at_most * channel.steps, len(indices), keystream), channel.steps)
        place = np.take_along_axis(places, picked[:, None], 1)[:, 0]
        if channel.levels > 1:
            level = np.take_along_axis(levels, picked[:, None], 1)[:, 0]
            pluses = np.where(place < channel.items, 2 * level, channel.levels - 1)
            place = 2 * place + (step >= pluses)
        self.inner.draw(np.ascontiguousarray(place), out, keystream)


class SignedBitsSampler(Sampler):
    """One word for every key; outputs are rows of bytes, two bits per key."""

    def __init__(self, channel: SignedBits) -> None:
        self.channel = channel
        self.scale_bits = channel.scale.bit_length() - 1
        if channel.scale != 1 << self.scale_bits or not 1 <= self.scale_bits <= 62:
            raise TooWide
        self.chunk = max(1, (1 << 18) // channel.keys)

    def allocate(self, count: int) -> Outputs:
        """Bytes, the last one padded with zero bits."""
        return np.empty((count, -(-2 * self.channel.keys // 8)), np.uint8)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        channel, keys = self.channel, self.channel.keys
        words = random_words(keystream, len(indices) * keys).reshape(len(indices), keys)
        drawn = (words >> np.uint64(64 - self.scale_bits)).view(np.int64)
        shown = np.empty((len(indices), keys, 2), np.bool_)
        shown[:, :, 0], shown[:, :, 1] = drawn < channel.other, (channel.other <= drawn) & (drawn < 2 * channel.other)
        rows = np.arange(len(indices))
        own, minus = indices >> 1, indices & 1
        mine = drawn[rows, own]
        shown[rows, own, minus] = mine < channel.agree
        shown[rows, own, 1 - minus] = (channel.agree <= mine) & (mine < channel.agree + channel.differ)
        out[:] = np.packbits(shown.reshape(len(indices), 2 * keys), axis=1, bitorder="little")


@njit(nogil=True, cache=True)
def _sets_of_places(words, held, rows, accepted, places, chosen, high, threshold, low, words_each):  # type: ignore[no-untyped-def]
    """A uniform set of places for every row (Floyd), and whether it is kept: always when it meets the held ones.

    Returns False when the spare words ran out.
    """
    for i in range(held.shape[0]):
        used = i * words_each
        end = used + words_each
        for block in range(rows.shape[1]):
            rows[i, block] = uint64(0)
        used = add_subset(words, used, end, rows, i, places, chosen, uint64(places))
        if used < 0:
            return False
        meets = uint64(0)
        for j in range(held.shape[1]):
            place = uint64(held[i, j])
            meets |= (rows[i, place >> uint64(6)] >> (place & uint64(63))) & uint64(1)
        if used == end:
            return False
        while words[used] * high < threshold:
            used += 1
            if used == end:
                return False
        accepted[i] = meets == uint64(1) or multiply_high(words[used], high) < low
    return True


class HittingSampler(Sampler):
    """Uniform sets of places, those without a held one kept with the chance low/high.

    How many rounds a report takes depends neither on the input, because every input holds equally many places, nor on the output.
    """

    def __init__(self, channel: TwoLevel, sets: Hitting) -> None:
        self.sets, self.size, self.chosen = sets, sets.places, sets.chosen
        self.held = HeldPlaces(sets.padding)
        self.words_each = 1 + sets.chosen + SPARE
        self.chunk = max(1, (1 << 17) // self.words_each)
        self._integers = (self.size, self.chosen, *acceptance(channel.high), word(channel.low), self.words_each)

    def allocate(self, count: int) -> Outputs:
        """Bytes: bit v is bit v % 8 of byte v // 8."""
        return np.empty((count, -(-self.size // 8)), np.uint8)

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        items, levels = self.held(indices)
        sets = self.sets
        own = np.where(items < sets.items, items * sets.levels + levels, sets.free + items - sets.items)
        held = np.ascontiguousarray(own)
        pending = np.arange(len(indices))
        for _ in range(MOST_ROUNDS):
            rows = np.empty((len(pending), -(-self.size // 64)), np.uint64)
            accepted = np.zeros(len(pending), np.bool_)
            words = random_words(keystream, len(pending) * self.words_each)
            if not _sets_of_places(words, held[pending], rows, accepted, *self._integers):
                raise RuntimeError("the keystream was rejected more often than is possible; it is broken")
            if accepted.any():
                out[pending[accepted]] = rows_to_bytes(rows[accepted], self.size)
            pending = pending[~accepted]
            if not len(pending):
                return
        raise RuntimeError("the keystream was rejected more often than is possible; it is broken")
