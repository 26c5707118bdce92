"""Sums and kept reports as Parquet files, written piece by piece."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from deniable._extras import required
from deniable.collector.kept import kept, permutation
from deniable.collector.store import Store
from deniable.surveys import Survey

ROW_GROUP = 100_000
"""Reports that are put into one random order and written as one row group, at least; fewer only when there are no more."""


def _arrow() -> tuple[Any, Any]:
    return required("pyarrow"), required("pyarrow.parquet")


def parquet_of_sums(store: Store, survey: Survey) -> Iterator[bytes]:
    """One row per window and shard: `period`, `shard`, `fingerprint`, `data` (`accumulator_from_bytes` reads it)."""
    arrow, _ = _arrow()
    rows = store.raw_sums(survey.hash)
    table = arrow.table(
        {
            "period": [row[0] for row in rows],
            "shard": arrow.array([row[1] for row in rows], arrow.int32()),
            "fingerprint": [survey.mechanism.fingerprint] * len(rows),
            "data": arrow.array([row[2] for row in rows], arrow.binary()),
        }
    )
    return _written(survey, table.schema, iter([table]))


def parquet_of_reports(store: Store, survey: Survey) -> Iterator[bytes]:
    """One row per report, in random order: `recipe` and `output`, as `deniable estimate` reads them, and `period`."""
    arrow, _ = _arrow()
    # Outputs of wide reports do not fit a number; `deniable estimate` reads text as hexadecimal digits.
    number = arrow.uint64() if survey.mechanism.channel.outputs <= 1 << 63 else arrow.string()
    schema = arrow.schema([("recipe", arrow.string()), ("output", number), ("period", arrow.string())])

    def tables() -> Iterator[Any]:
        for rows in _row_groups(store, survey):
            places = permutation(len(rows)).tolist()
            outputs = [rows[place][1] if number == arrow.uint64() else format(rows[place][1], "x") for place in places]
            columns = [[survey.mechanism.fingerprint] * len(rows), outputs, [rows[place][0] for place in places]]
            arrays = [arrow.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
            yield arrow.Table.from_arrays(arrays, schema=schema)

    return _written(survey, schema, tables())


def _row_groups(store: Store, survey: Survey) -> Iterator[list[tuple[str, int]]]:
    """Window and output of all kept reports, in groups of at least `ROW_GROUP`, or in one."""
    rows: list[tuple[str, int]] = []
    for period, reports in kept(store, survey):
        rows += [(period, output) for output in reports.ints()]
        # A group is given out when enough is left for one more.
        while len(rows) >= 2 * ROW_GROUP:
            yield rows[:ROW_GROUP]
            rows = rows[ROW_GROUP:]
    if rows:
        yield rows


class _Pipe(io.RawIOBase):
    """A file that is only ever written to, and read away from its other end."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """How much was written, taken or not."""
        return self._size

    def write(self, data: Any) -> int:
        """Keep a copy until it is taken."""
        self._parts.append(bytes(data))
        self._size += len(self._parts[-1])
        return len(self._parts[-1])

    def take(self) -> bytes:
        """What was written since the last time."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _written(survey: Survey, schema: Any, tables: Iterator[Any]) -> Iterator[bytes]:
    """The bytes of a file with the survey's own document in its metadata, and a checksum in every page."""
    _, parquet = _arrow()
    pipe = _Pipe()
    described = schema.with_metadata({b"deniable.survey": survey.to_json()})
    writer = parquet.ParquetWriter(pipe, described, write_page_checksum=True)
    for table in tables:
        writer.write_table(table.replace_schema_metadata(described.metadata), row_group_size=max(1, table.num_rows))
        yield pipe.take()
    writer.close()
    yield pipe.take()
