"""Arrays of private values to channel inputs: exactly the indices the scalar path gives.

Numbers and places have files of their own: grids.py and places.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.batch.digits import WIDE, join_columns
from deniable.batch.frames import side_by_side, unframed
from deniable.batch.grids import Encoder, GridEncoder
from deniable.batch.places import coordinate_columns, place_encoder
from deniable.batch.sampler import Indices
from deniable.batch.set_encoding import KeyValueEncoder, SetEncoder
from deniable.batch.vectors import VectorEncoder
from deniable.batch.word_encoding import WordEncoder
from deniable.core import (
    Ball,
    Binary,
    Bins,
    Categories,
    CircularMechanism,
    CoordinateMechanism,
    Domain,
    ItemSet,
    KeyValue,
    Marginals,
    Mechanism,
    NumericMechanism,
    Record,
    Text,
    Whole,
)
from deniable.errors import OutOfDomain


def encode_many(mechanism: Mechanism, values: Any) -> Any:
    """Channel inputs of an array of values: an int64 array, or a tuple of them for a record or for coordinates."""
    if isinstance(mechanism.domain, Record) and mechanism.parts:
        if isinstance(mechanism, Marginals):  # its parts are tables of several fields
            return _values_of_fields(mechanism.domain, values)
        columns = _encode_record(mechanism, values)
        # Only a product takes its fields as columns of their own; any other channel takes one number per record.
        return columns if mechanism.channel.side_by_side else _one_number(mechanism, columns)
    if isinstance(mechanism, CoordinateMechanism):
        return coordinate_columns(mechanism, as_array(mechanism, values))
    encoder = chunk_encoder(mechanism)
    # Samplers take vectors as rows; a channel's input is one number.
    return (encoder.numbers if isinstance(encoder, VectorEncoder) else encoder)(as_array(mechanism, values))


def chunk_encoder(mechanism: Mechanism) -> Encoder:
    """A function from an array of values to inputs, ready to be called chunk by chunk."""
    if isinstance(mechanism, NumericMechanism | CircularMechanism):
        return GridEncoder(mechanism.domain, mechanism.grid)
    domain = mechanism.domain
    places = place_encoder(domain)
    if places is not None:
        return places
    if isinstance(domain, Binary | Categories):
        return category_encoder(domain)
    if isinstance(domain, Ball):
        return VectorEncoder(domain)
    if isinstance(domain, Text | Whole):
        return WordEncoder(domain)
    if isinstance(domain, ItemSet):
        return SetEncoder(domain)
    if isinstance(domain, KeyValue):
        return KeyValueEncoder(domain)
    width = np.int64 if mechanism.channel.inputs < WIDE else object
    return lambda values: np.array([mechanism.encode(value) for value in values], width)


def category_encoder(domain: Binary | Categories) -> Encoder:
    """Numbers, or names, of categories."""
    if isinstance(domain, Bins):
        return BinEncoder(domain)
    return LabelEncoder(domain) if isinstance(domain, Categories) and domain.labels is not None else WholeEncoder(domain)


def as_array(mechanism: Mechanism, values: Any) -> NDArray[Any]:
    """Whatever holds the values as an array, without changing any of them."""
    return domain_array(mechanism.domain, values)


def domain_array(domain: Domain, values: Any) -> NDArray[Any]:
    """The same for values of a domain."""
    if isinstance(values, np.ndarray):
        return values
    native, values = values, unframed(values)
    if values is not native:
        return side_by_side(values) if isinstance(values, dict) else values
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise OutOfDomain(f"the values must be an array or a list of values of {domain!r}")
    if isinstance(domain, ItemSet | KeyValue):  # lists of one length would become a table of numbers
        return _as_they_came(values)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        array = None
    widened = array is not None and array.dtype.kind == "f" and isinstance(domain, Whole)
    uniform = array is not None and array.dtype.kind == "U" and not isinstance(domain, Bins)
    if array is None or widened or array.dtype.kind not in "biufUT" or (not uniform and _mixed(values)):
        # numpy would turn [1, True], [0.5, "x"] or [1, 2**64 - 1] into something else; keep every value as it came.
        return _as_they_came(values)
    return array


def _as_they_came(values: Any) -> NDArray[Any]:
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _mixed(values: Any) -> bool:
    return isinstance(values, list | tuple) and len({type(value) for value in values}) > 1


class WholeEncoder:
    """Whole numbers (or bits) to themselves, once they are seen to be in range."""

    def __init__(self, domain: Binary | Categories) -> None:
        self.domain = domain
        self.kinds = "biuO" if isinstance(domain, Binary) else "iuO"

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Indices of one chunk."""
        if len(values) == 0:
            return np.empty(0, np.int64)
        if values.ndim != 1 or values.dtype.kind not in self.kinds:
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
        different, back = np.unique(values, return_inverse=True)
        return np.array([self.domain.encode(str(name)) for name in different], np.int64)[back]


class BinEncoder:
    """Numbers, or names of bins, to the numbers of their bins."""

    def __init__(self, domain: Bins) -> None:
        self.domain = domain
        self.edges = np.array([float(edge) for edge in domain.edges])
        self.named = LabelEncoder(domain)

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Indices of one chunk."""
        if values.ndim != 1 or values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
            return self.named(values)
        doubles = values.astype(np.float64, copy=False)
        if not ((doubles >= self.edges[0]) & (doubles <= self.edges[-1])).all():  # false for nan
            raise self.domain.refuse("at least one value is outside")
        return np.minimum(np.searchsorted(self.edges, doubles, side="right"), self.domain.size) - 1


def _encode_record(mechanism: Mechanism, values: Any) -> tuple[Any, ...]:
    """One array of inputs per field, from a mapping of arrays, a frame or a list of records."""
    assert isinstance(mechanism.domain, Record)
    given = _given_columns(mechanism.domain, values)
    return _of_one_length(tuple(encode_many(part, given[name]) for name, part in mechanism.parts.items()))


def _values_of_fields(record: Record, values: Any) -> NDArray[Any]:
    """The records' own numbers, where every field is a list of values."""
    given, columns = _given_columns(record, values), []
    for name, domain in record.fields.items():
        assert isinstance(domain, Binary | Categories)
        columns.append(category_encoder(domain)(domain_array(domain, given[name])))
    _of_one_length(tuple(columns))
    return join_columns(columns, tuple(domain.size for domain in record.fields.values()), record.size)


def _given_columns(record: Record, values: Any) -> Any:
    values = unframed(values)
    if not hasattr(values, "keys"):
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise OutOfDomain("the values must be a mapping of columns or a list of records")
        rows = [record.items(value) for value in values]
        values = {name: [row[name] for row in rows] for name in record.fields}
    if set(values.keys()) != set(record.fields):
        raise OutOfDomain(f"the columns must be exactly {', '.join(record.fields)}")
    return values


def _of_one_length(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    if len({_length(column) for column in columns}) > 1:
        raise OutOfDomain("the columns of a record must have one length")
    return columns


def _one_number(mechanism: Mechanism, columns: tuple[Any, ...]) -> NDArray[Any]:
    parts = mechanism.parts
    whole = [
        _one_number(part, column) if isinstance(column, tuple) else column
        for part, column in zip(parts.values(), columns, strict=True)
    ]
    sizes = tuple(part.channel.inputs for part in parts.values())
    return join_columns(whole, sizes, math.prod(sizes))


def _length(inputs: Any) -> int:
    return _length(inputs[0]) if isinstance(inputs, tuple) else len(inputs)
