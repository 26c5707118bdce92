"""The fast Walsh–Hadamard transform: all sums over signs at once, in K log K additions."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)


@njit(nogil=True, cache=True)
def _transform(column):  # type: ignore[no-untyped-def]
    step = 1
    # Two levels at a time: half the passes over the memory.
    while 4 * step <= column.size:
        for start in range(0, column.size, 4 * step):
            for i in range(start, start + step):
                a, b, c, d = column[i], column[i + step], column[i + 2 * step], column[i + 3 * step]
                column[i] = a + b + c + d
                column[i + step] = a - b + c - d
                column[i + 2 * step] = a + b - c - d
                column[i + 3 * step] = a - b - c + d
        step *= 4
    if step < column.size:
        for i in range(step):
            a, b = column[i], column[i + step]
            column[i] = a + b
            column[i + step] = a - b


def walsh_hadamard(column: NDArray[Number]) -> NDArray[Number]:
    """The sums over y of (-1)**parity(x & y) * column[y], for every x; the length is a power of two.

    >>> walsh_hadamard(np.array([1, 2, 3, 4])).tolist()
    [10, -2, -4, 0]
    """
    transformed = column.copy()
    _transform(transformed)
    return transformed
