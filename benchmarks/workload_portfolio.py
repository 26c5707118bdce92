"""The planner's pick for linear questions beside every baseline: predicted, and simulated.

    python benchmarks/workload_portfolio.py [--size 8 --size 64 …] [--epsilon 1 …] [--workload ranges …] [--runs 400] [--speed]

For each setting every way to ask is predicted, and the pick and the baselines are simulated. It fails if a baseline is predicted
below the pick, or if a simulation is off its prediction by more than 3 % and four of its own standard errors. `--speed` times 10^6
users and all ranges of 1,024 values, in processor seconds.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from deniable.batch import SystemKeystream
from deniable.core import Categories, Epsilon
from deniable.estimators import tree_sums
from deniable.planning import Question, Way, best_hierarchy, ways

SIZES, LEVELS, WORKLOADS = (8, 16, 64), ("0.5", "1", "2", "4"), ("histogram", "prefix", "ranges", "marginals:2", "marginals:3")
USERS = 20_000
BASELINES = ("hierarchical-histogram", "oue", "hadamard", "k-rr", "olh")
ALLOWED = 0.03


def main() -> int:
    """Every setting, and how many were off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--epsilon", action="append")
    parser.add_argument("--workload", action="append")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--speed", action="store_true")
    asked = parser.parse_args()
    if asked.speed:
        speed()
        return 0
    wrong = 0
    print("| workload | values | ε | pick | predicted | simulated | best baseline | predicted | simulated |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in asked.workload or WORKLOADS:
        for size in asked.size or SIZES:
            for level in asked.epsilon or LEVELS:
                wrong += setting(name, size, level, asked.runs)
    return int(wrong > 0)


def setting(name: str, size: int, level: str, runs: int) -> int:
    """One line of the table; how much of it is wrong."""
    question = Question(task="workload", domain=Categories(size), users=USERS, epsilon=level, workload=name)
    every = [way for way in ways(question, Epsilon(level)) if isinstance(way, Way)]
    pick = min(every, key=lambda way: way.predict(USERS).error)
    baseline = min((way for way in every if way.name in BASELINES), key=lambda way: way.predict(USERS).error)
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
    print(f"| {name} | {size} | {level} | {' | '.join(cells)} |", flush=True)
    return off + (baseline.predict(USERS).error < pick.predict(USERS).error)


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
