"""Columns and frames of pandas, polars and Arrow, read through narwhals: their values as arrays, none of them changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter, OutOfDomain

PLAIN = (np.ndarray, list, tuple, dict, str, bytes)
"""What is certainly no frame."""


def unframed(values: Any) -> Any:
    """A column as an array, a frame as a mapping of such arrays; anything else as it came.

    >>> import pyarrow
    >>> unframed(pyarrow.table({"age": [31, 47]}))
    {'age': array([31, 47])}
    """
    if isinstance(values, PLAIN):
        return values
    import narwhals as nw

    found = nw.from_native(_table(values), allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        raise InvalidParameter("the frame of values is lazy: collect it first, frame.collect()")
    if isinstance(found, nw.Series):
        return column_array(found)
    if isinstance(found, nw.DataFrame):
        return {name: column_array(found[name]) for name in found.columns}
    return values


def side_by_side(columns: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The columns of a frame as one array with a row for each value: a place is a pair of coordinates."""
    if len(columns) < 2:
        raise OutOfDomain("a frame of one column holds no pairs: give the column itself, frame['name']")
    # Columns of several types would be changed to a common one: then every value stays an object of its own.
    same = len({column.dtype for column in columns.values()}) == 1
    return np.stack([column if same else column.astype(object) for column in columns.values()], axis=1)


def column_array(column: Any) -> NDArray[Any]:
    """A narwhals column: numbers and bits as they are stored, anything else one object per value."""
    if column.null_count():
        raise OutOfDomain("at least one value is missing, and what is missing cannot be reported; leave these rows out first")
    kind = column.dtype
    if (kind.is_numeric() and not kind.is_decimal()) or str(kind) == "Boolean":
        array: NDArray[Any] = np.asarray(column.to_numpy())
        if array.dtype.kind in "biuf":
            return array
    listed = column.to_list()
    objects = np.empty(len(listed), object)
    objects[:] = listed
    return objects


def _table(values: Any) -> Any:
    """Single chunks of Arrow as the tables and columns they are chunks of."""
    import narwhals as nw

    arrow: Any = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(values, arrow.Array):
        return arrow.chunked_array([values])
    if arrow is not None and isinstance(values, arrow.RecordBatch):
        return arrow.Table.from_batches([values])
    return values
