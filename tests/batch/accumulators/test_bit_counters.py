"""Counting bits of many rows at once gives what counting them one by one gives."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch.accumulators.kernels import MANY_LINES, count_bits


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 247, 248, 249, 255, 256, 495, 496, 503, 1000, 5000])
@pytest.mark.parametrize("size", [1, 8, 9, 64, 65, 130, 511, 513, 1000, 5000])
def test_random_rows(count: int, size: int) -> None:
    rows = np.random.Generator(np.random.PCG64(count)).integers(0, 256, (count, -(-size // 8)), np.uint8)
    sums = np.full(size, 3, np.int64)
    count_bits(rows, sums)
    one_by_one = np.unpackbits(rows, axis=1, count=size, bitorder="little").sum(axis=0, dtype=np.int64)
    assert (sums == 3 + one_by_one).all()


@pytest.mark.parametrize("count", [8, 248, 256, 496, 2000, 100_000])
def test_no_counter_overflows_when_every_bit_is_set(count: int) -> None:
    sums = np.full(100, 5, np.int64)
    count_bits(np.full((count, 13), 255, np.uint8), sums)
    assert (sums == 5 + count).all()


def test_counts_of_16_digits_are_read_before_they_are_full() -> None:
    count = 2 * MANY_LINES + 300
    sums = np.zeros(4097, np.int64)
    count_bits(np.broadcast_to(np.array([[255]], np.uint8), (count, 513)).copy(), sums)
    assert (sums == count).all()


def test_nothing_beyond_the_last_row_is_counted() -> None:
    room = np.full(64 * 20, 255, np.uint8)
    rows = room[: 7 * 20].reshape(20, 7)
    rows[:] = 0
    sums = np.zeros(56, np.int64)
    count_bits(rows, sums)
    assert not sums.any()
