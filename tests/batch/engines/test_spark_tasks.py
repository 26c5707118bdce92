"""What the Spark engine hands out and what its workers do, without a cluster."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from deniable.batch import Part, Source, accumulator_for
from deniable.batch.engines import pieces, spark, spark_tasks
from deniable.batch.engines.pieces import Piece, pieces_of
from deniable.batch.engines.spark_session import LIGHT, usual_options

from .parquet_files import K_RR, reports_of, write_parts

MB = 1 << 20


def cluster(cores: int) -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=cores))


@pytest.mark.parametrize(
    ("sizes", "cores", "tasks"),
    [
        ([MB] * 20, 2, 2),  # little work: one task for every core
        ([5 * MB] * 18, 2, 4),  # every core the same number of tasks
        ([50 * MB] * 20, 2, 8),
        ([100 * MB] * 100, 2, 79),  # no task much larger than 128 MB
        ([MB] * 3, 8, 3),  # never more tasks than pieces
    ],
)
def test_work_is_dealt_out_in_even_and_not_too_small_tasks(sizes: list[int], cores: int, tasks: int) -> None:
    found = spark._shares(cluster(cores), [Piece(str(place), "a", size) for place, size in enumerate(sizes)])
    assert len(found) == tasks


@pytest.fixture
def thawed() -> Iterator[None]:
    """As a worker that did nothing yet, and this process as it was."""
    spark_tasks.settle.cache_clear()
    yield
    gc.unfreeze()
    spark_tasks.settle.cache_clear()


@pytest.mark.usefixtures("thawed")
def test_a_workers_tasks_give_the_sums_and_leave_nothing_to_look_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reports_of(K_RR, 20_000)
    write_parts(tmp_path, reports, 5)
    monkeypatch.setattr(pieces, "LARGE", 10_000)
    shares = spark._shares(cluster(2), pieces_of(Source(K_RR, (str(tmp_path),))))
    task = spark_tasks.folding_pieces(shares, spark_tasks.recipe_text(K_RR), "output", 16, True)
    # Spark's worker looks for garbage after every task: in all that was loaded, if nothing says that it stays.
    looked_through = []
    parts = []
    for share in range(len(shares)):
        [row] = task([pa.RecordBatch.from_pydict({"id": [share]})])
        parts.append(row)
        gc.collect()
        looked_through.append(len(gc.get_objects()))
    assert max(looked_through) < gc.get_freeze_count() / 10
    [merged] = spark_tasks.merging(spark_tasks.recipe_text(K_RR))(parts)
    part = Part.from_bytes(K_RR, merged.column("part")[0].as_py())
    assert part.accumulator.to_bytes() == accumulator_for(K_RR).add(reports).to_bytes()


def test_java_is_light_only_where_nobody_else_set_it_up() -> None:
    assert usual_options("local-cluster[2,1,1024]", light=True)["spark.executor.extraJavaOptions"] == LIGHT
    assert usual_options("local[*]", light=True)["spark.driver.extraJavaOptions"] == LIGHT
    assert not any("Java" in key for key in usual_options("spark://head.internal:7077", light=True))
    assert not any("Java" in key for key in usual_options("local[*]", light=False))
