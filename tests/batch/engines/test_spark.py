"""The Spark engine on a real cluster of two executor processes: the bytes of the local engine, also when one of them dies."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from deniable.batch import Folded, Local, Source, Spark, accumulator_for, started
from deniable.batch.engines import spark
from deniable.cli.app import main
from deniable.cli.recipes import write_recipe
from deniable.core import Categories, Mechanism, Record, make_mechanism
from deniable.errors import InvalidParameter, Malformed, OutOfDomain, WrongRecipe
from deniable.estimators import shares

from .parquet_files import K_RR, MECHANISMS, OUE, damage, reports_of, table_of, write_parts

pytestmark = pytest.mark.heavy
MASTER = "local-cluster[2,1,1024]"
COUNT = 20_000
SURE = 5.33
"""Standard errors that a normal estimate exceeds with probability below 1e-7."""


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """One cluster for all tests: it takes tens of seconds to start."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'deniable[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine; Spark needs Java 17 or later")
    made = started(MASTER, {"spark.task.maxFailures": "4", "spark.python.worker.faulthandler.enabled": "true"})
    yield made
    made.stop()


@pytest.fixture(params=["workers", "spark"])
def engine(request: pytest.FixtureRequest, session: Any) -> Spark:
    """Files opened by the workers, and files handed over by Spark."""
    return Spark(reads=request.param)


def source(mechanism: Mechanism, *paths: Path, **options: Any) -> Source:
    return Source(mechanism, tuple(map(str, paths)), **options)


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_a_cluster_gives_the_same_bytes(tmp_path: Path, engine: Spark, mechanism: Mechanism) -> None:
    reports = reports_of(mechanism, COUNT)
    write_parts(tmp_path, reports, 7)
    wanted = accumulator_for(mechanism).add(reports).to_bytes()
    assert engine.fold(source(mechanism, tmp_path)).to_bytes() == wanted
    assert Local().fold(source(mechanism, tmp_path)).to_bytes() == wanted


def test_a_tree_of_merges_gives_the_same_bytes(tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reports_of(K_RR, COUNT)
    write_parts(tmp_path, reports, 30)
    monkeypatch.setattr(spark, "FAN_IN", 2)
    monkeypatch.setattr(spark, "TASK_BYTES", 1)  # a partition for every file, and five levels of merging
    told: list[int] = []
    intake = Spark().read(source(K_RR, tmp_path), told.append)
    assert intake.accumulator.to_bytes() == accumulator_for(K_RR).add(reports).to_bytes()
    assert sum(told) == sum(path.stat().st_size for path in tmp_path.iterdir())


def executors() -> dict[int, Path]:
    """The executor processes of this process's cluster."""
    parents, found = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes():
                    found[int(entry.name)] = entry
            except OSError:
                continue

    def mine(process: int) -> bool:
        while process > 1:
            if process == os.getpid():
                return True
            process = parents.get(process, 0)
        return False

    return {process: entry for process, entry in found.items() if mine(process)}


def test_an_executor_that_is_killed_changes_nothing(tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = make_mechanism("olh", domain=Categories(2000), epsilon=1)  # seconds of work
    reports = reports_of(mechanism, 400_000)
    write_parts(tmp_path, reports, 12, row_group=100_000)
    monkeypatch.setattr(spark, "TASK_BYTES", 1)
    before = set(executors())
    assert len(before) == 2
    answer: list[Folded] = []
    work = threading.Thread(target=lambda: answer.append(Spark().read(source(mechanism, tmp_path))))
    work.start()
    tracker = session.sparkContext.statusTracker()
    deadline = time.monotonic() + 300
    done = 0
    while done < 1 and time.monotonic() < deadline:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        done = max((stage.numCompletedTasks for stage in stages if stage), default=0)
        time.sleep(0.02)
    victim = min(before)
    assert work.is_alive(), "the job was over before an executor could be killed"
    os.kill(victim, signal.SIGKILL)
    work.join(400)
    assert answer, "the job did not survive"
    assert victim not in executors()
    assert answer[0].accumulator.to_bytes() == accumulator_for(mechanism).add(reports).to_bytes()
    assert session.range(3).count() == 3, "a session that somebody else started was stopped"


def test_broken_files_are_named_and_counted_as_by_the_local_engine(tmp_path: Path, session: Any) -> None:
    paths = write_parts(tmp_path, reports_of(K_RR, COUNT), 3)
    damage(paths[2], 1)
    paths[1].write_bytes(paths[1].read_bytes()[:-9])
    local, found = Local().read(source(K_RR, tmp_path)), Spark().read(source(K_RR, tmp_path))
    assert found.accumulator.to_bytes() == local.accumulator.to_bytes()
    assert found.summary() == local.summary()
    assert (found.files, found.broken) == (local.files, local.broken)
    assert set(found.broken) == {"part-1.parquet", "part-2.parquet"}
    with pytest.raises(Malformed, match=r"part-[12]\.parquet"):
        Spark().fold(source(K_RR, tmp_path))


def test_strange_recipes_and_strange_places_are_refused_by_name(tmp_path: Path, engine: Spark) -> None:
    write_parts(tmp_path / "a", reports_of(K_RR, 1000), 2)
    other = make_mechanism("k-rr", domain=Categories(100), epsilon=2)
    parquet.write_table(table_of(reports_of(other, 1000)), tmp_path / "a" / "strange.parquet")
    with pytest.raises(WrongRecipe, match=r"strange\.parquet, row 1"):
        engine.read(source(K_RR, tmp_path / "a"))
    with pytest.raises(InvalidParameter, match="Spark cannot list nowhere://"):
        engine.read(Source(K_RR, ("nowhere://bucket/reports",)))


@pytest.mark.parametrize("mechanism", [K_RR, OUE], ids=["k-rr", "oue"])
def test_any_table_of_spark_can_be_folded(tmp_path: Path, session: Any, mechanism: Mechanism) -> None:
    reports = reports_of(mechanism, COUNT)
    parquet.write_table(table_of(reports), tmp_path / "a.parquet")
    table = session.read.parquet(str(tmp_path / "a.parquet"))
    assert Spark().read_table(mechanism, table.repartition(5)).accumulator == accumulator_for(mechanism).add(reports)
    with pytest.raises(InvalidParameter, match="no column"):
        Spark().read_table(mechanism, table.select("recipe"))


def test_drawing_on_a_cluster_follows_the_law(tmp_path: Path, session: Any) -> None:
    values = session.range(0, 50_000, 1, 4).selectExpr("id % 4 as value")
    mechanism = make_mechanism("k-rr", domain=Categories(4), epsilon=2)
    Spark().randomize(mechanism, values, str(tmp_path / "out"))
    sums = Spark().fold(source(mechanism, tmp_path / "out"))
    estimate = shares(sums)
    # These coins are the system's: four claims, a false alarm in fewer than one of 10**6 runs.
    assert sums.n == 50_000
    assert np.abs(estimate.value - 0.25).max() < SURE * np.max(estimate.standard_error)
    # Partitions that shared their coins would give the same reports for the same values, in the same order.
    parts = [parquet.read_table(path).column("output").to_pylist() for path in sorted((tmp_path / "out").glob("*.parquet"))]
    assert len(parts) == 4
    assert len({tuple(part[:1000]) for part in parts}) == 4
    with pytest.raises(InvalidParameter, match="exists already"):
        Spark().randomize(mechanism, values, str(tmp_path / "out"))
    with pytest.raises(OutOfDomain, match="it is not shown because it is private"):
        Spark().randomize(mechanism, session.range(0, 10).selectExpr("id as value"), str(tmp_path / "other"))


def test_records_and_wide_reports_are_drawn_too(tmp_path: Path, session: Any) -> None:
    record = make_mechanism("product", domain=Record({"x": Categories(3), "y": Categories(4)}), epsilon=2)
    values = tmp_path / "values.parquet"
    parquet.write_table(pa.table({"x": np.arange(3000) % 3, "y": np.arange(3000) % 4}), values)
    Spark().randomize(record, str(values), str(tmp_path / "records"), columns=("x", "y"))
    assert Local().fold(source(record, tmp_path / "records")).n == 3000
    Spark().randomize(OUE, str(values), str(tmp_path / "wide"), columns=("x",))
    assert Local().fold(source(OUE, tmp_path / "wide")).n == 3000


def test_the_command_gives_the_same_answer(tmp_path: Path, session: Any) -> None:
    write_parts(tmp_path / "reports", reports_of(K_RR, COUNT), 3)
    write_recipe(K_RR, tmp_path / "reports.recipe.json")
    plain = CliRunner().invoke(main, ["estimate", str(tmp_path / "reports"), "--engine", "local"])
    result = CliRunner().invoke(main, ["estimate", str(tmp_path / "reports"), "--engine", "spark", "--master", MASTER])
    assert (result.exit_code, result.stdout) == (0, plain.stdout)
    other = CliRunner().invoke(main, ["estimate", str(tmp_path / "reports"), "--engine", "spark", "--master", "local[1]"])
    assert other.exit_code == 2
    assert "is running" in other.stderr
