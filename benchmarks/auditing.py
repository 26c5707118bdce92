"""Auditing: how often our own mechanisms are accused, and how fast 10**7 draws are judged.

    python benchmarks/auditing.py [--audits 2000] [--samples 20000] [--draws 10000000] [--workers 2] [--json]
    python benchmarks/auditing.py --shares      what share of the draws should look for the event?

Every audit draws from the system's randomness, with confidence 0.9999: an accusation of a correct mechanism has a
probability of at most 1e-4. The audits go round all registered mechanisms and their examples. `--audits 0`
measures the speed alone.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

from deniable.core import Mechanism, make_mechanism, mechanism_class, names
from deniable.privacy import FixedKeystream, audit, audit_mechanism
from deniable.privacy.auditing import sampled


@cache
def all_examples() -> list[Mechanism]:
    """Every example of every mechanism."""
    return [example for name in names() for example in mechanism_class(name).examples()]


def judged(task: tuple[int, int]) -> tuple[str, str] | None:
    """One audit: nothing when the mechanism was cleared, else what was said of whom."""
    place, samples = task
    mechanism = all_examples()[place]
    found = audit_mechanism(mechanism, samples=samples)
    return None if found.violated is False else ("accused" if found.violated else "no_verdict", f"{mechanism!r}: {found.words}")


def false_alarms(audits: int, samples: int, workers: int) -> dict[str, Any]:
    """How many of so many audits accuse a mechanism of ours."""
    count = len(all_examples())
    told: dict[str, list[str]] = {"accused": [], "no_verdict": []}
    begin = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        tasks = ((place % count, samples) for place in range(audits))
        for number, outcome in enumerate(pool.map(judged, tasks, chunksize=10), 1):
            if outcome is not None:
                told[outcome[0]].append(outcome[1])
            if number % 100 == 0:
                spent = time.perf_counter() - begin
                print(f"{number} of {audits} audits, {spent:.0f} s, {len(told['accused'])} accused", file=sys.stderr, flush=True)
    return {"audits": audits, "examples": count, "samples_each": samples, **told, "seconds": time.perf_counter() - begin}


def speed(draws: int) -> dict[str, Any]:
    """Seconds of one audit of a vectorised function; the function alone is measured too."""
    generator = np.random.default_rng(0)
    truth = math.e / (math.e + 9)

    def k_ary(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        others = generator.integers(0, 9, len(values))
        others += others >= values
        return np.where(generator.random(len(values)) < truth, values, others)

    best, alone, processor = math.inf, math.inf, math.inf
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(-(-draws // (1 << 20))):
            k_ary(np.zeros(1 << 20, np.int64))
        alone = min(alone, time.perf_counter() - begin)
        begin, busy = time.perf_counter(), time.process_time()
        found = audit(k_ary, [0, 9], epsilon=1, samples=draws, vectorised=True)
        best, processor = min(best, time.perf_counter() - begin), min(processor, time.process_time() - busy)
    return {
        "draws": draws,
        "seconds": best,
        "processor_seconds": processor,
        "function_alone_seconds": alone,
        "epsilon_lower": found.epsilon_lower,
    }


def shares(runs: int = 12) -> list[dict[str, Any]]:
    """What is shown of epsilon 1, on average, when so many of the draws look for the event."""
    rows = []
    for name, samples in product(("k-rr", "oue", "window"), (5_000, 20_000)):
        mechanism = make_mechanism(name, epsilon=1)
        for share in (0.15, 0.3, 0.5):
            with patch.object(sampled, "SEARCH_SHARE", share):
                shown = [
                    audit_mechanism(mechanism, samples=samples, keystream=FixedKeystream(run)).epsilon_lower for run in range(runs)
                ]
            rows.append({"mechanism": name, "samples": samples, "share": share, "epsilon_lower": float(np.mean(shown))})
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--shares", action="store_true")
    chosen = parser.parse_args()
    if chosen.shares:
        for row in shares():
            setting = f"{row['mechanism']:8} {row['samples']:7,} draws, {row['share']:4.0%} of them search"
            print(f"{setting}: epsilon at least {row['epsilon_lower']:.3f}")
        return
    rows = {"speed": speed(chosen.draws), "false_alarms": false_alarms(chosen.audits, chosen.samples, chosen.workers)}
    if chosen.json:
        print(json.dumps(rows, indent=2))
        return
    fast, alarms = rows["speed"], rows["false_alarms"]
    alone = f"processor time {fast['processor_seconds']:.2f} s; the function alone: {fast['function_alone_seconds']:.2f} s"
    print(f"{fast['draws']:,} draws judged in {fast['seconds']:.2f} s ({alone})")
    print(f"{len(alarms['accused'])} of {alarms['audits']} audits accused a mechanism of ours ({alarms['seconds']:.0f} s)")
    print(f"{len(alarms['no_verdict'])} ended without a verdict")
    for line in [*alarms["accused"], *alarms["no_verdict"]]:
        print("   ", line)


if __name__ == "__main__":
    main()
