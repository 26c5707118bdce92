"""How fast values become reports, as a fraction of numpy's own generator, measured in one run.

    python benchmarks/privatize.py [--reports 10000000] [--json]

R is the rate of numpy.random.Generator(PCG64).random(out=…): doubles per second, neither private nor
secure. Every row is end to end: from an array of floats or ints to an array of reports.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import deniable
from deniable.batch import randomize_many
from deniable.core import Mechanism, make_mechanism


def best_rate(work: Callable[[], Any], count: int, repeats: int = 5) -> float:
    """Items per second, the best of several runs: the others measure something else on the machine."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return count / best


def generator_rate(count: int) -> float:
    """R: uniform doubles per second of numpy's default generator, written into an existing array."""
    generator = np.random.Generator(np.random.PCG64(0))
    doubles = np.empty(count)
    return best_rate(lambda: generator.random(out=doubles), count)


def cases(count: int) -> list[tuple[str, Mechanism, Any, float | None, float | None]]:
    """Label, mechanism, values, and what it must reach: a fraction of R, or reports per second."""
    source = np.random.Generator(np.random.PCG64(1))
    reals = source.random(count)
    few = count // 10

    def make(name: str, epsilon: float, domain: Any = None, **parameters: Any) -> Any:
        chosen = {} if domain is None else {"domain": domain}
        return make_mechanism(name, epsilon=epsilon, **chosen, **parameters)

    def categories(size: int, many: int) -> Any:
        return source.integers(0, size, many)

    return [
        ("k-RR, k=2", make("k-rr", 1, deniable.Categories(2)), categories(2, count), None, None),
        ("k-RR, k=100", make("k-rr", 1, deniable.Categories(100)), categories(100, count), 0.5, None),
        ("k-RR, k=10,000", make("k-rr", 1, deniable.Categories(10_000)), categories(10_000, count), None, None),
        ("window, loss 2", make("window", 1), reals, 0.25, None),
        ("OGPM", make("ogpm", 1), reals, 0.25, None),
        ("window on [18, 90]", make("window", 1, deniable.Interval(18, 90)), 18 + 72 * reals, 0.25, None),
        ("PM", make("pm", 1), reals, 0.25, None),
        ("SW", make("sw", 1), reals, 0.25, None),
        ("circular window", make("circular-window", 1, deniable.Circle(1)), reals, 0.25, None),
        ("HM", make("hm", 1), reals, None, None),
        ("Laplace", make("laplace", 1), reals, None, None),
        ("Hadamard, k=1000", make("hadamard", 1, deniable.Categories(1000)), categories(1000, count), None, None),
        ("OLH, k=1000", make("olh", 1, deniable.Categories(1000)), categories(1000, count), None, None),
        ("projective, k=1000", make("projective", 1, deniable.Categories(1000)), categories(1000, few), None, None),
        ("OUE, k=1000", make("oue", 1, deniable.Categories(1000)), categories(1000, few), None, 1e6),
        ("SUE, k=1000", make("sue", 1, deniable.Categories(1000)), categories(1000, few), None, 1e6),
        ("subset, k=1000", make("subset", 1, deniable.Categories(1000)), categories(1000, few // 10), None, None),
    ]


def measure(count: int) -> dict[str, Any]:
    """Every case beside R."""
    rows = []
    reference = generator_rate(count)
    for label, mechanism, values, fraction, rate in cases(count):
        randomize_many(mechanism, values[:1000])  # compile
        reached = best_rate(partial(randomize_many, mechanism, values), len(values))
        needed = fraction * reference if fraction else rate
        rows.append(
            {
                "mechanism": label,
                "reports": len(values),
                "reports_per_second": reached,
                "fraction_of_R": reached / reference,
                "required": f"{fraction} R" if fraction else f"{rate:.0e}/s" if rate else None,
                "met": None if needed is None else reached >= needed,
            }
        )
    return {"R": reference, "rows": rows, "work_space_mb": work_space(count)}


def work_space(count: int) -> float:
    """Megabytes a batch allocates beyond its output, at its peak: the most of several kinds of mechanisms."""
    reals = np.random.Generator(np.random.PCG64(2)).random(count)
    wholes = (reals[: count // 10] * 1000).astype(np.int64)
    unary = make_mechanism("oue", epsilon=1, domain=deniable.Categories(1000))
    most = 0.0
    for mechanism, values in (
        (make_mechanism("window", epsilon=1), reals),
        (make_mechanism("hm", epsilon=1), reals),
        (unary, wholes),
    ):
        randomize_many(mechanism, values[:1000])
        tracemalloc.start()
        reports = randomize_many(mechanism, values)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        most = max(most, (peak - float(reports.outputs.nbytes)) / 2**20)
    return most


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = measure(chosen.reports)
    if chosen.json:
        print(json.dumps(found, indent=2))
        return
    print(f"R = {found['R'] / 1e6:.0f} million PCG64 doubles per second\n")
    print(f"{'mechanism':<22}{'million/s':>10}{'of R':>8}{'required':>12}{'met':>6}")
    for row in found["rows"]:
        met = {None: "", True: "yes", False: "NO"}[row["met"]]
        print(
            f"{row['mechanism']:<22}{row['reports_per_second'] / 1e6:>10.1f}{row['fraction_of_R']:>8.2f}"
            f"{row['required'] or '':>12}{met:>6}"
        )
    print(f"\nwork space beyond the output of one batch: {found['work_space_mb']:.1f} MB")


if __name__ == "__main__":
    main()
