"""Arrays of vectors to rows of lattice steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit
from numpy.typing import NDArray

from deniable.core import Ball, index_of


class VectorEncoder:
    """Rows of numbers to rows of lattice steps, as Ball.encode rounds them."""

    def __init__(self, domain: Ball) -> None:
        self.domain = domain

    def __call__(self, values: NDArray[Any]) -> Any:
        """Steps of one chunk, one row per vector."""
        domain = self.domain
        if len(values) == 0:
            return np.empty((0, domain.dimension), np.int32)
        if values.dtype == object or values.ndim != 2:
            return np.array([domain.steps(value) for value in values], np.int32).reshape(len(values), domain.dimension)
        if values.dtype.kind not in "iuf" or values.shape[1] != domain.dimension:
            raise domain.refuse(f"the values must be rows of {domain.dimension} numbers to belong to")
        steps = np.empty(values.shape, np.int32)
        numbers = np.ascontiguousarray(values, np.float64)
        if not _round(numbers, domain.per_unit, domain.reach, domain.most_step, domain.most_square, steps):
            raise domain.refuse("at least one value is outside")
        return steps

    def numbers(self, values: NDArray[Any]) -> NDArray[Any]:
        """The same as the numbers that channels take."""
        rows = np.empty(len(values), object)
        rows[:] = [index_of(row) for row in self(values).tolist()]
        return rows


@njit(nogil=True, cache=True)
def _round(numbers, per_unit, reach, most_step, most, steps):  # type: ignore[no-untyped-def]
    for i in range(numbers.shape[0]):
        square = int64(0)
        for j in range(numbers.shape[1]):
            number = numbers[i, j]
            if not abs(number) <= 2 * reach:
                return False
            step = int64(np.rint(number * per_unit))
            steps[i, j] = step
            square += step * step
            if square > most or abs(step) > most_step:
                return False
    return True
