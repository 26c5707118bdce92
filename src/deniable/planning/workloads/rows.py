"""All extremal rows of n values: s in {1, E}**n, row number b with s_x = E where bit x of b is set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats, Integers

MOST_ENUMERATED = 20


def linear(vector: Floats, raised: float) -> Floats:
    """v·s for all 2**n rows, by doubling.

    >>> linear(np.array([1.0, 10.0]), 3.0).tolist()
    [11.0, 13.0, 31.0, 33.0]
    """
    values = np.array([vector.sum()])
    for entry in vector:
        values = np.concatenate([values, values + (raised - 1) * entry])
    return values


def quadratic(matrix: Floats, raised: float) -> Floats:
    """sᵀKs for all 2**n rows of a symmetric K, by doubling: about 4·2**n additions.

    >>> quadratic(np.array([[1.0, 0.0], [0.0, 2.0]]), 3.0).tolist()
    [3.0, 11.0, 19.0, 27.0]
    """
    step = raised - 1
    values = np.array([matrix.sum()])
    for j in range(len(matrix)):
        towards = np.array([matrix[j].sum()])
        for entry in matrix[j, :j]:
            towards = np.concatenate([towards, towards + step * entry])
        values = np.concatenate([values, values + 2 * step * towards + step * step * matrix[j, j]])
    return values


def subset_sums(vector: Integers) -> Integers:
    """The sum of the chosen entries for all 2**n choices, exactly."""
    values = np.zeros(1, np.int64)
    for entry in vector:
        values = np.concatenate([values, values + entry])
    return values


def subset_squares(matrix: Integers) -> Integers:
    """bᵀKb for all b in {0, 1}**n of a symmetric K, exactly. The caller sees to it that nothing overflows."""
    values = np.zeros(1, np.int64)
    for j in range(len(matrix)):
        values = np.concatenate([values, values + 2 * subset_sums(matrix[j, :j]) + matrix[j, j]])
    return values


def unpacked(numbers: Integers, size: int) -> NDArray[np.bool_]:
    """Which values are raised, for every row number."""
    return np.asarray((numbers[:, None] >> np.arange(size)) & 1, np.bool_)


def packed(raised: NDArray[np.bool_]) -> Integers:
    """The number of every row."""
    return np.asarray(raised.astype(np.int64) @ (1 << np.arange(raised.shape[1])), np.int64)


def local_maxima(values: Floats, size: int, least: float, most: int) -> Integers:
    """Row numbers whose value exceeds `least` and is not exceeded by changing one entry; the largest `most` of them."""
    numbers = np.flatnonzero(values > least)
    if len(numbers) == 0:
        return np.asarray(numbers, np.int64)
    peak = np.ones(len(numbers), np.bool_)
    for j in range(size):
        peak &= values[numbers] >= values[numbers ^ (1 << j)]
    peaks = numbers[peak]
    order = np.argsort(values[peaks])[::-1][:most]
    return np.asarray(peaks[order], np.int64)


def chain(column: Floats, raised: float) -> tuple[NDArray[np.bool_], Floats]:
    """Extremal rows that add up to a column whose entries lie within a factor E, and their weights.

    The sets of raised values are nested: those above one level after the other.

    >>> patterns, weights = chain(np.array([1.0, 2.0, 3.0]), 3.0)
    >>> patterns.tolist(), weights.tolist()
    ([[False, True, True], [False, False, True]], [0.5, 0.5])
    """
    least = float(column.min())
    heights = (column / least - 1) / (raised - 1)
    levels = np.unique(np.concatenate([heights, [0.0, 1.0]]))
    patterns = np.array([heights >= level for level in levels[1:]])
    return np.asarray(patterns, np.bool_), np.asarray(np.diff(levels) * least, np.float64)
