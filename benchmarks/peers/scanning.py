"""Counts the outputs in a Parquet file by a plain GROUP BY, once for each line it is given; answers with seconds.

    python benchmarks/peers/scanning.py duckdb FILE THREADS

The first answer comes after a run that is not timed. Each package is imported in the environment of its own.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any


def duckdb(path: str, threads: int) -> Callable[[], Any]:
    """DuckDB reads the file itself."""
    import duckdb

    connection = duckdb.connect(config={"threads": threads})
    return lambda: connection.execute("SELECT output, count(*) FROM read_parquet(?) GROUP BY output", [path]).fetchall()


def polars(path: str, threads: int) -> Callable[[], Any]:
    """Polars scans the file and streams."""
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars

    return lambda: polars.scan_parquet(path).group_by("output").len().collect(engine="streaming").rows()


if __name__ == "__main__":
    package, path, threads = sys.argv[1:]
    work = {"duckdb": duckdb, "polars": polars}[package](path, int(threads))
    counted = sum(count for _, count in work())
    for _ in sys.stdin:
        begin, processor = time.perf_counter(), time.process_time()
        work()
        answer = {"seconds": time.perf_counter() - begin, "processor": time.process_time() - processor, "counted": counted}
        print(json.dumps(answer), flush=True)
