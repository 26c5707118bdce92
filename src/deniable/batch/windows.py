"""Singletons and windows: randomized response, k-RR and every piecewise mechanism.

Think of one uniform real number U in [0, 1), written in binary. All outputs stand in a row, the favoured ones first, each as
wide as its weight, and U times the total says at which of them one arrives: its rank. The first 32 bits of U nearly always
decide that; where they do not, 32 more are drawn, and if even those leave it open, further ones. Nothing is ever rejected, and
the law is exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.keystream import Keystream, KeystreamCoins
from deniable.batch.sampler import Indices, Outputs, Sampler, TooWide, output_dtype, word
from deniable.batch.wide import multiply_high, reciprocal
from deniable.core import TwoLevel, Windows

BLOCK = 128
"""Reports that are drawn without a branch, several in a vector; only then is it asked whether one of them is open."""


@njit(nogil=True, cache=True)
def _at(rank, index, outputs, offset, first, last):  # type: ignore[no-untyped-def]
    """The output of this rank: ranks begin where the window does, and wrap around."""
    cell = rank + min(max(index + offset, first), last)
    cell = cell + outputs if cell < 0 else cell
    return cell - outputs if cell >= outputs else cell


@njit(nogil=True, cache=True)
def _window(words, indices, out, places, boundary, inside, outside, begin, shift, sure, outputs, offset, first, last):  # type: ignore[no-untyped-def]
    """Ranks from 32 bits: whole part and fraction of a straight line in them, one inside the window and one outside.

    Lists the places where the line is so close below a whole number that further bits might pass it.
    """
    open_places = 0
    mask = (uint64(1) << shift) - uint64(1)
    for start in range(0, indices.size, BLOCK):
        some, inputs, outs = words[start : start + BLOCK], indices[start : start + BLOCK], out[start : start + BLOCK]
        doubts = uint64(0)
        for i in range(some.size):
            favoured = np.int64(some[i]) < boundary
            line = uint64(some[i]) * (inside if favoured else outside) + (uint64(0) if favoured else begin)
            doubts |= sure - (line & mask)  # its highest bit: the fraction is larger
            outs[i] = _at(np.int64(line >> shift), inputs[i], outputs, offset, first, last)
        if doubts >> uint64(63):
            for i in range(some.size):
                favoured = np.int64(some[i]) < boundary
                line = uint64(some[i]) * (inside if favoured else outside) + (uint64(0) if favoured else begin)
                if (sure - (line & mask)) >> uint64(63):
                    places[open_places] = start + i
                    open_places += 1
    return open_places


@njit(nogil=True, cache=True)
def _refined(words, more, places, indices, out, total, high, low, members, outputs, offset, first, last):  # type: ignore[no-untyped-def]
    """The same from 64 bits, by division. What even they leave open comes first in `places` and `more`."""
    left = 0
    for j in range(places.size):
        i = places[j]
        bits = (uint64(words[i]) << uint64(32)) | uint64(more[j])
        drawn = multiply_high(bits, total)
        beyond = drawn - members * high
        rank = drawn // high if drawn < members * high else members + beyond // low
        out[i] = _at(np.int64(rank), indices[i], outputs, offset, first, last)
        # Further bits add less than `total` to the low half of the product.
        if bits * total > ~total + uint64(1):
            places[left], more[left] = i, more[j]
            left += 1
    return left


class WindowSampler(Sampler):
    """Windows, slid, linear or wrapped; a single favoured output is a window of one cell. Half a word per report."""

    def __init__(self, channel: TwoLevel) -> None:
        self.channel = channel
        window = channel.sets.window or Windows(channel.inputs, channel.outputs, 1, 0, 0, channel.outputs - 1)
        total, high, low, members = channel.total, channel.high, channel.low, window.members
        shift = 64 - max(total // low, channel.outputs).bit_length()
        if total >= 1 << 63 or shift < 1:
            raise TooWide
        # In units of 2**-shift, and rounded down: what a step of 2**-32 adds to the rank, and where the second line begins.
        inside, outside = ((total << shift) // (weight << 32) for weight in (high, low))
        begin = (members * (low - high) << shift) // low
        # Both slopes were rounded by less than 1, so the line is less than 2**32 too low, and the next step adds its slope.
        sure = max((1 << shift) - (1 << 32) - outside - 2, -1)
        geometry = (np.int64(channel.outputs), np.int64(window.offset), np.int64(window.first), np.int64(window.last))
        lines = (np.int64((members * high << 32) // total), word(inside), word(outside), word(begin % (1 << 64)))
        self._lines = (*lines, word(shift), word(sure % (1 << 64)), *geometry)
        self._integers = (word(total), word(high), word(low), word(members), *geometry)

    def allocate(self, count: int) -> Outputs:
        return np.empty(count, output_dtype(self.channel.outputs))

    def draw(self, indices: Indices, out: Outputs, keystream: Keystream) -> None:
        words, places = np.empty(len(indices), np.uint32), np.empty(len(indices), np.int64)
        keystream.fill(words)
        places = places[: _window(words, indices, out, places, *self._lines)]
        if not len(places):
            return
        more = np.empty(len(places), np.uint32)
        keystream.fill(more)
        left = _refined(words, more, places, indices, out, *self._integers)
        for i, further in zip(places[:left], more[:left], strict=True):
            out[i] = self._settled(int(indices[i]), int(words[i]) << 32 | int(further), KeystreamCoins(keystream))

    def _settled(self, index: int, number: int, coins: KeystreamCoins) -> int:
        """The output for the U that begins with these 64 bits, with as many more as it takes."""
        channel, bits = self.channel, 64
        while number * channel.total >> bits != ((number + 1) * channel.total - 1) >> bits:
            number, bits = number << 32 | coins.below(1 << 32), bits + 32
        drawn = number * channel.total >> bits
        if drawn < channel.favoured:
            return channel.sets.inside(index, drawn // channel.high)
        return channel.sets.outside(index, (drawn - channel.favoured) // channel.low)


def checked_reciprocal(divisor: int, largest: int) -> tuple[int, int]:
    """The reciprocal, or the scalar path."""
    try:
        return reciprocal(divisor, largest)
    except OverflowError:
        raise TooWide from None
