"""Mixed-radix digits: numbers of records taken apart into their fields, and put together again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.sampler import Indices

WIDE = 1 << 62
"""Inputs from here on are Python integers in an object array."""


def digit_columns(numbers: NDArray[Any], sizes: tuple[int, ...]) -> list[Indices]:
    """Mixed-radix digits of many numbers, one array per digit, most significant first."""
    lowest_first: list[Indices] = []
    rest = numbers if numbers.dtype == object else numbers.astype(np.uint64, copy=False)
    for size in reversed(sizes):
        divisor = size if numbers.dtype == object else np.uint64(size)
        lowest_first.append((rest % divisor).astype(np.int64))
        rest = rest // divisor
    return lowest_first[::-1]


def join_columns(columns: list[Indices], sizes: tuple[int, ...], largest: int) -> NDArray[Any]:
    """The numbers with these digits; Python integers where machine words are too narrow for `largest`."""
    numbers: NDArray[Any] = np.zeros(len(columns[0]), np.int64 if largest < WIDE else object)
    for column, size in zip(columns, sizes, strict=True):
        numbers = numbers * size + column
    return numbers
