"""How often the 95 % intervals hold the truth: estimators x mechanisms x twelve shapes x numbers of reports x epsilon.

    python benchmarks/interval_coverage.py [--quick] [--results coverage.jsonl] [--only distribution/sw] [--workers 2]

Every cell is simulated 200 times, and 2,000 times where one of its answers held in fewer than 93.5 % of them. Results are
appended to a file of JSON lines, so that a run that was stopped goes on where it was. An answer fails when it would hold so
seldom by chance less than once in 1,000 runs of the whole table, were its true coverage 93.5 %. `--quick` takes minutes: few
repetitions of a sample of the cells. `width` is the mean half-width of an answer over the narrowest of the mechanisms that
were asked the same question and did not fail.
"""

# ruff: noqa: E402  # threads and paths are set before the imports that look at them
from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the workers share the cores
# Numba imports the package `coverage` if there is one, and must not come upon this file instead.
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]

import argparse
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
LEVEL, LEAST, FALSE_ALARMS = 0.95, 0.935, 1e-3
REPETITIONS, MANY, QUICK = 200, 2000, 20
NUMBERS, EPSILONS = (50, 200, 10_000), (0.5, 1.0, 4.0)
BINS, LEVELS, RANGES = 8, (0.1, 0.5, 0.9), ((0.0, 0.2), (0.25, 0.7))
POPULATION = 1_000_000


def _inside(values: Floats) -> Floats:
    return np.clip(values, 0.0, 1 - 1e-9)


def _two_peaks(draws: np.random.Generator, n: int) -> Floats:
    return _inside(np.where(draws.random(n) < 0.5, draws.normal(0.25, 0.05, n), draws.normal(0.7, 0.08, n)))


def _taxi(draws: np.random.Generator, n: int) -> Floats:
    """Times of the day: a morning and an evening peak over a broad base."""
    kind = draws.random(n)
    peaks = np.where(kind < 0.55, draws.normal(0.78, 0.09, n), draws.normal(0.36, 0.06, n))
    return _inside(np.where(kind < 0.85, peaks, draws.random(n)) % 1.0)


SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "uniform": lambda draws, n: draws.random(n),
    "beta(2,5)": lambda draws, n: draws.beta(2, 5, n),
    "beta(.5,.5)": lambda draws, n: _inside(draws.beta(0.5, 0.5, n)),
    "exponential": lambda draws, n: _inside(draws.exponential(0.15, n)),
    "two peaks": _two_peaks,
    "multiples of 5 minutes": lambda draws, n: _inside(np.round(24 * draws.beta(2, 4, n)) / 24),
    "zero-inflated": lambda draws, n: np.where(draws.random(n) < 0.6, 0.0, draws.beta(2, 3, n)),
    "taxi-like": _taxi,
    "income-like": lambda draws, n: _inside(draws.lognormal(-2.0, 0.7, n)),
    "all at one end": lambda draws, n: np.zeros(n),
    "gamma": lambda draws, n: _inside(draws.gamma(2.0, 0.1, n)),
    "three spikes": lambda draws, n: draws.choice([0.2, 0.21, 0.8], n, p=[0.3, 0.3, 0.4]),
}
NUMERIC = {
    "distribution": ("sw", "window", "pm"),
    "histogram": ("sw",),
    "range": ("sw", "window", "pm"),
    "quantiles": ("sw", "window"),
    "mean": ("pm", "hm", "duchi", "sw", "window", "laplace"),
}
CATEGORICAL = {"shares": ("k-rr", "oue", "subset", "olh", "hadamard"), "projected shares": ("k-rr", "oue")}


class Cell(NamedTuple):
    """One setting of the table."""

    estimator: str
    mechanism: str
    shape: str
    n: int
    epsilon: float
    target: str

    @property
    def key(self) -> str:
        """Its name in the file of results."""
        return "|".join(map(str, self))


def cells(*, quick: bool) -> Iterator[Cell]:
    """All settings, or a sample in which every estimator, mechanism and shape occurs."""
    step = 0
    for estimator, mechanisms in {**NUMERIC, **CATEGORICAL}.items():
        for mechanism in mechanisms:
            for shape in SHAPES:
                for n in NUMBERS:
                    for epsilon in EPSILONS:
                        step += 1
                        target = "population" if step % 4 == 0 else "these users"
                        if not quick or (step % 7 == 0 and (n < 1000 or step % 3 == 0)):
                            yield Cell(estimator, mechanism, shape, n, epsilon, target)


def truth_of(cell: Cell, values: Floats) -> Floats:
    """The true answers of people with these values."""
    if cell.estimator in ("distribution", "histogram", *CATEGORICAL):
        return np.asarray(np.histogram(values, BINS, (0, 1))[0] / len(values))
    if cell.estimator == "range":
        return np.array([np.mean((values >= low) & (values < high)) for low, high in RANGES])
    if cell.estimator == "quantiles":
        ordered = np.sort(values)
        return np.asarray(ordered[np.ceil(np.array(LEVELS) * len(values)).astype(int) - 1])
    return np.array([values.mean()])


def ends_of(cell: Cell, source: Any) -> tuple[Floats, Floats]:
    """The intervals as a user gets them."""
    from deniable import estimators

    target: Any = cell.target
    if cell.estimator == "distribution":
        return estimators.distribution(source, bins=BINS, target=target).interval(LEVEL)
    if cell.estimator == "histogram":
        return estimators.histogram(source, BINS, target=target).interval(LEVEL)
    if cell.estimator == "quantiles":
        return estimators.quantiles(source, LEVELS, target=target).interval(LEVEL)
    if cell.estimator == "range":
        fitted = estimators.shape(source, target=target)
        both = [fitted.range_share(low, high).interval(LEVEL) for low, high in RANGES]
        return np.array([ends[0] for ends in both]), np.array([ends[1] for ends in both])
    if cell.estimator == "mean":
        low, high = estimators.mean(source, target=target).interval(LEVEL)
        return np.atleast_1d(low), np.atleast_1d(high)
    found = estimators.shares(source, target=target)
    return (found.projected("simplex") if cell.estimator == "projected shares" else found).interval(LEVEL)


def simulate(cell: Cell, repetitions: range) -> dict[str, Any]:
    """How often each answer held, and its mean half-width, in these repetitions."""
    from deniable.core import Categories, make_mechanism
    from deniable.errors import NotSupported
    from deniable.estimators import histogram  # noqa: F401  # loads the kernels once

    extra = {"domain": Categories(BINS)} if cell.estimator in CATEGORICAL else {}
    mechanism = make_mechanism(cell.mechanism, epsilon=cell.epsilon, **extra)
    draw = SHAPES[cell.shape]
    all_people = draw(np.random.default_rng(zlib.crc32(cell.shape.encode())), POPULATION)
    held, half = np.zeros(0), np.zeros(0)
    for repetition in repetitions:
        values = draw(np.random.default_rng([zlib.crc32(cell.key.encode()), repetition]), cell.n)
        entered: Any = np.minimum((values * BINS).astype(int), BINS - 1) if extra else values
        truth = truth_of(cell, values if cell.target == "these users" else all_people)
        try:
            low, high = ends_of(cell, mechanism.randomize_many(entered))
        except NotSupported:
            return {"key": cell.key, "repetitions": 0, "held": [], "half": []}
        if not len(held):
            held, half = np.zeros(len(truth)), np.zeros(len(truth))
        held += (low <= truth + 1e-9) & (truth - 1e-9 <= high)
        half += (np.minimum(high, 1.0) - np.maximum(low, 0.0)) / 2
    return {"key": cell.key, "repetitions": len(repetitions), "held": held.tolist(), "half": (half / len(repetitions)).tolist()}


def measure(cell: Cell, repetitions: int, most: int) -> dict[str, Any]:
    """First a few repetitions, and many where an answer looks low."""
    found = simulate(cell, range(repetitions))
    if found["repetitions"] < most and found["held"] and min(found["held"]) < LEAST * found["repetitions"]:
        more = simulate(cell, range(repetitions, most))
        found["held"] = (np.array(found["held"]) + np.array(more["held"])).tolist()
        found["repetitions"] += more["repetitions"]
    return found


def known(path: Path) -> dict[str, dict[str, Any]]:
    """What the file of results holds already."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["key"]: row for row in rows}


def failing(rows: list[dict[str, Any]]) -> set[str]:
    """Cells with an answer that holds too seldom, all tests judged together (Bonferroni)."""
    tests = sum(len(row["held"]) for row in rows)
    return {
        row["key"]
        for row in rows
        if any(stats.binom.cdf(held, row["repetitions"], LEAST) < FALSE_ALARMS / tests for held in row["held"])
    }


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Lines of Markdown: one row for every estimator, mechanism and number of reports."""
    bad = failing(rows)
    narrowest: dict[tuple[str, ...], float] = {}
    for row in rows:
        if row["held"] and row["key"] not in bad:
            estimator, _, *rest = row["key"].split("|")
            question = (estimator, *rest[:3])
            narrowest[question] = min(narrowest.get(question, np.inf), float(np.mean(row["half"])))
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        estimator, mechanism, _, n, *_ = row["key"].split("|")
        if row["held"]:
            groups[estimator, mechanism, n].append(row)
    yield "| estimator | mechanism | reports | cells | mean coverage | least of an answer | half-width | width | failing |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for (estimator, mechanism, n), members in groups.items():
        shares = [np.array(row["held"]) / row["repetitions"] for row in members]
        ratios = []
        for row in members:
            parts = row["key"].split("|")
            question = (parts[0], *parts[2:5])
            ratios.append(float(np.mean(row["half"])) / max(narrowest.get(question, np.inf), 1e-12))
        lost = sum(row["key"] in bad for row in members)
        half = np.mean([np.mean(row["half"]) for row in members])
        covered, least = np.mean(np.concatenate(shares)), min(share.min() for share in shares)
        yield (
            f"| {estimator} | {mechanism} | {int(n):,} | {len(members)} | {100 * covered:.1f} % | {100 * least:.1f} % | "
            f"{half:.3f} | {np.mean(ratios):.2f}x | {lost} |"
        )


def main() -> None:
    """Measure what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--only", default="", help="estimator or estimator/mechanism")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    estimator, _, mechanism = chosen.only.partition("/")
    wanted = [cell for cell in cells(quick=chosen.quick) if estimator in ("", cell.estimator) and mechanism in ("", cell.mechanism)]
    repetitions = chosen.repetitions or (QUICK if chosen.quick else REPETITIONS)
    most = repetitions if chosen.quick else MANY
    done = known(chosen.results)
    missing = [cell for cell in wanted if done.get(cell.key, {}).get("repetitions", -1) < 0]
    with ProcessPoolExecutor(chosen.workers) as pool, chosen.results.open("a", encoding="utf-8") as results:
        size = len(missing)
        for row in pool.map(measure, missing, [repetitions] * size, [most] * size):
            done[row["key"]] = row
            results.write(json.dumps(row) + "\n")
            results.flush()
    rows = [done[cell.key] for cell in wanted if cell.key in done]
    print("\n".join(table(rows)))
    for key in sorted(failing(rows)):
        row = done[key]
        print(f"failing: {key}: {[round(held / row['repetitions'], 3) for held in row['held']]}")


if __name__ == "__main__":
    main()
