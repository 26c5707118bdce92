"""Unary bits have exactly the channel's law: every number that a lane can compare is tried."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch.bits import BitsSampler, _unary
from deniable.core import Bits

ONES = (1 << 64) - 1


@pytest.mark.parametrize("size", [5, 64, 70])
@pytest.mark.parametrize(("own", "other", "scale"), [(200, 77, 256), (3, 1, 4), (40, 32, 64), (130, 1, 256), (255, 254, 256)])
def test_every_number_below_the_scale_gives_the_weights(size: int, own: int, other: int, scale: int) -> None:
    sampler = BitsSampler(Bits(size, own=own, other=other, scale=scale))
    digits, width, mine = scale.bit_length() - 1, -(-size // 64), size - 1
    ones = np.zeros(size, np.int64)
    for number in range(scale):
        # All lanes get the same number: its first digits from words for all lanes, the others from words of their own.
        first = [ONES * (number >> (digits - 1 - digit) & 1) for digit in range(sampler.early) for _ in range(width)]
        others = (
            [number << (64 - digits + sampler.early) & ONES] * size
            if number >> digits - sampler.early == other >> digits - sampler.early
            else []
        )
        last = [number << 64 - digits]
        words = np.zeros(width * (sampler.early + 64) + 1, np.uint64)
        words[: len(first + others + last)] = first + others + last
        rows = np.empty((1, width), np.uint64)
        assert _unary(words, np.array([mine]), rows, 0, *sampler._integers) == 1
        bits = np.unpackbits(rows.view(np.uint8), bitorder="little")
        assert not bits[size:].any()
        ones += bits[:size]
    assert ones[mine] == own
    assert (ones[:mine] == other).all()


def test_a_row_is_not_begun_when_the_words_might_not_last() -> None:
    sampler = BitsSampler(Bits(70, own=200, other=77, scale=256))
    rows, words = np.zeros((2, 2), np.uint64), np.zeros(2 * (sampler.early + 64), np.uint64)
    assert _unary(words, np.array([1, 2]), rows, 0, *sampler._integers) == 0
    assert not rows.any()
