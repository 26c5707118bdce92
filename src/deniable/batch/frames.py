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

    frame = nw.from_native(_table(values), allow_series=True, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise InvalidParameter("the frame of values is lazy: collect it first, frame.collect()")
    if isinstance(frame, nw.Series):
        return column_array(frame)
    if isinstance(frame, nw.DataFrame):
        return {name: column_array(frame[name]) for name in frame.columns}
    return values


def side_by_side(columns: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The columns of a frame as one array with a row for each value: a place is a pair of coordinates."""
    if len(columns) < 2:
        raise OutOfDomain("a frame of one column holds no pairs: give the column itself, frame['name']")
    # Columns of several types would be changed to a common one: then every value stays an object of its own.
    same = len({column.dtype for column in columns.values()}) == 1
    return np.stack([column if same else column.astype(object) for column in columns.values()], axis=1)


def whole_numbers(values: Any, name: str, size: int) -> NDArray[Any]:
    """A list, array or column of whole numbers below `size`, or of bits, as an array; nothing is rounded into one.

    >>> whole_numbers([1, 0], "the answers", 2)
    array([1, 0])
    """
    plain = unframed(values)
    try:
        numbers = np.asarray(plain)
        numbers = np.array(numbers.tolist()) if numbers.dtype == object else numbers
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty((0, 0))
    if numbers.ndim == 1 and numbers.size == 0:
        return np.empty(0, np.int64)
    fine = numbers.ndim == 1 and numbers.dtype.kind in "biu" and numbers.max() < size
    if not fine or (numbers.dtype.kind == "i" and numbers.min() < 0):
        what = "bits" if size == 2 else f"whole numbers from 0 to {size - 1}"
        raise InvalidParameter(f"{name} must be a one-dimensional array of {what}")
    return numbers


def table_of_numbers(rows: Any) -> tuple[NDArray[np.float64], list[str] | None]:
    """A frame, an array or rows as numbers, and the names of the columns where there are any.

    What a frame says is missing becomes nan. What is no number is refused, and not shown.
    """
    try:
        return _table_and_names(rows)
    except (TypeError, ValueError):  # numpy's own words quote the value
        raise OutOfDomain("at least one value of the table is not a number; encode categories as numbers first") from None


def _table_and_names(rows: Any) -> tuple[NDArray[np.float64], list[str] | None]:
    if isinstance(rows, PLAIN):
        return np.array(rows, dtype=np.float64), None
    import narwhals as nw

    frame = nw.from_native(_table(rows), eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return np.array(rows.to_numpy() if hasattr(rows, "to_numpy") else rows, dtype=np.float64), None
    names = [str(name) for name in frame.columns]
    columns = [_numbers(frame[name]) for name in frame.columns]
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0)), names


def column_array(column: Any) -> NDArray[Any]:
    """A narwhals column: numbers and bits as they are stored, anything else one object per value."""
    if column.null_count():
        raise OutOfDomain("at least one value is missing; drop or fill the missing values first")
    kind = column.dtype
    if (kind.is_numeric() and not kind.is_decimal()) or str(kind) == "Boolean":
        array: NDArray[Any] = np.asarray(column.to_numpy())
        if array.dtype.kind in "biuf":
            return array
    listed = column.to_list()
    objects = np.empty(len(listed), object)
    objects[:] = listed
    return objects


def _numbers(column: Any) -> NDArray[np.float64]:
    """A narwhals column as floats, with nan for what is missing."""
    if column.null_count():
        return np.array([np.nan if value is None else value for value in column.to_list()], np.float64)
    return np.asarray(column_array(column), np.float64)


def _table(values: Any) -> Any:
    """Single chunks of Arrow as the tables and columns they are chunks of."""
    import narwhals as nw

    arrow: Any = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(values, arrow.Array):
        return arrow.chunked_array([values])
    if arrow is not None and isinstance(values, arrow.RecordBatch):
        return arrow.Table.from_batches([values])
    return values
