"""Singletons and windows: randomized response, k-RR and every piecewise mechanism."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.sampler import TooWide, WordSampler, acceptance, power_of_two, word
from deniable.batch.wide import multiply_high, reciprocal
from deniable.core import TwoLevel


@njit(nogil=True, cache=True)
def _singleton(words, indices, out, pending, total, threshold, high, low_bits, size):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(indices.size):
        drawn = multiply_high(words[i], total)
        true = uint64(indices[i])
        other = true + uint64(1) + ((drawn - high) >> low_bits)
        other = other - size if other >= size else other
        out[i] = true if drawn < high else other
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


@njit(nogil=True, cache=True)
def _window(  # type: ignore[no-untyped-def]
    words,
    indices,
    out,
    pending,
    total,
    threshold,
    favoured,
    high_multiplier,
    high_shift,
    low_bits,
    members,
    outputs,
    offset,
    first,
    last,
):
    rejected = 0
    for i in range(indices.size):
        drawn = multiply_high(words[i], total)
        inside = multiply_high(drawn, high_multiplier) >> high_shift
        outside = members + ((drawn - favoured) >> low_bits)
        start = min(max(indices[i] + offset, first), last)
        start = start + np.int64(outputs) if start < 0 else start
        cell = uint64(start) + (inside if drawn < favoured else outside)
        out[i] = cell - outputs if cell >= outputs else cell
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class SingletonSampler(WordSampler):
    """k-RR: one word, one multiplication for the draw and a shift for the division."""

    kernel = staticmethod(_singleton)

    def __init__(self, channel: TwoLevel) -> None:
        super().__init__(
            channel.outputs,
            *acceptance(channel.total),
            word(channel.high),
            power_of_two(channel.low),
            word(channel.outputs),
        )


class WindowSampler(WordSampler):
    """Windows, slid, linear or wrapped: the same kernel, since a window's complement is a window too."""

    kernel = staticmethod(_window)

    def __init__(self, channel: TwoLevel) -> None:
        window = channel.sets.window
        assert window is not None
        super().__init__(
            channel.outputs,
            *acceptance(channel.total),
            word(channel.favoured),
            *map(word, checked_reciprocal(channel.high, channel.total)),
            power_of_two(channel.low),
            word(window.members),
            word(window.outputs),
            np.int64(window.offset),
            np.int64(window.first),
            np.int64(window.last),
        )


def checked_reciprocal(divisor: int, largest: int) -> tuple[int, int]:
    """The reciprocal, or the scalar path."""
    try:
        return reciprocal(divisor, largest)
    except OverflowError:
        raise TooWide from None
