"""Parquet files row group by row group: what is damaged is left out by name, and a recipe that never changes is not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from deniable.batch.files.arrow import RECIPE

UNREADABLE_FILE = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What Arrow raises for files and pages that it cannot read."""
Missing = Callable[[str, int], None]
"""Told what is wrong with a file, and how many of its rows are missing."""


def parquet_file(source: Any, *, remote: bool = False) -> Any:
    """A Parquet file by path, or from anything that can be read and sought in. Pages with checksums are checked.

    Recipes come as a dictionary, which holds each of them once. Reads of a remote file are put together.
    """
    options: dict[str, Any] = {"page_checksum_verification": True, "pre_buffer": remote}
    try:
        file = parquet.ParquetFile(source, read_dictionary=[RECIPE], **options)
    except KeyError:  # there is no such column
        file = parquet.ParquetFile(source, **options)
    _ = file.schema_arrow.names  # raises where the names of columns are damaged
    return file


def row_batches(
    file: Any, groups: range, column: str, fingerprint: str, at_once: int, missing: Missing
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches of some row groups, each with the number of its first row; rows that cannot be read are told about."""
    metadata = file.metadata
    starts = [1]
    for group in range(metadata.num_row_groups):
        starts.append(starts[-1] + metadata.row_group(group).num_rows)
    lost = metadata.num_rows - starts[-1] + 1
    if lost and 0 in groups:  # a damaged directory, told once
        missing(f"is damaged: it has {metadata.num_rows:,} rows, and its row groups have {starts[-1] - 1:,}", max(lost, 0))
    for group in groups:
        rows, read = metadata.row_group(group).num_rows, 0
        columns = [column, *([] if _same_recipe(file, group, fingerprint) else [RECIPE])]
        try:
            for batch in file.iter_batches(batch_size=at_once, row_groups=[group], columns=columns, use_threads=False):
                yield starts[group] + read, batch
                read += batch.num_rows
        except UNREADABLE_FILE:
            pass
        if read != rows:  # also where a damaged page says that it is shorter
            missing(f"is damaged: {rows - read:,} rows of its row group {group + 1} cannot be read", rows - read)


def _same_recipe(file: Any, group: int, fingerprint: str) -> bool:
    """Is there no column of recipes, or does its directory say that all of them are this one? Then it need not be read."""
    if RECIPE not in file.schema_arrow.names:
        return True
    # Arrow ends the process over some damaged directories, where reading raises: so a row is read first, and types are compared.
    try:
        first = next(file.iter_batches(batch_size=1, row_groups=[group], columns=[RECIPE], use_threads=False), None)
        paths = [file.schema.column(place).path for place in range(len(file.schema))]
        if first is None or not first.num_rows or RECIPE not in paths or first.column(0)[0].as_py() != fingerprint:
            return False
        place = paths.index(RECIPE)
        column = file.metadata.row_group(group).column(place)
        if column.physical_type != file.schema.column(place).physical_type:
            return False
        statistics = column.statistics
        return bool(
            statistics is not None
            and statistics.has_min_max
            and statistics.null_count == 0
            and statistics.min == statistics.max == fingerprint
        )
    except UNREADABLE_FILE:
        return False  # whoever reads the rows will find it
