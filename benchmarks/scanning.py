"""Counting the reports in a Parquet file: ours beside a plain GROUP BY of DuckDB and Polars, as the yardstick of a scan.

    python benchmarks/scanning.py [--reports 10000000] [--turns 7]

DuckDB and Polars are installed once, each into its own virtual environment under .venv-peers/. All count the same column of the
same file, take turns, and the least processor time counts: all threads of a package together, so that one core and
two can be compared on a busy machine. Our fold also checks every output, which GROUP BY need not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from speed.environments import SCRIPTS, NotInstalled, Peer, python_of

import deniable
from deniable.batch import randomize_many, read_reports
from deniable.core import Interval, Mechanism, make_mechanism

YARDSTICKS = (
    Peer("duckdb", "scanning.py", ("duckdb==1.*",)),
    Peer("polars", "scanning.py", ("polars==1.*",)),
)
MECHANISMS: dict[str, Mechanism] = {
    "k-RR, k=100": make_mechanism("k-rr", domain=deniable.Categories(100), epsilon=1),
    "k-RR, k=10,000": make_mechanism("k-rr", domain=deniable.Categories(10_000), epsilon=1),
    "window, 2**16 cells": make_mechanism("window", domain=Interval(0, 1, cells=1 << 16), epsilon=1),
}
GOAL = 1.5
"""Our processor time is to be at most this many times that of the faster yardstick."""


def written(mechanism: Mechanism, count: int, path: Path) -> None:
    """A file of reports in 32 bits, as other tools write a column of whole numbers."""
    size = getattr(mechanism.domain, "size", 0)
    values = np.resize(np.arange(size), count) if size and mechanism.name == "k-rr" else np.linspace(0, 1, count)
    outputs = randomize_many(mechanism, values).outputs.astype(np.uint32)
    parquet.write_table(pa.table({"output": outputs}), path)


def yardstick(peer: Peer, path: Path, threads: int) -> subprocess.Popen[str] | None:
    """A process that counts whenever it is asked to; None where the package cannot be installed."""
    try:
        python = python_of(peer)
    except NotInstalled as error:
        print(f"{peer.name} is not installed: {error}")
        return None
    command = [python, str(SCRIPTS / peer.script), peer.name, str(path), str(threads)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process: subprocess.Popen[str]) -> dict[str, float]:
    assert process.stdin is not None
    assert process.stdout is not None
    print(file=process.stdin, flush=True)
    answer: dict[str, float] = json.loads(process.stdout.readline())
    return answer


def compare(label: str, mechanism: Mechanism, count: int, turns: int) -> None:
    """One row: nanoseconds of processor time per report, least of the turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reports.parquet")
        written(mechanism, count, path)
        processes = {peer.name: process for peer in YARDSTICKS if (process := yardstick(peer, path, 1)) is not None}
        read_reports(mechanism, [path])
        best = dict.fromkeys(["deniable", *processes], float("inf"))
        for _ in range(turns):
            begin = time.process_time()
            assert len(read_reports(mechanism, [path]).accumulator) == count
            best["deniable"] = min(best["deniable"], time.process_time() - begin)
            for name, process in processes.items():
                answer = ask(process)
                assert answer["counted"] == count
                best[name] = min(best[name], answer["processor"])
        for process in processes.values():
            process.communicate()
    times = "  ".join(f"{name} {1e9 * seconds / count:6.2f}" for name, seconds in best.items())
    nearest = min((seconds for name, seconds in best.items() if name != "deniable"), default=float("nan"))
    verdict = "met" if best["deniable"] <= GOAL * nearest else "MISSED"
    print(f"{label:<20} ns per report: {times}   {best['deniable'] / nearest:.2f} of the faster yardstick: {verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=7)
    chosen = parser.parse_args()
    for label, mechanism in MECHANISMS.items():
        compare(label, mechanism, chosen.reports, chosen.turns)


if __name__ == "__main__":
    main()
