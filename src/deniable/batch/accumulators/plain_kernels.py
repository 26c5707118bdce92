"""The same folds as in `kernels`, with NumPy alone: for a collector that only counts, where numba is not installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN = 0x9E3779B1
HASHES = 1 << 15
"""Hashes at a time: what they are worked out from stays in the cache."""
ROWS = 1 << 12
"""Rows of bits that are spread out at a time."""


def count_outputs(outputs: NDArray[Any], sums: NDArray[np.int64]) -> None:
    """sums[y] += how often y occurs; every output is a place of `sums`."""
    sums += np.bincount(outputs.astype(np.int64, copy=False), minlength=sums.size)


count_few_outputs = count_outputs


def count_bits(rows: NDArray[np.uint8], sums: NDArray[np.int64]) -> None:
    """sums[v] += how many rows have bit v, which is bit v % 8 of byte v // 8."""
    for start in range(0, len(rows), ROWS):
        bits = np.unpackbits(rows[start : start + ROWS], axis=1, count=sums.size, bitorder="little")
        sums += bits.sum(axis=0, dtype=np.int64)


def count_support(
    seeds: NDArray[np.uint32],
    lows: NDArray[np.uint32],
    widths: NDArray[np.uint32],
    spread: NDArray[np.uint32],
    sums: NDArray[np.uint32],
) -> None:
    """sums[v] += how many reports hash v into their own bucket; the hash is that of `kernels.count_support`."""
    at_once = max(1, HASHES // max(1, spread.size))
    for start in range(0, seeds.size, at_once):
        part = slice(start, start + at_once)
        hashes = seeds[part, None] + spread
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            hashes ^= hashes >> np.uint32(shift)
            hashes *= np.uint32(factor)
        hashes ^= hashes >> np.uint32(16)
        hashes -= lows[part, None]
        sums += (hashes < widths[part, None]).sum(axis=0, dtype=np.uint32)
