"""Designs for linear workloads: attained error, certified lower bound, gap, and the published descent.

    python benchmarks/workloads.py [--size 16] [--large 64] [--json] [--charts FOLDER]
    python benchmarks/workloads.py --speed [--users 1000000] [--size 1024] [--turns 9]

Prints the tables of docs/workloads.md. Every error is that of the integer table itself, rounded up; every bound is checked in
exact arithmetic and rounded down. `--large N` takes prefixes and ranges of N values instead.
`--speed` times reports about ranges, their sums and the answers to all ranges: the fastest of a few turns, in seconds of one
processor, which a busy machine lengthens least. It fails below 10^7 reports a second, or beyond a second for the answers.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from deniable.estimators import tree_sums
from deniable.planning import WorkloadDesign, best_hierarchy, design_workload

LEVELS = ("0.5", "1", "2", "4")
FASTEST, SOONEST = 1e7, 1.0
"""Reports a second, and seconds."""
NAMES = ("prefix", "ranges", "histogram", "marginals:3", "marginals:2", "marginals:all")


def main() -> int:
    """Run what was asked for, print, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, help="how many values; 16, or 1,024 for --speed")
    parser.add_argument("--large", type=int)
    parser.add_argument("--workload", action="append")
    parser.add_argument("--epsilon", action="append")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--charts", type=Path)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=9)
    asked = parser.parse_args()
    if asked.speed:
        return speed(asked.size or 1024, asked.users, asked.turns)
    size = asked.large or asked.size or 16
    names = asked.workload or (("prefix", "ranges") if asked.large else NAMES)
    rows = []
    for name in names:
        for level in asked.epsilon or LEVELS:
            found = design_workload(name, level, size=size)
            published = None if asked.large else design_workload(name, level, size=size, method="descent").error
            rows.append(row(found, level, published))
            print(line(rows[-1]), file=sys.stderr, flush=True)
    if asked.charts is not None:
        draw(rows, asked.charts)
    print(json.dumps(rows, indent=1) if asked.json else "\n".join([HEAD, *map(line, rows)]))
    return 0


def speed(size: int, users: int, turns: int) -> int:
    """Everyone reports once about ranges of so many values; is anything too slow?"""
    mechanism, people = best_hierarchy("ranges", 1, size=size).mechanism, np.arange(users) % size
    seconds = []
    for _ in range(turns):
        begin = time.process_time()
        reports = mechanism.randomize_many(people)
        drawn = time.process_time()
        sums = mechanism.accumulator().add(reports)
        added = time.process_time()
        tree_sums(sums).ranges()
        seconds.append((drawn - begin, added - drawn, time.process_time() - added))
    drawing, adding, answering = np.min(seconds, axis=0).tolist()
    print(f"{users:,} people, {mechanism.name} of {size:,} values, epsilon 1, the fastest of {turns} turns:")
    print(f"privatise {users / drawing:.3g}/s, aggregate {users / adding:.3g}/s")
    print(f"all {size * (size + 1) // 2:,} ranges with their standard errors: {answering:.2f} s")
    return int(min(users / drawing, users / adding) < FASTEST or answering > SOONEST)


def row(found: WorkloadDesign, level: str, published: float | None) -> dict[str, Any]:
    """One design in numbers."""
    return {
        "workload": found.workload.name,
        "epsilon": level,
        "published": published,
        "error": found.error,
        "bound": found.lower_bound,
        "gap": found.gap,
        "worst": found.exact.worst,
        "outputs": found.channel.outputs,
        "seconds": found.seconds,
    }


HEAD = "| workload | ε | published descent | ours | bound | gap | outputs | seconds |\n|---|---|---|---|---|---|---|---|"


def line(one: dict[str, Any]) -> str:
    """One line of the table."""
    published = "" if one["published"] is None else f"{one['published']:.5g}"
    bound, gap = ("none", "") if one["gap"] is None else (f"{one['bound']:.6g}", f"{100 * one['gap']:.4f} %")
    numbers = f"{published} | {one['error']:.6g} | {bound} | {gap} | {one['outputs']} | {one['seconds']:.1f}"
    return f"| {one['workload']} | {one['epsilon']} | {numbers} |"


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """The rows of an optimal table, and errors over epsilon as multiples of the bound."""
    from deniable.charts import save, workload_chart, workload_table_chart

    save(workload_table_chart(design_workload("prefix", 1, size=16)), str(folder / "workload-rows.svg"))
    shown = []
    for one in rows:
        if one["workload"] == "prefix" and one["published"] is not None:
            for what, error in (("published descent", one["published"]), ("ours", one["error"]), ("bound", one["bound"])):
                shown.append({"epsilon": float(one["epsilon"]), "error": error / one["bound"], "what": what})
    save(
        workload_chart(shown, "Prefixes of 16 values", "squared errors added up, people spread evenly"),
        str(folder / "workload-descent.svg"),
    )


if __name__ == "__main__":
    sys.exit(main())
