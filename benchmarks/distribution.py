"""How long a distribution takes beside one numpy.bincount of the same reports, measured in one run.

    python benchmarks/distribution.py [--reports 1000000] [--bins 1024] [--json]

From the counts is what a collector does, which has folded the reports already; from the reports also
folds them. Both stop where the log-likelihood changes by less than 0.001 (EMS) or 0.001 e**epsilon (EM)
from one iteration to the next (Li et al., 2020). `distance` is the mean distance of the cdf from the truth.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from speed.best import best_time

from deniable.batch import accumulator_for
from deniable.core import make_mechanism
from deniable.estimators import binned, distribution

MOST = {"ems": 20.0, "em": 60.0}
"""Times one bincount, from the counts."""


def measure(count: int, bins: int) -> list[dict[str, Any]]:
    """Every mechanism and method."""
    values = np.random.Generator(np.random.PCG64(1)).beta(2, 5, count)
    truth = np.histogram(values, bins, (0, 1))[0] / count
    rows = []
    for name, epsilon in (("sw", 1), ("sw", 4), ("window", 1), ("window", 4), ("pm", 1), ("pm", 4)):
        mechanism = make_mechanism(name, epsilon=epsilon)
        reports = mechanism.randomize_many(values)
        sums = accumulator_for(mechanism).add(reports)
        one_count = best_time(lambda r=reports: np.bincount(r.outputs))  # type: ignore[misc]
        for method, most in MOST.items():
            found = distribution(sums, bins=bins, method=method)  # type: ignore[arg-type]  # also compiles

            def work(source: Any = None, sums: Any = sums, method: Any = method) -> Any:
                binned.cache_clear()
                return distribution(sums if source is None else source, bins=bins, method=method)

            from_counts, from_reports = best_time(work), best_time(lambda r=reports, w=work: w(r))  # type: ignore[misc]
            rows.append(
                {
                    "mechanism": f"{name}, epsilon {epsilon}",
                    "method": method,
                    "bincount_ms": 1e3 * one_count,
                    "from_counts_ms": 1e3 * from_counts,
                    "from_counts": from_counts / one_count,
                    "from_reports": from_reports / one_count,
                    "required": most,
                    "met": from_counts <= most * one_count,
                    "iterations": found.iterations,
                    "converged": found.converged,
                    "distance": float(np.abs(np.cumsum(found.value - truth)).mean()),
                }
            )
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reports", type=int, default=1_000_000)
    parser.add_argument("--bins", type=int, default=1024)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rows = measure(chosen.reports, chosen.bins)
    if chosen.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{chosen.reports:,} reports, {chosen.bins} bins; times are multiples of one numpy.bincount of the reports\n")
    heads = ("bincount", "from counts", "", "required", "from reports", "iterations", "distance")
    print(f"{'mechanism':<18}{'':<5}" + "".join(f"{head:>13}" for head in heads))
    for row in rows:
        cells = (
            f"{row['bincount_ms']:.1f} ms",
            f"{row['from_counts_ms']:.1f} ms",
            f"{row['from_counts']:.1f}x",
            f"{row['required']:.0f}x",
            f"{row['from_reports']:.1f}x",
            f"{row['iterations']}",
            f"{row['distance']:.5f}",
        )
        line = f"{row['mechanism']:<18}{row['method']:<5}" + "".join(f"{cell:>13}" for cell in cells)
        print(line + ("" if row["met"] else "  NOT MET"))


if __name__ == "__main__":
    main()
