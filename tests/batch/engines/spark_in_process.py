"""As much of Spark's interface as the engine uses, in this process: nothing is worked out before it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlparse

import pyarrow as pa
from pyarrow import parquet

Partition = Callable[[], list[pa.RecordBatch]]


class JobFailed(Exception):
    """What a driver sees of an error in a worker: its kind, its words and a stack, as one text."""


class Frame:
    """Columns in partitions that are worked out when they are collected or written."""

    def __init__(self, columns: Iterable[str], partitions: list[Partition], kinds: dict[str, str] | None = None) -> None:
        self.columns, self.partitions, self.kinds = list(columns), partitions, kinds or {}
        self.rdd = SimpleNamespace(getNumPartitions=lambda: len(partitions))
        self.write = SimpleNamespace(parquet=self._write)
        self.schema = {name: _typed(self.kinds.get(name, "long")) for name in self.columns}

    @classmethod
    def of(cls, table: pa.Table, parts: int = 1, kinds: dict[str, str] | None = None) -> Frame:
        """A table cut into partitions."""
        edges = [len(table) * place // parts for place in range(parts + 1)]
        cuts = [table.slice(begin, end - begin) for begin, end in pairwise(edges)]
        return cls(table.column_names, [cut.to_batches for cut in cuts], kinds)

    def select(self, *names: str) -> Frame:
        """Some of the columns."""
        return Frame(names, self._each(lambda batch: batch.select(names)), self.kinds)

    def repartition(self, parts: int) -> Frame:
        """The same rows in another number of partitions, dealt out in turn."""
        return Frame(self.columns, [partial(self._batches, first, parts) for first in range(parts)], self.kinds)

    def mapInArrow(self, task: Any, schema: str) -> Frame:
        """A task on every partition; its errors come as the driver would see them."""

        def run(part: Partition) -> list[pa.RecordBatch]:
            try:
                return list(task(part()))
            except Exception as error:
                raise JobFailed(f"a task failed\n  File 'worker.py'\ndeniable.errors.{type(error).__name__}: {error}\n") from None

        names = [field.split()[0] for field in schema.split(",")]
        return Frame(names, [partial(run, part) for part in self.partitions])

    def __getitem__(self, name: str) -> Any:
        return SimpleNamespace(cast=lambda kind: kind)

    def withColumn(self, name: str, kind: str) -> Frame:
        """A column in another type."""

        def cast(batch: pa.RecordBatch) -> pa.RecordBatch:
            place = batch.schema.get_field_index(name)
            return batch.set_column(place, name, batch.column(place).cast(pa.int64()))

        return Frame(self.columns, self._each(cast))

    def collect(self) -> list[dict[str, Any]]:
        """All rows."""
        return [row for batch in self._batches() for row in batch.to_pylist()]

    def _each(self, change: Callable[[pa.RecordBatch], pa.RecordBatch]) -> list[Partition]:
        def changed(part: Partition) -> list[pa.RecordBatch]:
            return [change(batch) for batch in part()]

        return [partial(changed, part) for part in self.partitions]

    def _batches(self, first: int = 0, step: int = 1) -> list[pa.RecordBatch]:
        return [batch for part in self.partitions for batch in part()][first::step]

    def _write(self, target: str) -> None:
        if Path(target).exists():
            raise JobFailed(f"[PATH_ALREADY_EXISTS] Path {target} already exists")
        written = [part() for part in self.partitions]
        Path(target).mkdir()
        for place, batches in enumerate(written):
            parquet.write_table(pa.Table.from_batches(batches), Path(target) / f"part-{place}.parquet")


def _typed(kind: str) -> Any:
    return SimpleNamespace(dataType=SimpleNamespace(typeName=lambda: kind))


class Session:
    """A session on two cores."""

    def __init__(self) -> None:
        self.settings = {"spark.sql.execution.arrow.maxRecordsPerBatch": "10000"}
        self.conf = SimpleNamespace(get=self.settings.__getitem__, set=self.settings.__setitem__)
        self.stages: list[Any] = []
        tracker = SimpleNamespace(getActiveStageIds=lambda: range(len(self.stages)), getStageInfo=lambda stage: self.stages[stage])
        self.sparkContext = SimpleNamespace(defaultParallelism=2, statusTracker=lambda: tracker)
        self.read = SimpleNamespace(format=lambda kind: self, parquet=lambda *paths: Frame.of(parquet.read_table(paths[0])))

    def range(self, start: int, end: int, step: int, parts: int) -> Frame:
        """Whole numbers in a column `id`."""
        return Frame.of(pa.table({"id": range(start, end, step)}), parts)

    def option(self, name: str, value: str) -> Session:
        """Options of a reader change nothing here."""
        return self

    def load(self, addresses: list[str]) -> Frame:
        """Whole files, one in every batch, as the format binaryFile has them."""
        paths = []
        for address in addresses:
            scheme, place = urlparse(address).scheme, Path(urlparse(address).path)
            if scheme not in ("file", "hdfs"):
                raise JobFailed(f"No FileSystem for scheme {scheme}\n\tat org.apache.spark")
            paths += [(scheme, path) for path in (sorted(place.rglob("*")) if place.is_dir() else [place])]
        rows = [{"path": f"{scheme}:{path}", "length": path.stat().st_size, "content": path.read_bytes()} for scheme, path in paths]
        return Frame(["path", "length", "content"], [pa.Table.from_pylist([row]).to_batches for row in rows])
