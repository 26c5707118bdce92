"""The planner's pick for linear questions beside every baseline: predicted, and simulated.

    python benchmarks/workload_portfolio.py [--size 8 …] [--epsilon 1 …] [--workload ranges …] [--runs 400] [--out FILE] [--docs]
    python benchmarks/workload_portfolio.py --speed

For each setting every way to ask is predicted, and the pick and the best baseline are simulated. It fails if a baseline is
predicted below the pick, or if a simulation is off its prediction by more than 3 % and four standard errors. With `--out`, lines
are added to a file, and settings that it has already are not run again; `--docs` puts them into docs/workloads.md.
`--speed` times 10^6 users and all ranges of 1,024 values, in processor seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from deniable.batch import SystemKeystream
from deniable.core import Categories, Epsilon
from deniable.estimators import tree_sums
from deniable.planning import Question, Way, best_hierarchy, ways

SIZES, LEVELS, WORKLOADS = (
    (8, 16, 64, 256, 1024),
    ("0.5", "1", "2", "4"),
    ("histogram", "prefix", "ranges", "marginals:2", "marginals:3"),
)
USERS = 20_000
BASELINES = ("hierarchical-histogram", "oue", "hadamard", "k-rr", "olh")
PLAIN = ("every table equally often", "whole record", "equal shares")
"""Marginals and wavelets as they are published; the others are chosen by optimisation."""
ALLOWED = 0.03
PAGE = Path(__file__).parents[1] / "docs" / "workloads.md"
HEAD = (
    "| workload | values | ε | pick | predicted | simulated | best baseline | predicted | simulated |",
    "|---|---|---|---|---|---|---|---|---|",
)


def main() -> int:
    """Every setting, and how many were off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--epsilon", action="append")
    parser.add_argument("--workload", action="append")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--out", type=Path, help="a file of lines, added to; settings that it has are not run again")
    parser.add_argument("--docs", action="store_true", help="put the lines of --out into docs/workloads.md")
    parser.add_argument("--speed", action="store_true")
    asked = parser.parse_args()
    if asked.speed:
        speed()
        return 0
    wrong, lines = 0, asked.out.read_text(encoding="utf-8").splitlines() if asked.out and asked.out.exists() else []
    for line in [*HEAD, *lines]:
        print(line)
    for size in asked.size or SIZES:
        for name in asked.workload or WORKLOADS:
            for level in asked.epsilon or LEVELS:
                if any(line.startswith(f"| {name} | {size} | {level} |") for line in lines):
                    continue
                line, off = setting(name, size, level, asked.runs)
                print(line, flush=True)
                lines.append(line)
                wrong += off
                if asked.out:
                    asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if asked.docs:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(HEAD[0])
        after = rest[rest.index("\n\n") :]
        PAGE.write_text(before + "\n".join([*HEAD, *lines]) + after, encoding="utf-8")
    return int(wrong > 0)


def setting(name: str, size: int, level: str, runs: int) -> tuple[str, int]:
    """One line of the table; how much of it is wrong."""
    question = Question(task="workload", domain=Categories(size), users=USERS, epsilon=level, workload=name)
    every = [way for way in ways(question, Epsilon(level)) if isinstance(way, Way)]
    pick = min(every, key=lambda way: way.predict(USERS).error)
    baseline = min((way for way in every if way.name in BASELINES or way.inner in PLAIN), key=lambda way: way.predict(USERS).error)
    off, cells = 0, []
    for way in (pick, baseline):
        predicted, losses = way.predict(USERS).error, np.asarray(way.losses(USERS, runs, SystemKeystream()))
        simulated = float(np.sqrt(losses.mean()))
        spread = float(losses.std() / np.sqrt(runs) / losses.mean()) / 2
        apart = abs(simulated / predicted - 1)
        off += apart > ALLOWED and apart > 4 * spread
        cells += [
            f"{way.name}{f' ({way.inner})' if way.inner else ''}",
            f"{predicted:.5g}",
            f"{simulated:.5g} ± {100 * spread:.1f} %",
        ]
    behind = baseline.predict(USERS).error < pick.predict(USERS).error
    return f"| {name} | {size} | {level} | {' | '.join(cells)} |", off + behind


def speed() -> None:
    """10^6 users, every range of 1,024 values."""
    mechanism = best_hierarchy("ranges", 1, size=1024).mechanism
    people = np.arange(1_000_000) % 1024
    for _ in range(3):
        begin = time.process_time()
        reports = mechanism.randomize_many(people)
        drawn = time.process_time()
        sums = mechanism.accumulator().add(reports)
        added = time.process_time()
        tree_sums(sums).ranges()
        done = time.process_time()
        rates = f"privatise {1e6 / (drawn - begin):.3g}/s, aggregate {1e6 / (added - drawn):.3g}/s"
        print(f"{rates}, all 524,800 ranges {done - added:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
