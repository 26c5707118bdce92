"""Folding Parquet files at scale: Spark against the local engine, per core, in one run.

    python benchmarks/engines.py [--reports 10000000] [--mechanism k-rr] [--names 1] [--master 'local-cluster[2,1,1024]'] [--json]
    python benchmarks/engines.py --reports 100000000            # the size that the bar is about
    python benchmarks/engines.py --reports 100000000 --usual-java      # the same with Java's usual compilers and collector
    python benchmarks/engines.py --mechanism olh --reports 2000000 --master none         # the local engine only

Reports are drawn once and written as a collector exports them: `recipe`, and `output` in 64 bits, 5 million rows to a file.
`--names 10` gives every file ten names (hard links), so that 10**8 written reports are read as 10**9. Works take turns, and
the best of several rounds counts. Spark's session is running and everything was folded twice before, so that neither the start
of Java nor the loading of kernels is on the bill. The local engine starts its processes anew each time, when it starts any: it
does when the first file shows that there are seconds of work left.

Two rates are told. By the clock: reports per second and core. By processor time: reports per second of processor that all
processes of the engine used together, Java's included; on a busy machine only this one means anything. Each is compared with
the local engine in two ways: with one warm process, which is the harder one, and with the two that it starts itself.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from deniable.batch import Engine, Folded, Local, Progress, Source, Spark, randomize_many, read_reports, started
from deniable.core import Categories, Interval, Mechanism, make_mechanism
from deniable.errors import DeniableError, MissingPackage

ROWS = 5_000_000
MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "k-rr": lambda: make_mechanism("k-rr", domain=Categories(100), epsilon=1),
    "olh": lambda: make_mechanism("olh", domain=Categories(100), epsilon=1),
    "oue": lambda: make_mechanism("oue", domain=Categories(100), epsilon=1),
    "window": lambda: make_mechanism("window", domain=Interval(0, 1, cells=1 << 16), epsilon=1),
}
CORES = 2
WARM_UPS = 2


def write(mechanism: Mechanism, directory: Path, count: int, links: int) -> None:
    """Files of reports, each under several names."""
    for place, start in enumerate(range(0, count, ROWS)):
        rows = min(ROWS, count - start)
        numbers = np.arange(rows)
        categories = isinstance(mechanism.domain, Categories)
        reports = randomize_many(mechanism, numbers % mechanism.domain.size if categories else numbers / rows)
        wide = mechanism.channel.outputs > 1 << 63
        column = pa.array([f"{output:x}" for output in reports.ints()]) if wide else pa.array(reports.outputs.astype(np.uint64))
        recipes = pa.array([mechanism.fingerprint]).take(pa.array(np.zeros(rows, np.int32)))
        path = directory / f"part-{place}-0.parquet"
        parquet.write_table(pa.table({"recipe": recipes, "output": column}), path)
        for link in range(1, links):
            os.link(path, directory / f"part-{place}-{link}.parquet")


class WithoutEngine(Engine):
    """What `deniable estimate` does without --engine: file after file, in this process."""

    def read(self, source: Source, progress: Progress | None = None) -> Folded:
        """The sums of all files."""
        found = read_reports(source.mechanism, source.files, strict=source.strict)
        return Folded(found.accumulator, files=len(source.files))


def processor_seconds() -> float:
    """Of this process and everything below it, alive or over."""
    parents, used = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)], used[int(entry.name)] = int(fields[1]), sum(int(field) for field in fields[11:15])
    mine = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(used[process] for process in mine) / os.sysconf("SC_CLK_TCK")


def measured(engine: Engine, source: Source) -> tuple[float, float, bytes]:
    """Seconds by the clock and of processors, and the sums."""
    before, begin = processor_seconds(), time.perf_counter()
    sums = engine.fold(source).to_bytes()
    return time.perf_counter() - begin, processor_seconds() - before, sums


def compare(mechanism: Mechanism, directory: Path, reports: int, master: str, rounds: int, *, light: bool) -> list[dict[str, Any]]:
    """The engines on the same files."""
    everything = Source(mechanism, (str(directory / "*.parquet"),))
    engines: list[tuple[str, Engine, int]] = [
        ("local, this process", Local(processes=1), 1),
        ("local, up to 2 processes, their start included", Local(processes=CORES), CORES),
        ("without an engine, this process", WithoutEngine(), 1),
    ]
    spark = None
    try:
        if master == "none":
            raise MissingPackage("without Spark")
        spark = started(master, light=light)
        engines.append((f"spark, {master}, workers read", Spark(), CORES))
        engines.append((f"spark, {master}, files through Spark", Spark(reads="spark"), CORES))
    except DeniableError as error:
        print(error)
    for _, engine, _ in engines:
        for _ in range(WARM_UPS):
            engine.fold(everything)
    runs = [[measured(engine, everything) for _, engine, _ in engines] for _ in range(rounds)]
    if spark is not None:
        spark.stop()
    assert len({sums for run in runs for _, _, sums in run}) == 1, "engines disagree"
    rows = []
    for place, (label, _, cores) in enumerate(engines):
        seconds, processor = (min(run[place][kind] for run in runs) for kind in (0, 1))
        by_clock, by_processor = reports / seconds / cores, reports / processor
        rows.append({"engine": label, "seconds": seconds, "per_second_and_core": by_clock, "per_processor_second": by_processor})
    for row in rows:
        for against, local in zip(("one_warm_process", "two_processes"), rows[:2], strict=True):
            row[f"by_clock_against_{against}"] = row["per_second_and_core"] / local["per_second_and_core"]
            row[f"by_processor_against_{against}"] = row["per_processor_second"] / local["per_processor_second"]
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--names", type=int, default=1)
    parser.add_argument("--mechanism", choices=sorted(MECHANISMS), default="k-rr")
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--usual-java", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    mechanism = MECHANISMS[chosen.mechanism]()
    with tempfile.TemporaryDirectory() as made:
        write(mechanism, Path(made), chosen.reports, chosen.names)
        size = sum(path.stat().st_size for path in Path(made).iterdir())
        reports = chosen.reports * chosen.names
        rows = compare(mechanism, Path(made), reports, chosen.master, chosen.rounds, light=not chosen.usual_java)
    if chosen.json:
        print(json.dumps({"mechanism": mechanism.name, "reports": reports, "bytes": size, "engines": rows}, indent=2))
        return
    print(f"{reports:,} reports of {mechanism.name} in {size / 1e6:,.0f} MB of Parquet; all engines give the same sums")
    print("in brackets: against one warm local process, and against two local processes with their start")
    for row in rows:
        clock, processor = (
            f"({row[f'by_{kind}_against_one_warm_process']:.2f}x, {row[f'by_{kind}_against_two_processes']:.2f}x)"
            for kind in ("clock", "processor")
        )
        print(
            f"{row['engine']:<55} {row['seconds']:6.2f} s   by the clock {row['per_second_and_core']:.3g}/s per core {clock}"
            f"   by processor {row['per_processor_second']:.3g}/s {processor}"
        )


if __name__ == "__main__":
    main()
