"""Reports as columns of tables: Parquet and Arrow files, and frames of pandas, polars and Arrow, through narwhals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from deniable._extras import required
from deniable.batch.files.intake import OTHER_RECIPE, UNREADABLE, Intake
from deniable.batch.files.rows import ROWS, Progress, Waiting, column_place
from deniable.errors import InvalidParameter, Malformed


def read_frame(native: Any, name: str, intake: Intake, column: str, base: int) -> None:
    """A frame in memory; its first row is row 1."""
    frame = nw.from_native(native, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise InvalidParameter(f"{name} is lazy: collect it first, frame.collect()")
    if not isinstance(frame, nw.DataFrame):
        raise InvalidParameter(
            "reports are read from paths or from frames of pandas, polars or Arrow, not from " + type(native).__name__
        )
    column_place(frame.columns, column, name)
    for start in range(0, len(frame), ROWS):
        _take(frame[start : start + ROWS], column, 1 + start, intake, name, base)


def read_parquet(path: str, name: str, intake: Intake, progress: Progress, column: str, base: int) -> None:
    """A Parquet file, row group by row group."""
    _pyarrow()
    from deniable.batch.files.arrow import RowReader, reads
    from deniable.batch.files.parquet import UNREADABLE_FILE, parquet_file, row_batches

    try:
        file = parquet_file(path)
    except UNREADABLE_FILE:
        intake.note(name, "ends early: a Parquet file without its end cannot be read at all")
        return
    with file:
        names = file.schema_arrow.names
        simple = reads(file.schema_arrow.field(column_place(names, column, name)).type)
        reader = RowReader(intake, column, mixed=True)
        groups = range(file.metadata.num_row_groups)
        size, rows = os.stat(path).st_size, max(1, file.metadata.num_rows)
        for first, batch in row_batches(
            file, groups, column, intake.mechanism.fingerprint, reader.at_once, lambda what, count: intake.note(name, what)
        ):
            if simple:
                reader.take(batch, name, first, base)
            else:
                _take(_frame(batch), column, first, intake, name, base)
            progress((first - 1 + batch.num_rows) * size // rows - (first - 1) * size // rows)


def read_arrow(file: BinaryIO, name: str, intake: Intake, progress: Progress, column: str, base: int) -> None:
    """An Arrow file or stream, batch by batch. A file is a stream between marks, so one that was cut off still gives its start."""
    arrow = _pyarrow()
    from pyarrow import ipc

    from deniable.batch.files.arrow import RowReader, reads

    if file.read(8)[:6] != b"ARROW1":
        file.seek(0)
    try:
        stream = ipc.open_stream(file)
    except (arrow.ArrowInvalid, OSError):
        intake.note(name, "is not an Arrow file, or is cut off at its start")
        return
    simple = reads(stream.schema.field(column_place(stream.schema.names, column, name)).type)
    reader = RowReader(intake, column, mixed=True)
    rows = 1
    for batch in _until_broken(stream, name, intake):
        for start in range(0, batch.num_rows, reader.at_once):
            piece = batch.slice(start, reader.at_once)
            if simple:
                reader.take(piece, name, rows + start, base)
            else:
                _take(_frame(piece), column, rows + start, intake, name, base)
        rows += batch.num_rows
        progress(batch.nbytes)


def _until_broken(batches: Iterable[Any], name: str, intake: Intake) -> Iterator[Any]:
    """Batches until there are none, or until one cannot be read."""
    arrow = _pyarrow()
    left, count = iter(batches), 0
    while True:
        try:
            batch = next(left)
        except StopIteration:
            return
        except (arrow.ArrowException, OSError):
            intake.note(name, f"ends early: it cannot be read after its batch {count}")
            return
        count += 1
        yield batch


def _frame(batch: Any) -> nw.DataFrame[Any]:
    return nw.from_native(_pyarrow().Table.from_batches([batch]), eager_only=True)


def _take(frame: nw.DataFrame[Any], column: str, first: int, intake: Intake, name: str, base: int) -> None:
    """A few rows; `first` is the number of the first one."""
    values = frame[column]
    filled: NDArray[np.bool_] = ~values.is_null().to_numpy().astype(np.bool_)
    same = np.ones(len(frame), np.bool_)
    if "recipe" in frame.columns:
        same = np.array([recipe == intake.mechanism.fingerprint for recipe in frame["recipe"].to_list()], np.bool_)
    for good, reason in ((same, OTHER_RECIPE), (filled | ~same, UNREADABLE)):
        if not good.all():
            bad = int(np.argmin(good))
            if intake.strict and bad:
                _take(frame[:bad], column, first, intake, name, base)
            intake.refuse(reason, name, f"row {first + bad}", int((~good).sum()))
    numbers = np.flatnonzero(filled & same) + first
    kept = values if len(numbers) == len(frame) else values.filter((filled & same).tolist())
    if kept.dtype.is_integer():
        whole = np.asarray(kept.to_numpy())
        simple = intake.takes_numbers and (not len(whole) or whole.min() >= 0)
        intake.take(whole.astype(np.uint64) if simple else whole.tolist(), name, lambda i: f"row {numbers[i]}")
        return
    # Text, or what may hold any kind of value: what it holds decides.
    listed: list[Any] = kept.to_list() if kept.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) else [None]
    if all(type(value) is int for value in listed):
        intake.take(listed, name, lambda i: f"row {numbers[i]}")
    elif all(isinstance(value, str) for value in listed):
        waiting = Waiting(intake, name, "row", base)
        for text, number in zip(listed, numbers.tolist(), strict=True):
            waiting.add(text, number)
        waiting.flush()
    else:
        raise Malformed(f"{name}: the column {column[:60]!r} must hold whole numbers or text, it holds {kept.dtype}")


def _pyarrow() -> Any:
    return required("pyarrow")
