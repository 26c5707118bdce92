"""What runs inside Spark's Python workers: batches of work in, batches of parts out. Executors need deniable installed."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from deniable.batch.engines.part import Part
from deniable.batch.engines.pieces import Folder, Piece
from deniable.batch.engines.source import Source
from deniable.batch.files.arrow import RowReader
from deniable.batch.files.intake import Intake
from deniable.batch.randomize import randomize_many
from deniable.core import Mechanism, Record, mechanism_from_recipe
from deniable.errors import DeniableError

PART = pa.schema([("part", pa.binary())])
"""What every task gives: one row with a part's bytes."""
Batches = Iterable[pa.RecordBatch]
Task = Callable[[Batches], Iterator[pa.RecordBatch]]


@lru_cache(maxsize=8)
def mechanism_of(recipe: str) -> Mechanism:
    """One worker serves many tasks: it builds a mechanism once."""
    return mechanism_from_recipe(json.loads(recipe), allow_large=True)


def recipe_text(mechanism: Mechanism) -> str:
    """What travels to the workers."""
    return json.dumps(mechanism.recipe())


@lru_cache(maxsize=1)
def settle() -> None:
    """Once per worker: what is loaded by now stays. Spark's worker looks through all of it for garbage after every task."""
    gc.collect()
    gc.freeze()


def folding_pieces(shares: list[str], recipe: str, column: str, base: int, strict: bool) -> Task:
    """Rows `id`, the number of a share of pieces (JSON): the worker opens the files itself."""

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        folder = Folder(Source(mechanism_of(recipe), (".",), column, base, strict))
        for batch in batches:
            for share in batch.column("id").to_pylist():
                for piece in json.loads(shares[share]):
                    folder.fold(Piece(**piece))
        yield _row(folder.part)

    return task


def folding_contents(recipe: str, column: str, base: int, strict: bool) -> Task:
    """Rows `path` and `content`: Spark reads the files, and the worker never needs to reach them."""

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        folder = Folder(Source(mechanism_of(recipe), (".",), column, base, strict))
        for batch in batches:
            contents = batch.column("content")
            for place, path in enumerate(batch.column("path").to_pylist()):
                folder.fold(Piece(path, path, 0), contents[place].as_buffer())
        yield _row(folder.part)

    return task


def folding_rows(recipe: str, column: str, base: int, strict: bool) -> Task:
    """Rows of reports, from any table that Spark can read. Tables have no files and no order, so rows are not named."""

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        part = Part.empty(mechanism_of(recipe))
        reader = RowReader(Intake(part.accumulator, strict, part.refused, part.notes), column)
        done = 0
        try:
            for batch in batches:
                reader.take(batch, "the table", done + 1, base)
                done += batch.num_rows
        except DeniableError as error:
            part.stop(error)
        yield _row(part)

    return task


def merging(recipe: str) -> Task:
    """Rows `part`: all of them become one."""

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        mechanism = mechanism_of(recipe)
        merged: Part | None = None
        for batch in batches:
            for data in batch.column("part").to_pylist():
                part = Part.from_bytes(mechanism, data)
                merged = part if merged is None else merged.merge(part)
        if merged is not None:
            yield _row(merged)

    return task


def randomizing(recipe: str, columns: list[str], wide: bool) -> Task:
    """Rows of values to rows of reports. Every batch draws from a keystream that the worker's own system keys anew."""

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        mechanism = mechanism_of(recipe)
        for batch in batches:
            if not batch.num_rows:
                continue
            single = len(columns) == 1 and not isinstance(mechanism.domain, Record)
            values: Any = batch.column(columns[0]) if single else pa.Table.from_batches([batch.select(columns)])
            reports = randomize_many(mechanism, values)
            yield report_batch(mechanism, reports.ints() if wide else _numbers(reports.outputs, reports), wide)

    return task


def report_batch(mechanism: Mechanism, outputs: Any, wide: bool) -> pa.RecordBatch:
    """Reports as the rows that every reader of ours takes: `recipe` and `output`."""
    listed = pa.array([format(output, "x") for output in outputs]) if wide else pa.array(outputs, pa.int64())
    recipes = pa.array([mechanism.fingerprint]).take(pa.array([0] * len(listed), pa.int32()))
    return pa.RecordBatch.from_arrays([recipes, listed], names=["recipe", "output"])


def _numbers(outputs: Any, reports: Any) -> Any:
    plain = not isinstance(outputs, tuple) and outputs.ndim == 1 and outputs.dtype != object
    return outputs.astype("int64") if plain else reports.ints()


def _row(part: Part) -> pa.RecordBatch:
    settle()
    return pa.RecordBatch.from_arrays([pa.array([part.to_bytes()], pa.binary())], schema=PART)
