"""Arrays of numbers to indices of a grid: exactly the indices the scalar path gives.

The array path computes in doubles and knows how far off it may be. Values whose index that leaves in
doubt (within a few ulp of a boundary) are computed again with the scalar path's exact rationals.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.sampler import Indices
from deniable.core import Circle, Grid, Interval
from deniable.errors import OutOfDomain

Encoder = Callable[[Any], Indices]


class GridEncoder:
    """Numbers on an interval or a circle to indices of a grid."""

    def __init__(self, domain: Interval | Circle, grid: Grid) -> None:
        self.domain, self.grid = domain, grid
        low, high = domain.low, domain.low + domain.width
        self.low, self.scale, self.shift = float(low), float(grid.steps / domain.width), float(grid.shift)
        # The values that belong are those between the doubles next to the exact ends.
        self.least = _inward(low, up=True)
        self.most = _inward(high, up=False)
        self.wraps = isinstance(domain, Circle)
        # Each of the three roundings is off by at most 2**-53 of the largest number involved.
        reach = grid.steps * (1 + (abs(float(low)) + abs(float(high))) / float(domain.width)) + 2
        self.doubt = reach * 2.0**-50
        if low == 0 and grid.shift == 0 and _is_power_of_two(grid.steps / domain.width):
            self.doubt = 0.0  # multiplying by a power of two is exact

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Indices of one chunk."""
        if values.ndim != 1:
            raise OutOfDomain(f"the values must form a one-dimensional array of numbers of {self.domain!r}")
        kind = values.dtype.kind
        exact_as_double = (kind == "f" and values.dtype.itemsize <= 8) or (kind in "iu" and values.dtype.itemsize <= 4)
        if kind in "iu" and not exact_as_double and len(values):
            exact_as_double = int(values.min()) >= -(1 << 53) and int(values.max()) <= 1 << 53
        if not exact_as_double or self.doubt > 0.25:
            return self._one_by_one(values)
        doubles = np.ascontiguousarray(values, np.float64)
        indices = np.empty(len(doubles), np.int64)
        doubtful = np.empty(len(doubles), np.int64)
        bad, count = _to_grid(
            doubles, indices, doubtful, self.low, self.scale, self.shift, self.grid.last, self.least, self.most, self.doubt
        )
        if bad:
            raise self.domain.refuse("at least one value is outside")
        if count:
            self._settle(doubles, indices, doubtful[:count])
        if self.wraps:
            indices[doubles == self.most] = self.grid.index(self.domain.position(self.most))
        return indices

    def _settle(self, doubles: NDArray[np.float64], indices: Indices, places: Indices) -> None:
        """Exact rationals for the values in doubt, each different one once."""
        different, back = np.unique(doubles[places], return_inverse=True)
        indices[places] = np.array([self._exact(float(value)) for value in different], np.int64)[back]

    def _exact(self, value: Any) -> int:
        return self.grid.index(self.domain.position(value))

    def _one_by_one(self, values: NDArray[Any]) -> Indices:
        if values.dtype.kind not in "iufO":
            raise self.domain.refuse("the values must be numbers to belong to")
        return np.array([self._exact(value) for value in values], np.int64)


@njit(nogil=True, cache=True)
def _to_grid(values, indices, doubtful, low, scale, shift, last, least, most, doubt):  # type: ignore[no-untyped-def]
    bad = 0
    count = 0
    for i in range(values.size):
        value = values[i]
        if not (least <= value <= most):  # also true for nan
            bad += 1
            indices[i] = 0
            continue
        scaled = (value - low) * scale + shift
        index = np.int64(scaled)
        rest = scaled - index
        indices[i] = min(index, last)
        if rest < doubt or rest > 1.0 - doubt:
            doubtful[count] = i
            count += 1
    return bad, count


def _is_power_of_two(value: Fraction) -> bool:
    return value.numerator.bit_count() == 1 and value.denominator.bit_count() == 1


def _inward(exact: Fraction, *, up: bool) -> float:
    """The double nearest to an exact end that is not beyond it."""
    real = float(exact)
    if up and Fraction(real) < exact:
        return float(np.nextafter(real, np.inf))
    if not up and Fraction(real) > exact:
        return float(np.nextafter(real, -np.inf))
    return real
