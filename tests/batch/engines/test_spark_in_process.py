"""The Spark engine without a cluster: what it asks of Spark, and what it makes of the answers. test_spark.py has the cluster."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from deniable.batch import Local, Source, Spark, accumulator_for
from deniable.batch.engines import spark, spark_session
from deniable.core import Categories, Mechanism, Record, make_mechanism
from deniable.errors import DeniableError, InvalidParameter, Malformed, MissingPackage, OutOfDomain, WrongRecipe

from .parquet_files import K_RR, OUE, damage, reports_of, table_of, write_parts
from .spark_in_process import Frame, JobFailed, Session

COUNT = 2_000


@pytest.fixture(autouse=True)
def running(monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session in this process, wherever the engine asks for one. Garbage is looked for as ever: this is no worker."""
    running = Session()

    @contextmanager
    def session(*_: object, **__: object) -> Iterator[Session]:
        yield running

    monkeypatch.setattr(spark, "session", session)
    monkeypatch.setattr("deniable.batch.engines.spark_tasks.settle", lambda: None)
    return running


@pytest.fixture(params=["workers", "spark"])
def engine(request: pytest.FixtureRequest) -> Spark:
    """Files opened by the workers, and files handed over by Spark."""
    return Spark(reads=request.param)


def source(mechanism: Mechanism, *paths: Path, **options: Any) -> Source:
    return Source(mechanism, tuple(map(str, paths)), **options)


@pytest.mark.parametrize("mechanism", [K_RR, OUE], ids=["k-rr", "oue"])
def test_the_sums_are_those_of_the_reports(tmp_path: Path, engine: Spark, running: Session, mechanism: Mechanism) -> None:
    reports, before = reports_of(mechanism, COUNT), dict(running.settings)
    write_parts(tmp_path, reports, 3)
    assert engine.fold(source(mechanism, tmp_path)).to_bytes() == accumulator_for(mechanism).add(reports).to_bytes()
    assert running.settings == before


def test_small_remote_files_travel_whole_and_large_ones_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reports_of(K_RR, COUNT)
    paths = write_parts(tmp_path, reports, 3)
    sizes = sorted(path.stat().st_size for path in paths)
    monkeypatch.setattr(spark, "WHOLE", sizes[1])
    opened: list[str] = []

    def folding(shares: list[str], *_: object) -> Any:
        opened.extend(shares)
        return lambda batches: iter(())

    monkeypatch.setattr(spark, "folding_pieces", folding)
    folded = Spark().read(Source(K_RR, (f"hdfs://{tmp_path}",)))
    assert folded.files == 3
    assert folded.accumulator.n < COUNT
    assert "part-2.parquet" in "".join(opened)
    assert "part-0.parquet" not in "".join(opened)


def test_a_tree_of_merges_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reports_of(K_RR, COUNT)
    write_parts(tmp_path, reports, 9)
    monkeypatch.setattr(spark, "FAN_IN", 2)
    monkeypatch.setattr(spark, "TASK_BYTES", 1)
    told: list[int] = []
    folded = Spark().read(source(K_RR, tmp_path), told.append)
    assert folded.accumulator.to_bytes() == accumulator_for(K_RR).add(reports).to_bytes()
    assert sum(told) == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_progress_is_the_share_of_completed_tasks(running: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "_POLL", 0.001)
    running.stages = [SimpleNamespace(numCompletedTasks=1, numTasks=4), SimpleNamespace(numCompletedTasks=0, numTasks=0), None]
    told: list[int] = []
    half_way = threading.Event()

    def tell(done: int) -> None:
        told.append(done)
        half_way.set()

    with spark._watched(running, 1000, tell):
        assert half_way.wait(300)
    assert told == [250, 750]


def test_broken_files_are_named_as_by_the_local_engine(tmp_path: Path) -> None:
    paths = write_parts(tmp_path, reports_of(K_RR, 20_000), 3)
    damage(paths[2], 1)
    paths[1].write_bytes(paths[1].read_bytes()[:-9])
    local, folded = Local().read(source(K_RR, tmp_path)), Spark().read(source(K_RR, tmp_path))
    assert folded.accumulator.to_bytes() == local.accumulator.to_bytes()
    assert (folded.files, folded.broken, folded.summary()) == (local.files, local.broken, local.summary())
    with pytest.raises(Malformed, match=r"part-[12]\.parquet"):
        Spark().fold(source(K_RR, tmp_path))


def test_strange_recipes_and_strange_places_are_refused_by_name(tmp_path: Path, engine: Spark) -> None:
    write_parts(tmp_path, reports_of(K_RR, 100), 1)
    other = make_mechanism("k-rr", domain=Categories(100), epsilon=2)
    parquet.write_table(table_of(reports_of(other, 100)), tmp_path / "strange.parquet")
    with pytest.raises(WrongRecipe, match=r"strange\.parquet, row 1"):
        engine.read(source(K_RR, tmp_path))
    with pytest.raises(InvalidParameter, match="Spark cannot list nowhere://bucket/reports: No FileSystem for scheme nowhere"):
        engine.read(Source(K_RR, ("nowhere://bucket/reports",)))
    with pytest.raises(InvalidParameter, match="reads must be one of"):
        Spark(reads="often")


@pytest.mark.parametrize("kind", ["long", "decimal"])
def test_any_table_can_be_folded(kind: str) -> None:
    reports = reports_of(K_RR, COUNT)
    table = table_of(reports)
    if kind == "decimal":
        table = table.set_column(0, "output", table.column("output").cast(pa.decimal128(20, 0)))
    frame = Frame.of(table, 3, {"output": kind})
    assert Spark().read_table(K_RR, frame).accumulator == accumulator_for(K_RR).add(reports)
    with pytest.raises(InvalidParameter, match="no column"):
        Spark().read_table(K_RR, frame.select("recipe"))
    strange = Frame.of(table_of(reports_of(make_mechanism("k-rr", domain=Categories(100), epsilon=2), 10)))
    with pytest.raises(WrongRecipe):
        Spark().read_table(K_RR, strange)


def test_a_job_that_fails_is_told_in_the_line_below_its_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Any:
        def task(batches: Any) -> Iterator[pa.RecordBatch]:
            raise OSError("the disk is full")
            yield

        return task

    monkeypatch.setattr(spark, "folding_rows", broken)
    with pytest.raises(DeniableError, match=r"the Spark job failed: deniable\.errors\.OSError: the disk is full$"):
        Spark().read_table(K_RR, Frame.of(table_of(reports_of(K_RR, 10))))


def test_reports_are_drawn_for_every_row(tmp_path: Path) -> None:
    frame = Frame.of(pa.table({"value": np.arange(COUNT) % 100}), 3)
    Spark().randomize(K_RR, frame, str(tmp_path / "out"))
    assert Local().fold(source(K_RR, tmp_path / "out")).n == COUNT
    Spark().randomize(OUE, frame, str(tmp_path / "wide"))
    assert Local().fold(source(OUE, tmp_path / "wide")).n == COUNT
    record = make_mechanism("product", domain=Record({"x": Categories(3), "y": Categories(4)}), epsilon=2)
    parquet.write_table(pa.table({"x": np.arange(300) % 3, "y": np.arange(300) % 4}), tmp_path / "values.parquet")
    Spark().randomize(record, str(tmp_path / "values.parquet"), str(tmp_path / "records"), columns=("x", "y"))
    assert Local().fold(source(record, tmp_path / "records")).n == 300


def test_what_goes_wrong_in_drawing_tells_no_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = Frame.of(pa.table({"value": [4711]}))
    with pytest.raises(OutOfDomain, match="it is not shown because it is private") as outside:
        Spark().randomize(K_RR, frame, str(tmp_path / "out"))
    assert "4711" not in str(outside.value)
    with pytest.raises(InvalidParameter, match="exists already"):
        Spark().randomize(K_RR, Frame.of(pa.table({"value": [1]})), str(tmp_path))
    with pytest.raises(InvalidParameter, match="no column 'age'"):
        Spark().randomize(K_RR, frame, str(tmp_path / "out"), columns=("age",))
    monkeypatch.setattr(Frame, "_write", lambda *_: (_ for _ in ()).throw(JobFailed("lost executor 4711")))
    with pytest.raises(DeniableError, match=r"failed \(JobFailed\); nothing was written that counts") as lost:
        Spark().randomize(K_RR, frame, str(tmp_path / "out"))
    assert "4711" not in str(lost.value)


class Builder:
    """Remembers what a session is built with."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}
        self.stopped = 0
        self.error: Exception | None = None

    def master(self, address: str) -> Builder:
        self.options["master"] = address
        return self

    def appName(self, name: str) -> Builder:
        return self

    def config(self, key: str, value: str) -> Builder:
        self.options[key] = value
        return self

    def stop(self) -> None:
        self.stopped += 1

    def getOrCreate(self) -> Builder:
        if self.error is not None:
            raise self.error
        return self


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    """A package `pyspark` without Java, and no session running."""
    package, sql, builder = ModuleType("pyspark"), ModuleType("pyspark.sql"), Builder()
    package.__file__ = "/opt/pyspark/__init__.py"
    package.SparkContext = SimpleNamespace(_active_spark_context=None)  # type: ignore[attr-defined]
    sql.SparkSession = SimpleNamespace(builder=builder)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyspark", package)
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("PYSPARK_PYTHON", "python-of-the-cluster")
    return builder


def test_a_session_of_our_own_ends_with_the_work(builder: Builder) -> None:
    with spark_session.session(None, {"spark.ui.enabled": "true"}):
        assert builder.options["master"] == "local[*]"
        assert builder.options["spark.ui.enabled"] == "true"
        assert builder.stopped == 0
    assert builder.stopped == 1
    with pytest.raises(ZeroDivisionError), spark_session.session(None, {}):
        _ = 1 // 0
    assert builder.stopped == 2


def test_a_running_session_is_used_and_left_running(builder: Builder) -> None:
    sys.modules["pyspark"].SparkContext._active_spark_context = SimpleNamespace(master="spark://head:7077")
    for master in (None, "spark://head:7077"):
        with spark_session.session(master, {}) as running:
            assert running is builder
    assert builder.stopped == 0
    with pytest.raises(InvalidParameter, match=r"a session on spark://head:7077 is running"), spark_session.session("local[1]", {}):
        pass


def test_a_session_that_does_not_start_is_told_in_one_line(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    builder.error = RuntimeError("Java gateway process exited\n\tat org.apache.spark")
    with pytest.raises(DeniableError, match=r"Spark did not start on local-cluster\[2,1,1024\]: Java gateway process exited\. "):
        spark_session.started("local-cluster[2,1,1024]")
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingPackage, match=r"pip install 'deniable\[spark\]'"):
        spark_session.pyspark_sql()
