"""Arrays of private values to channel inputs: exactly the indices the scalar path gives.

The array path computes in doubles and knows how far off it may be. Values whose index that leaves in
doubt (within a few ulp of a boundary) are computed again with the scalar path's exact rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.fake_data import join_columns
from deniable.batch.sampler import Indices
from deniable.batch.words import WordEncoder
from deniable.channels import Product
from deniable.domains import Binary, Categories, Circle, Interval, Record, Rectangle
from deniable.domains.words import Text, Whole
from deniable.errors import OutOfDomain
from deniable.exact import Grid, cells
from deniable.mechanisms import Mechanism
from deniable.mechanisms.numeric_base import CircularMechanism, NumericMechanism

Encoder = Callable[[Any], Indices]


def encode_many(mechanism: Mechanism, values: Any) -> Any:
    """Channel inputs of an array of values: an int64 array, or a tuple of them for a record."""
    if isinstance(mechanism.domain, Record) and hasattr(mechanism, "parts"):
        columns = _encode_record(mechanism, values)
        # Only a product takes its fields as columns of their own; any other channel takes one number per record.
        return columns if isinstance(mechanism.channel, Product) else _one_number(mechanism, columns)
    return chunk_encoder(mechanism)(as_array(mechanism, values))


def chunk_encoder(mechanism: Mechanism) -> Encoder:
    """A function from an array of values to inputs, ready to be called chunk by chunk."""
    if isinstance(mechanism, NumericMechanism | CircularMechanism):
        return GridEncoder(mechanism.domain, mechanism.grid)
    domain = mechanism.domain
    if isinstance(domain, Rectangle):
        return RectangleEncoder(domain)
    if isinstance(domain, Binary) or (isinstance(domain, Categories) and domain.labels is None):
        return WholeEncoder(domain)
    if isinstance(domain, Categories):
        return LabelEncoder(domain)
    if isinstance(domain, Text | Whole):
        return WordEncoder(domain)
    return lambda values: np.array([mechanism.encode(value) for value in values], np.int64)


def as_array(mechanism: Mechanism, values: Any) -> NDArray[Any]:
    """Whatever holds the values as an array, without changing any of them."""
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise OutOfDomain(f"the values must be an array or a list of values of {mechanism.domain!r}")
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        array = None
    widened = array is not None and array.dtype.kind == "f" and isinstance(mechanism.domain, Whole)
    if array is None or widened or array.dtype.kind not in "biufUT" or (array.dtype.kind != "U" and _mixed(values)):
        # numpy would turn [1, True], [0.5, "x"] or [1, 2**64 - 1] into something else; keep every value as it came.
        array = np.empty(len(values), object)
        array[:] = list(values)
    return array


def _mixed(values: Any) -> bool:
    return isinstance(values, list | tuple) and len({type(value) for value in values}) > 1


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
        found, back = np.unique(doubles[places], return_inverse=True)
        indices[places] = np.array([self._exact(float(value)) for value in found], np.int64)[back]

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


class RectangleEncoder:
    """Pairs of numbers to cells of a grid, row by row."""

    def __init__(self, domain: Rectangle) -> None:
        self.domain = domain
        self.x = GridEncoder(domain.x, cells(domain.x.cells))
        self.y = GridEncoder(domain.y, cells(domain.y.cells))

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Indices of one chunk of shape (n, 2)."""
        if len(values) == 0:
            return np.empty(0, np.int64)
        if values.ndim != 2 or values.shape[1] != 2:
            if values.dtype == object and values.ndim == 1:
                return np.array([self.domain.encode(value) for value in values], np.int64)
            raise OutOfDomain(f"the values must form an array of pairs of numbers of {self.domain!r}")
        return self.y(values[:, 1]) * self.domain.x.cells + self.x(values[:, 0])


class WholeEncoder:
    """Whole numbers (or bits) to themselves, once they are seen to be in range."""

    def __init__(self, domain: Binary | Categories) -> None:
        self.domain = domain

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Indices of one chunk."""
        if len(values) == 0:
            return np.empty(0, np.int64)
        binary = isinstance(self.domain, Binary)
        if values.ndim != 1 or values.dtype.kind not in ("biuO" if binary else "iuO"):
            raise self.domain.refuse("the values must be whole numbers to belong to")
        if values.dtype == object:
            return np.array([self.domain.encode(value) for value in values], np.int64)
        # Read as unsigned, a negative number is a huge one: one comparison checks both ends.
        indices = values.astype(np.int64, copy=False)
        if values.dtype == np.uint64 and int(values.max()) >= 1 << 63:
            raise self.domain.refuse("at least one value is outside")
        if not _all_below(indices.view(np.uint64), np.uint64(self.domain.size)):
            raise self.domain.refuse("at least one value is outside")
        return indices


@njit(nogil=True, cache=True)
def _all_below(values, bound):  # type: ignore[no-untyped-def]
    largest = np.uint64(0)
    for i in range(values.size):
        largest = max(largest, values[i])
    return largest < bound


class LabelEncoder:
    """Names of categories to their numbers; each different name is looked up once."""

    def __init__(self, domain: Categories) -> None:
        self.domain = domain

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Indices of one chunk."""
        if len(values) == 0:
            return np.empty(0, np.int64)
        if values.ndim != 1 or values.dtype.kind not in "OUT":
            raise self.domain.refuse("the values must be names to belong to")
        if values.dtype == object:
            return np.array([self.domain.encode(value) for value in values], np.int64)
        found, back = np.unique(values, return_inverse=True)
        return np.array([self.domain.encode(str(name)) for name in found], np.int64)[back]


def _encode_record(mechanism: Mechanism, values: Any) -> tuple[Any, ...]:
    """One array of inputs per field, from a mapping of arrays or a list of records."""
    assert isinstance(mechanism.domain, Record)
    parts: Mapping[str, Mechanism] = mechanism.parts  # type: ignore[attr-defined]
    if not hasattr(values, "keys"):
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise OutOfDomain("the values must be a mapping of columns or a list of records")
        rows = [mechanism.domain.items(value) for value in values]
        values = {name: [row[name] for row in rows] for name in parts}
    if set(values.keys()) != set(parts):
        raise OutOfDomain(f"the columns must be exactly {', '.join(parts)}")
    columns = tuple(encode_many(part, values[name]) for name, part in parts.items())
    if len({_length(column) for column in columns}) > 1:
        raise OutOfDomain("the columns of a record must have one length")
    return columns


def _one_number(mechanism: Mechanism, columns: tuple[Any, ...]) -> NDArray[Any]:
    parts: Mapping[str, Mechanism] = mechanism.parts  # type: ignore[attr-defined]
    whole = [
        _one_number(part, column) if isinstance(column, tuple) else column
        for part, column in zip(parts.values(), columns, strict=True)
    ]
    sizes = tuple(part.channel.inputs for part in parts.values())
    return join_columns(whole, sizes, math.prod(sizes))


def _length(inputs: Any) -> int:
    return _length(inputs[0]) if isinstance(inputs, tuple) else len(inputs)


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
