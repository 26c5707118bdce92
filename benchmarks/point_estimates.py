"""How far five estimators of a distribution are from the truth: twelve shapes x epsilon x numbers of reports.

    python benchmarks/point_estimates.py [--quick] [--repetitions 10] [--json FILE]

penalized   the default: the most likely distribution whose logarithm is as smooth as the reports ask for (reports by sw)
ems         as published: 1,024 cells, smoothed by (1, 2, 1)/4 after every step (the same reports)
em          as published: 1,024 cells, stopped when the log-likelihood changes by less than 0.001 e**epsilon (the same reports)
tree        a hierarchical histogram made consistent, fan-out 4, 1,024 leaves (reports of its own)
subset      subset selection on 32 bins, shares projected on the simplex (reports of its own)

Measures: the Wasserstein-1 distance, the Kolmogorov-Smirnov distance, the largest error of 16 bins' shares, and the root mean
squared error of the mean; on the interval from 0 to 1, averaged over the repetitions. A cell is one shape, epsilon and number
of reports. A ratio is the average error over the least of the five in that cell. One that is above 1.15 by more than twice the
standard error of the difference is listed. The whole table takes three to four minutes on one core, `--quick` less than one.
"""

# ruff: noqa: E402  # threads are set before the imports that look at them
from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")
# Numba imports the package `coverage` if there is one, and must not come upon coverage.py instead.
sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]
sys.path.insert(0, str(Path(__file__).resolve().parent))

import argparse
import json
import math
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from intervals.shapes import NUMBERS as SHAPES

from deniable.batch import Floats, accumulator_for
from deniable.core import Categories, Interval, make_mechanism
from deniable.estimators import HierarchicalHistogram, shape, shares

EPSILONS, NUMBERS = (0.5, 1.0, 2.0, 4.0), (1_000, 100_000)
METHODS = ("penalized", "ems", "em", "tree", "subset")
MEASURES = ("Wasserstein", "KS", "largest bin", "mean")
GRID, SHOWN, SUBSET_BINS = 1024, 16, 32
FAR = 1.15
LEAST = 1e-4
"""Errors below this count as this: between two of them there is nothing to choose."""
REPETITIONS, QUICK = 10, 2


def cumulative(cells: Floats) -> Floats:
    """The share up to every point of a grid, from the shares of equal cells."""
    summed = np.concatenate([[0.0], np.cumsum(cells)]) / cells.sum()
    return np.asarray(np.interp(np.arange(GRID + 1) / GRID, np.arange(len(cells) + 1) / len(cells), summed))


def estimates(values: Floats, epsilon: float) -> dict[str, Floats]:
    """The cumulative distribution of every method."""
    wave = make_mechanism("sw", epsilon=epsilon)
    sums = accumulator_for(wave).add(wave.randomize_many(values))
    below = {name: cumulative(shape(sums, method=name).fine.shares) for name in ("penalized", "ems", "em")}  # type: ignore[arg-type]
    tree = HierarchicalHistogram(Interval(0, 1), epsilon, 4, 5)
    below["tree"] = np.clip(cumulative(tree.accumulate(tree.randomize_many(values)).shares().value), 0.0, 1.0)
    bins = make_mechanism("subset", domain=Categories(SUBSET_BINS), epsilon=epsilon)
    entered = np.minimum((values * SUBSET_BINS).astype(np.int64), SUBSET_BINS - 1)
    below["subset"] = cumulative(shares(bins.randomize_many(entered)).projected("simplex").value)
    return below


def errors(below: Floats, values: Floats) -> tuple[float, float, float, float]:
    """The four measures; of the mean, the squared error."""
    points = np.arange(GRID + 1) / GRID
    truth = np.searchsorted(np.sort(values), points, "left") / len(values)
    truth[-1] = 1.0
    away = below - truth
    middles = (points[:-1] + points[1:]) / 2
    mean = float(np.diff(below) @ middles - values.mean())
    bins = np.diff(away[:: GRID // SHOWN])
    return float(np.abs(away).mean()), float(np.abs(away).max()), float(np.abs(bins).max()), mean**2


def measured(name: str, draw: Callable[..., Floats], epsilon: float, n: int, repetitions: int) -> dict[str, Any]:
    """One cell: repetitions x methods x measures."""
    rows = []
    for repetition in range(repetitions):
        values = draw(np.random.default_rng([zlib.crc32(name.encode()), n, repetition]), n)
        below = estimates(values, epsilon)
        rows.append([errors(below[method], values) for method in METHODS])
    return {"shape": name, "epsilon": epsilon, "n": n, "errors": rows}


def averages(cell: dict[str, Any]) -> Floats:
    """Methods x measures; of the mean, the root."""
    found = np.asarray(cell["errors"], np.float64).mean(axis=0)
    found[:, 3] = np.sqrt(found[:, 3])
    return np.maximum(found, LEAST)


def behind(cell: dict[str, Any]) -> Iterator[str]:
    """Where the default is farther from the best than it may be, beyond chance."""
    every, usual = np.asarray(cell["errors"], np.float64), averages(cell)
    for place, measure in enumerate(MEASURES):
        best = int(usual[:, place].argmin())
        ratio = usual[0, place] / usual[best, place]
        bar = FAR**2 if measure == "mean" else FAR
        away = every[:, 0, place] - bar * every[:, best, place]
        spread = away.std(ddof=1) / math.sqrt(len(away)) if len(away) > 1 else math.inf
        if best and ratio > FAR and away.mean() > 2 * spread:
            yield (
                f"- {cell['shape']}, ε = {cell['epsilon']:g}, {cell['n']:,} reports, {measure}: {ratio:.2f} times {METHODS[best]} "
                f"({usual[0, place]:.4f} and {usual[best, place]:.4f})"
            )


def table(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Markdown: for every epsilon and number of reports, the geometric means over the shapes of the ratios to the best."""
    yield f"| ε | reports | measure | {' | '.join(METHODS)} | error of the best | cells where penalized is best, within {FAR} |"
    yield "|---|---|---|" + "---|" * (len(METHODS) + 2)
    for epsilon in sorted({cell["epsilon"] for cell in cells}):
        for n in sorted({cell["n"] for cell in cells if cell["epsilon"] == epsilon}):
            chosen = np.array([averages(cell) for cell in cells if cell["epsilon"] == epsilon and cell["n"] == n])
            for place, measure in enumerate(MEASURES):
                least = chosen[:, :, place].min(axis=1)
                ratios = chosen[:, :, place] / least[:, None]
                typical = np.exp(np.log(ratios).mean(axis=0))
                first, near = int((ratios[:, 0] == 1).sum()), int((ratios[:, 0] <= FAR).sum())
                row = " | ".join(f"**{one:.2f}**" if one == typical.min() else f"{one:.2f}" for one in typical)
                yield f"| {epsilon:g} | {n:,} | {measure} | {row} | {least.mean():.4f} | {first}, {near} of {len(chosen)} |"


def main() -> None:
    """Measure, then print the table and where the default is behind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two repetitions of epsilon 1 and 4")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--json", type=Path, help="also keep every error in a file")
    chosen = parser.parse_args()
    repetitions = chosen.repetitions or (QUICK if chosen.quick else REPETITIONS)
    started, cells = time.process_time(), []
    for epsilon in (1.0, 4.0) if chosen.quick else EPSILONS:
        for n in NUMBERS:
            for name, draw in SHAPES.items():
                cells.append(measured(name, draw, epsilon, n, repetitions))
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(cells), encoding="utf-8")
    print("\n".join(table(cells)))
    print(f"\n{len(cells)} cells, {repetitions} repetitions, {time.process_time() - started:.0f} s of processor time\n")
    late = [line for cell in cells for line in behind(cell)]
    print("\n".join([f"Beyond {FAR} times the best: {len(late)} of {len(cells) * len(MEASURES)}", *late]))


if __name__ == "__main__":
    main()
