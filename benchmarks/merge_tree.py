"""The merge tree of ten thousand partitions: real accumulators, their real bytes, real merges.

    python benchmarks/merge_tree.py [--partitions 10000] [--reports 1000] [--fan-in 32] [--only CASE] [--json]
    python benchmarks/merge_tree.py --reports 100000 --only "k-RR, k=100"     # a thousand million reports, a minute

Every partition folds its own reports to a part and writes it to bytes, as a Spark task does. Then levels of merges follow, each
reading at most --fan-in parts from bytes and writing one, until one is left. It is compared with folding all reports in one
accumulator, which must give the same bytes. Told are the bytes that travel, all of them and those that reach the driver, and the
seconds of one core that merging takes. Partitions are small here so that the run is short; how many reports a partition
holds changes the bytes of its sums only, not the merges.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.batch import Part, Reports, accumulator_for, randomize_many
from deniable.core import Categories, Interval, Mechanism, make_mechanism

CASES: list[tuple[str, Callable[[], Mechanism]]] = [
    ("k-RR, k=100", lambda: make_mechanism("k-rr", domain=Categories(100), epsilon=1)),
    ("OUE, k=1,000", lambda: make_mechanism("oue", domain=Categories(1000), epsilon=1)),
    ("Hadamard, k=1,000", lambda: make_mechanism("hadamard", domain=Categories(1000), epsilon=1)),
    ("window, 2**16 cells", lambda: make_mechanism("window", domain=Interval(0, 1, cells=1 << 16), epsilon=1)),
]


def drawn(mechanism: Mechanism, count: int) -> Reports:
    """Reports of values that are about equally common."""
    numbers = np.arange(count)
    return randomize_many(
        mechanism, numbers % mechanism.domain.size if isinstance(mechanism.domain, Categories) else numbers / count
    )


def tree(mechanism: Mechanism, partitions: int, reports: int, fan_in: int) -> dict[str, Any]:
    """One tree, from partitions to the driver."""
    everything = drawn(mechanism, min(partitions * reports, 1 << 20))
    length = len(everything)
    level, alone = [], accumulator_for(mechanism)
    begin = time.process_time()
    for partition in range(partitions):
        start = partition * reports % max(1, length - reports + 1)
        part = Part.empty(mechanism)
        part.accumulator.add(Reports(mechanism, everything.outputs[start : start + reports]))
        level.append(part.to_bytes())
    folding, n = time.process_time() - begin, partitions * min(reports, length)
    levels = []
    while len(level) > 1:
        begin, travelled, above = time.process_time(), sum(map(len, level)), []
        for start in range(0, len(level), fan_in):
            found = Part.empty(mechanism)
            for data in level[start : start + fan_in]:
                found = found.merge(Part.from_bytes(mechanism, data))
            above.append(found.to_bytes())
        levels.append({"parts": len(level), "bytes": travelled, "seconds": time.process_time() - begin})
        level = above
    for partition in range(partitions):
        start = partition * reports % max(1, length - reports + 1)
        alone.add(Reports(mechanism, everything.outputs[start : start + reports]))
    assert level[0].endswith(alone.to_bytes()), "the tree and one accumulator disagree"
    assert Part.from_bytes(mechanism, level[0]).accumulator.n == n
    return {
        "partitions": partitions,
        "reports_each": reports,
        "folding_seconds": folding,
        "levels": levels,
        "bytes": sum(row["bytes"] for row in levels),
        "to_the_driver": levels[-1]["bytes"] if levels else 0,
        "merge_seconds": sum(row["seconds"] for row in levels),
        "result_bytes": len(level[0]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--reports", type=int, default=1000)
    parser.add_argument("--fan-in", type=int, default=32)
    parser.add_argument("--only", choices=[label for label, _ in CASES])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    wanted = [(label, make) for label, make in CASES if chosen.only in (None, label)]
    rows = {label: tree(make(), chosen.partitions, chosen.reports, chosen.fan_in) for label, make in wanted}
    if chosen.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{chosen.partitions:,} partitions of {chosen.reports:,} reports, {chosen.fan_in} to 1; seconds of one core's time")
    for label, row in rows.items():
        shape = " -> ".join(f"{level['parts']:,}" for level in row["levels"])
        print(
            f"{label:<22} {shape} -> 1   {row['bytes'] / 1e6:8.1f} MB travel, {row['to_the_driver'] / 1e3:8.1f} kB to the driver"
            f"   merging {row['merge_seconds']:6.2f} s, folding {row['folding_seconds']:6.2f} s"
            f"   result {row['result_bytes']:,} bytes"
        )


if __name__ == "__main__":
    main()
