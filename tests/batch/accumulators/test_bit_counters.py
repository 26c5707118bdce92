"""Counting bits of many rows at once gives what counting them one by one gives."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch.accumulators.kernels import count_bits


def one_by_one(rows: np.ndarray[tuple[int, int], np.dtype[np.uint64]], size: int) -> list[int]:
    return [sum(int(word) >> (v & 63) & 1 for word in rows[:, v >> 6]) for v in range(size)]


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 247, 248, 249, 255, 256, 495, 496, 503, 1000])
@pytest.mark.parametrize("size", [1, 64, 65, 130])
def test_random_rows(count: int, size: int) -> None:
    source = np.random.Generator(np.random.PCG64(count))
    rows = source.integers(0, 1 << 64, (count, -(-size // 64)), np.uint64)
    sums = np.zeros(size, np.int64)
    count_bits(rows, sums)
    assert sums.tolist() == one_by_one(rows, size)


@pytest.mark.parametrize("count", [8, 248, 256, 496, 2000])
def test_no_counter_overflows_when_every_bit_is_set(count: int) -> None:
    sums = np.full(100, 5, np.int64)
    count_bits(np.full((count, 2), np.iinfo(np.uint64).max, np.uint64), sums)
    assert (sums == 5 + count).all()
