"""Joint randomized response: how fast pairs answer, and how long the published experiment takes.

    python benchmarks/joint.py [--pairs 5000000] [--json]

R is the rate of numpy.random.Generator(PCG64).random(out=…), measured in the same run. A pair is two reports,
drawn by the exact integer law from the system's randomness; the required 0.25 R counts pairs, not reports.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from speed.best import best_time

from deniable.batch import SystemKeystream
from deniable.core import Pair
from deniable.studies import HashedPair, account, answer_in_pairs, bounded_pair, published_pair, random_pairing, simulate


def measure(pairs: int) -> dict[str, Any]:
    """All rows."""
    generator, doubles = np.random.Generator(np.random.PCG64(0)), np.empty(pairs)
    reference = pairs / best_time(lambda: generator.random(out=doubles))
    bits = generator.integers(0, 2, 2 * pairs).astype(np.uint8)
    table, stream = bounded_pair(1, 2), SystemKeystream()
    answer_in_pairs(table, bits[:1000])  # compile
    simulate(table, 20_000, 659, 2)
    rate = pairs / best_time(lambda: answer_in_pairs(table, bits))
    pairing = best_time(lambda: random_pairing(10**6, stream), 3)
    begin = time.perf_counter()
    for each in (published_pair(1), bounded_pair(1, 1)):
        simulate(each, 20_000, 659, 1000)
    experiment = time.perf_counter() - begin
    hashed, values = HashedPair.bounded(1000, 1, 2), np.arange(2 * 10**6) % 1000
    hashed.answer(values[:1000])  # compile
    hashing = 10**6 / best_time(lambda: hashed.answer(values), 3)
    positive = best_time(lambda: account(Pair.rounded("4/5", "1/2"), 10**7, 10**6), 1)
    begin = time.perf_counter()
    account(table, 10**7, 10**6)
    return {
        "R": reference,
        "pairs_per_second": rate,
        "reports_per_second": 2 * rate,
        "pairs_fraction_of_R": rate / reference,
        "required": 0.25,
        "met": rate >= 0.25 * reference,
        "random_pairing_of_a_million_seconds": pairing,
        "thousand_runs_two_mechanisms_seconds": experiment,
        "hashed_pairs_per_second": hashing,
        "accounting_of_ten_million_with_positive_correlation_seconds": positive,
        "accounting_of_ten_million_users_seconds": time.perf_counter() - begin,
    }


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = measure(chosen.pairs)
    if chosen.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name.replace('_', ' '):<61}{value:>16.4g}" if not isinstance(value, bool) else f"{name:<61}{value!s:>16}")


if __name__ == "__main__":
    main()
