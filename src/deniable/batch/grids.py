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

BLOCK = 128
NARROW, MOST = (1 << 31) - 1, (1 << 63) - 1


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
        self.last = self._exact(self.most)
        # Each of the three roundings is off by at most 2**-53 of the largest number involved.
        reach = grid.steps * (1 + (abs(float(low)) + abs(float(high))) / float(domain.width)) + 2
        self.doubt = reach * 2.0**-50
        if low == 0 and grid.shift == 0 and _is_power_of_two(grid.steps / domain.width):
            self.doubt = 0.0  # multiplying by a power of two is exact
        narrow = np.full(1, min(grid.last, MOST), np.int32 if grid.steps < NARROW else np.int64)
        self._line = (self.low, self.scale, self.shift, narrow, self.least, self.most, self.doubt)

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
        bad, count = _to_grid(doubles, indices, doubtful, *self._line)
        if bad:
            raise self.domain.refuse("at least one value is outside")
        if count:
            self._settle(doubles, indices, doubtful[:count])
        if self.wraps:
            indices[doubles == self.most] = self.last
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
    """Indices block by block, without a branch; `last` is an array of one, as narrow as indices may be.

    Returns how many values do not belong (their index is that of an end) and how many are in doubt.
    """
    bad = 0
    count = 0
    for start in range(0, values.size, BLOCK):
        some, cells = values[start : start + BLOCK], indices[start : start + BLOCK]
        looked_at = np.int64(0)
        for i in range(some.size):
            value = some[i] if some[i] >= least else least  # also for nan
            value = value if value <= most else most
            scaled = (value - low) * scale + shift
            index = last.dtype.type(scaled)
            rest = scaled - index
            cells[i] = min(index, last[0])
            looked_at += np.int64(value != some[i]) + np.int64(rest < doubt) + np.int64(rest > 1.0 - doubt)
        if looked_at:
            for i in range(some.size):
                if not (least <= some[i] <= most):
                    bad += 1
                    continue
                scaled = (some[i] - low) * scale + shift
                rest = scaled - np.int64(scaled)
                if rest < doubt or rest > 1.0 - doubt:
                    doubtful[count] = start + i
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
