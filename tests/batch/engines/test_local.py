"""The local engine: the sums of memory, bit for bit; broken files named and counted; nothing counted twice."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from deniable.batch import Folded, Local, Reports, Source, accumulator_for, engine_by_name, read_reports
from deniable.batch.engines import local, pieces
from deniable.core import Categories, Mechanism, TwoLevel, make_mechanism, mechanism_class, names
from deniable.errors import DeniableError, InvalidParameter, Malformed, WrongRecipe
from deniable.privacy.conformance.values import few_values

from .parquet_files import K_RR, MECHANISMS, OUE, damage, reports_of, table_of, write_parts

every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
COUNT = 20_000


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files, too, go to processes and come in several pieces."""
    monkeypatch.setattr(local, "WORTH_PROCESSES", -1.0)
    monkeypatch.setattr(pieces, "LARGE", 10_000)


def read(mechanism: Mechanism, *paths: Path, **options: Any) -> Folded:
    return Local().read(Source(mechanism, tuple(map(str, paths)), **options))


@every_mechanism
def test_files_give_the_sums_of_memory(tmp_path: Path, mechanism: Mechanism) -> None:
    reports = reports_of(mechanism, COUNT)
    write_parts(tmp_path, reports, 3)
    folded = Local(processes=1).fold(Source(mechanism, (str(tmp_path),)))
    assert folded == accumulator_for(mechanism).add(reports)
    assert folded.to_bytes() == accumulator_for(mechanism).add(reports).to_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("in_processes")
def test_processes_give_the_same_bytes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reports = reports_of(OUE, COUNT)
    write_parts(tmp_path, reports, 3)
    source = Source(OUE, (str(tmp_path / "*.parquet"),))
    assert len(pieces.pieces_of(source)) > 3
    told: list[int] = []
    intake = Local(processes=2).read(source, told.append)
    assert intake.accumulator.to_bytes() == accumulator_for(OUE).add(reports).to_bytes()
    assert len(told) == len(pieces.pieces_of(source))
    sizes = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert sizes - len(told) <= sum(told) <= sizes
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", names())
def test_every_mechanism_with_sums_can_be_folded(tmp_path: Path, name: str) -> None:
    mechanism = next(iter(mechanism_class(name).examples()))
    if name == "pem":
        with pytest.raises(InvalidParameter, match="without --engine"):
            read(mechanism, tmp_path)
        return
    reports = [mechanism.randomize(value) for value in few_values(mechanism.domain) for _ in range(5)]
    wide = mechanism.channel.outputs > 1 << 63
    outputs = [format(report.output, "x") if wide else report.output for report in reports]
    parquet.write_table(pa.table({"output": pa.array(outputs, pa.string() if wide else pa.uint64())}), tmp_path / "a.parquet")
    assert read(mechanism, tmp_path).accumulator == accumulator_for(mechanism).add(reports)


@pytest.mark.parametrize("kind", ["uint8", "int16", "int64", "uint64", "dictionary", "text", "TEXT", "decimal text"])
def test_outputs_may_be_any_whole_numbers_or_text(tmp_path: Path, kind: str) -> None:
    reports = reports_of(K_RR, 1000)
    whole = reports.ints()
    column = {
        "dictionary": lambda: pa.array([format(output, "x") for output in whole]).dictionary_encode(),
        "text": lambda: pa.array([format(output, "x") for output in whole]),
        "TEXT": lambda: pa.array([f" {output:X}" for output in whole]),
        "decimal text": lambda: pa.array([str(output) for output in whole]),
    }.get(kind, lambda: pa.array(whole, getattr(pa, kind)()))()
    parquet.write_table(pa.table({"answer": column, "other": whole}), tmp_path / "a.parquet")
    base = 10 if kind == "decimal text" else 16
    found = read(K_RR, tmp_path / "a.parquet", column="answer", base=base, strict=True)
    assert found.accumulator == accumulator_for(K_RR).add(reports)


def bad_tables() -> Iterator[tuple[Mechanism, list[Any], pa.DataType]]:
    yield K_RR, [1, 100, 7, None, 99, -1, 1 << 40], pa.int64()
    yield K_RR, ["1", "64", "", None, "63", "x", "f" * 300], pa.string()
    yield OUE, ["1", "f" * 25, "1" + "0" * 25, "", None, "zz", "F"], pa.string()
    # All of these are digits, so that no slower look at the whole batch hides a missing check.
    yield K_RR, ["1", "64", "63", "f" * 16], pa.string()
    yield OUE, ["1", "f" * 25, "1" + "0" * 25], pa.string()
    yield make_mechanism("oue", domain=Categories(20), epsilon=1), [0, 1 << 20, (1 << 20) - 1, None], pa.uint64()
    yield make_mechanism("subset", domain=Categories(8), epsilon=1), [0, 1, 3, 255, 256, 4], pa.uint64()
    yield make_mechanism("olh", domain=Categories(8), epsilon=1), [0, 1, 1 << 60], pa.uint64()


@pytest.mark.parametrize(("mechanism", "outputs", "kind"), list(bad_tables()))
def test_bad_records_are_counted_as_without_an_engine(
    tmp_path: Path, mechanism: Mechanism, outputs: list[Any], kind: pa.DataType
) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"output": pa.array(outputs, kind)}), path)
    plain, found = read_reports(mechanism, [path]), read(mechanism, path)
    assert (found.accumulator, found.refused) == (plain.accumulator, plain.refused)
    assert found.refused.total() > 0
    assert found.summary() == plain.summary()


def test_outputs_that_no_value_gives_are_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TwoLevel, "possible", lambda channel, output: output not in (7, 99))
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"output": np.arange(1000, dtype=np.int32) % 100}), path, row_group_size=150)
    found = read(K_RR, path)
    assert (found.n, found.refused) == (980, {"out of range": 20})
    assert found.accumulator.sums.tolist() == [0 if output in (7, 99) else 10 for output in range(100)]
    with pytest.raises(Malformed, match=r"a\.parquet, row 8: the record is out of range"):
        read(K_RR, path, strict=True)


def test_strict_reading_names_file_and_row(tmp_path: Path) -> None:
    outputs = np.zeros(30_000, np.int64)
    outputs[20_123] = 100
    parquet.write_table(pa.table({"output": outputs}), tmp_path / "a.parquet", row_group_size=7_000)
    with pytest.raises(Malformed, match=r"a\.parquet, row 20124: the record is out of range"):
        read(K_RR, tmp_path / "a.parquet", strict=True)
    with pytest.raises(Malformed, match="row 20124"):
        Local().fold(Source(K_RR, (str(tmp_path),)))


def test_a_file_without_its_end_is_named_and_counted(tmp_path: Path) -> None:
    reports = reports_of(K_RR, COUNT)
    paths = write_parts(tmp_path, reports, 3)
    whole = sum(parquet.read_metadata(path).num_rows for path in paths[:2])
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    found = read(K_RR, tmp_path)
    assert (found.n, found.files, found.broken) == (whole, 3, {"part-2.parquet": 0})
    assert found.accumulator == accumulator_for(K_RR).add(Reports(K_RR, reports.outputs[:whole]))
    assert any("part-2.parquet cannot be read" in sentence for sentence in found.summary())
    assert "1 of 3 files could not be read to the end; how many reports they held is unknown" in found.summary()
    with pytest.raises(Malformed, match=r"part-2\.parquet cannot be read"):
        read(K_RR, tmp_path, strict=True)


def test_a_damaged_row_group_costs_only_its_own_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LARGE", 10_000)
    reports = reports_of(K_RR, COUNT)
    [path] = write_parts(tmp_path, reports, 1)
    damage(path, 2)
    found = read(K_RR, path)
    assert (found.n, found.broken) == (COUNT - 5_000, {"part-0.parquet": 5_000})
    kept = np.concatenate([reports.outputs[:10_000], reports.outputs[15_000:]])
    assert found.accumulator == accumulator_for(K_RR).add(Reports(K_RR, kept))
    assert "part-0.parquet is damaged: 5,000 rows of its row group 3 cannot be read" in found.notes
    with pytest.raises(Malformed, match=r"part-0\.parquet is damaged: 5,000 rows"):
        Local(processes=1).fold(Source(K_RR, (str(path),)))


@pytest.mark.slow
@pytest.mark.usefixtures("in_processes")
def test_files_of_another_recipe_stop_the_work_by_name(tmp_path: Path) -> None:
    other = make_mechanism("k-rr", domain=Categories(100), epsilon=2)
    write_parts(tmp_path, reports_of(K_RR, 2000), 2)
    parquet.write_table(table_of(reports_of(other, 1000)), tmp_path / "strange.parquet")
    for strict, processes in ((False, 2), (True, 1)):
        source = Source(K_RR, (str(tmp_path),), strict=strict)
        with pytest.raises(WrongRecipe, match=r"strange\.parquet, row 1: the record is of another recipe"):
            Local(processes).read(source)


def test_one_strange_row_among_many_is_found(tmp_path: Path) -> None:
    recipes: list[str | None] = [K_RR.fingerprint] * 1000
    for strange in ("0" * 32, None):
        recipes[700] = strange
        parquet.write_table(pa.table({"output": [1] * 1000, "recipe": recipes}), tmp_path / "a.parquet", row_group_size=300)
        with pytest.raises(WrongRecipe, match=r"a\.parquet, row 701"):
            read(K_RR, tmp_path)


def test_paths_patterns_and_directories_name_each_file_once(tmp_path: Path) -> None:
    for day in ("monday", "tuesday"):
        write_parts(tmp_path / day, reports_of(K_RR, 300), 2)
    (tmp_path / "tuesday" / "_temporary").mkdir()
    (tmp_path / "tuesday" / "_temporary" / "part-9.parquet").write_bytes(b"unfinished")
    (tmp_path / "tuesday" / "_SUCCESS").write_bytes(b"")
    assert read(K_RR, tmp_path).n == 600
    assert read(K_RR, tmp_path / "*" / "part-*.parquet").files == 4
    assert read(K_RR, tmp_path / "monday", tmp_path / "tues*").n == 600
    assert Local().fold(Source(K_RR, (f"file://{tmp_path}/monday",))).n == 300
    (tmp_path / "tuesday" / "part-1.parquet").write_bytes(b"PAR1")
    assert read(K_RR, tmp_path).broken == {"tuesday/part-1.parquet": 0}
    for paths, message in [
        ((tmp_path, tmp_path / "monday"), "given twice"),
        ((tmp_path / "wednesday",), "there is no file"),
        ((tmp_path / "w*",), "no file matches"),
        ((tmp_path / "tuesday" / "_temporary", tmp_path / "empty"), "there is no"),
    ]:
        with pytest.raises(InvalidParameter, match=message):
            read(K_RR, *paths)


def test_wrong_questions_are_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"output": [0.5], "ouput": [1]}), tmp_path / "a.parquet")
    with pytest.raises(Malformed, match="must hold whole numbers or text, it holds double"):
        read(K_RR, tmp_path)
    with pytest.raises(InvalidParameter, match="did you mean output"):
        read(K_RR, tmp_path, column="outptu")
    with pytest.raises(InvalidParameter, match="engine spark"):
        Local().fold(Source(K_RR, ("hdfs://host/reports",)))
    with pytest.raises(InvalidParameter, match="paths"):
        Source(K_RR, "a.parquet")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="base"):
        Source(K_RR, ("a.parquet",), base=8)
    with pytest.raises(InvalidParameter, match="processes"):
        Local(processes=0)
    with pytest.raises(InvalidParameter, match="one of local, spark"):
        engine_by_name("flink")
    with pytest.raises(InvalidParameter, match="master"):
        engine_by_name("local", "yarn")


@pytest.mark.usefixtures("in_processes")
def test_a_process_that_dies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parts(tmp_path, reports_of(K_RR, 2000), 2)
    started = subprocess.Popen

    def dying(command: list[str], **options: Any) -> Any:
        return started([sys.executable, "-c", "import sys; sys.stdin.buffer.read(20)"], **options)

    monkeypatch.setattr(subprocess, "Popen", dying)
    with pytest.raises(DeniableError, match="ended before its work was done"):
        read(K_RR, tmp_path)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for count in (300_000, 3_000_000):
        outputs = np.arange(count, dtype=np.int64) % 100
        parquet.write_table(pa.table({"output": outputs}), tmp_path / "a.parquet", row_group_size=count)
        pa.default_memory_pool().release_unused()
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        assert read(K_RR, tmp_path).n == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert pa.total_allocated_bytes() - before < 1 << 20
    # All outputs of the larger file are 24 MB.
    assert peaks[1] < 1.5 * peaks[0] + (1 << 20)
