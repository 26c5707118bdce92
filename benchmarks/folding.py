"""How long it takes to fold a batch of reports into sums: by NumPy alone, as a collector without numba does, and compiled.

    python benchmarks/folding.py

Milliseconds of processor time, the best of several turns.
"""

from __future__ import annotations

import time
from types import ModuleType

from deniable.batch import Reports, accumulator_for
from deniable.batch.accumulators import counts, kernels, plain_kernels
from deniable.core import Categories, Mechanism, make_mechanism

BATCHES = (1_000, 10_000)
CASES = (("k-rr", 100), ("oue", 1000), ("olh", 100), ("olh", 1000), ("olh", 10_000))
TURNS = 7


def milliseconds(mechanism: Mechanism, reports: Reports, folds: ModuleType) -> float:
    counts.KERNELS = folds
    best = float("inf")
    for _ in range(TURNS):
        sums = accumulator_for(mechanism)
        begin = time.process_time()
        sums.add(reports)
        best = min(best, time.process_time() - begin)
    return 1e3 * best


def main() -> None:
    print(f"{'':<18}" + "".join(f"{size:>9,} {name:<6}" for size in BATCHES for name in ("NumPy", "numba")))
    for name, values in CASES:
        mechanism = make_mechanism(name, domain=Categories(values), epsilon=1)
        outputs = mechanism.randomize_many([i % values for i in range(max(BATCHES))]).outputs
        batches = [Reports(mechanism, outputs[:size]) for size in BATCHES]
        times = [milliseconds(mechanism, batch, folds) for batch in batches for folds in (plain_kernels, kernels)]
        print(f"{name + ', k=' + format(values, ','):<18}" + "".join(f"{took:>13.2f} ms" for took in times))


if __name__ == "__main__":
    main()
