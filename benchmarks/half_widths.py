"""Who has the shortest intervals that hold? Shares of eight bins: ours beside the bootstrap of published fits, trees and subsets.

    python benchmarks/half_widths.py [--quick] [--surveys 25] [--resamples 25] [--json FILE]

ours (sw)        `distribution`: intervals that assume nothing about the shape (reports by sw)
ems, em, penalized   the fit of each, and the percentiles of its bootstrap (the same reports)
tree             a hierarchical histogram, fan-out 4 (reports of its own)
subset, k-rr     `shares` of the bins themselves (reports of their own)

A method is valid at an epsilon and a number of people when its intervals hold in at least 93.5 % of the surveys of every shape,
averaged over the bins, up to chance. The half-width is the mean over shapes and bins. The last column is that of the mechanism
whose intervals the planner predicts to be shortest, over the shortest of all valid methods; the one before is ours over the
shortest valid of those that read the same reports. `--quick` takes a minute, the whole some forty.
"""

# ruff: noqa: E402  # threads and paths are set before the imports that look at them
from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")
sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]  # numba looks for the package, and must not find coverage.py
sys.path.insert(0, str(Path(__file__).resolve().parent))

import argparse
import json
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from intervals.answers import LEVEL, bins
from intervals.shapes import NUMBERS
from scipy import special

from deniable.batch import Floats, Reports, accumulator_for, randomize_many
from deniable.core import Categories, Interval, make_mechanism
from deniable.estimators import HierarchicalHistogram, shape, shares
from deniable.planning import Question, Way, ways

BINS, CELLS = 8, 2400
EPSILONS, PEOPLE = (0.5, 1.0, 4.0), (200, 10_000)
SAME_REPORTS = ("ours (sw)", "ems", "em", "penalized")
METHODS = (*SAME_REPORTS, "tree", "subset", "k-rr")
LEAST, CHANCE = 0.935, 1e-3


def answers(values: Floats, epsilon: float, resamples: int, draws: np.random.Generator) -> Iterator[tuple[str, Floats, Floats]]:
    """Every method with the lower and upper ends of its bins."""
    wave: Any = make_mechanism("sw", domain=Interval(0, 1, cells=CELLS), epsilon=epsilon)
    reports, people = randomize_many(wave, values), len(values)
    yield "ours (sw)", *shape(accumulator_for(wave).add(reports)).bins(BINS).interval(LEVEL)
    fits: dict[str, list[Floats]] = {"ems": [], "em": [], "penalized": []}
    for _ in range(resamples):
        again = accumulator_for(wave).add(Reports(wave, reports.outputs[draws.integers(people, size=people)]))
        for method, drawn in fits.items():
            drawn.append(shape(again, method=method).bins(BINS).value)  # type: ignore[arg-type]
    for method, drawn in fits.items():
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        yield method, low, high
    tree = HierarchicalHistogram(Interval(0, 1), epsilon, 4, 2)
    summed = tree.accumulate(tree.randomize_many(values))
    ends = [summed.range_share(i / BINS, (i + 1) / BINS).interval(LEVEL) for i in range(BINS)]
    yield "tree", np.array([low for low, _ in ends]), np.array([high for _, high in ends])
    entered = np.minimum((values * BINS).astype(np.int64), BINS - 1)
    for name in ("subset", "k-rr"):
        on_bins: Any = make_mechanism(name, domain=Categories(BINS), epsilon=epsilon)
        yield name, *shares(randomize_many(on_bins, entered)).interval(LEVEL)


def measured(task: tuple[str, float, int, int, int]) -> dict[str, Any]:
    """One shape, epsilon and number of people: for every method how often a bin held, and its mean half-width."""
    name, epsilon, people, surveys, resamples = task
    held, half = dict.fromkeys(METHODS, 0.0), dict.fromkeys(METHODS, 0.0)
    for survey in range(surveys):
        draws = np.random.default_rng([zlib.crc32(name.encode()), people, survey])
        values = NUMBERS[name](draws, people)
        truth = bins(BINS)(values)
        for method, low, high in answers(values, epsilon, resamples, draws):
            low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
            held[method] += float(np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high)))
            half[method] += float(np.mean(high - low)) / 2
    return {
        "shape": name,
        "epsilon": epsilon,
        "people": people,
        "surveys": surveys,
        "held": {method: held[method] / surveys for method in METHODS},
        "half": {method: half[method] / surveys for method in METHODS},
    }


def picked(epsilon: float, people: int) -> str:
    """Which of these mechanisms the planner predicts to have the shortest intervals."""
    question = Question(task="distribution", domain=Interval(0, 1), users=people, epsilon=epsilon, bins=BINS)
    names = {"sw": "ours (sw)", "subset": "subset", "k-rr": "k-rr"}
    every = ways(question, question.epsilon, slow=False)  # type: ignore[arg-type]
    errors = {names[way.name]: way.predict(people).error for way in every if isinstance(way, Way) and way.name in names}
    return min(errors, key=lambda name: errors[name])


def table(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Markdown: half-widths, those of methods that are not valid in brackets with their least coverage."""
    yield f"| ε | people | {' | '.join(METHODS)} | same reports | planner's pick |"
    yield "|---|---|" + "---|" * (len(METHODS) + 2)
    for epsilon, people in sorted({(cell["epsilon"], cell["people"]) for cell in cells}):
        here = [cell for cell in cells if (cell["epsilon"], cell["people"]) == (epsilon, people)]
        half = {method: float(np.mean([cell["half"][method] for cell in here])) for method in METHODS}
        least = {method: min(cell["held"][method] for cell in here) for method in METHODS}
        # Bins of one survey hang together, so a survey counts as one trial; as many tests as there are cells.
        surveys = here[0]["surveys"]
        valid = [m for m in METHODS if special.bdtr(np.floor(least[m] * surveys), surveys, LEAST) >= CHANCE / len(cells)]
        shown = (f"{half[m]:.3f}" if m in valid else f"({half[m]:.3f}, {100 * least[m]:.0f} %)" for m in METHODS)
        shortest = min((half[m] for m in valid), default=float("nan"))
        same = min((half[m] for m in valid if m in SAME_REPORTS), default=float("nan"))
        pick = picked(epsilon, people)
        yield (
            f"| {epsilon:g} | {people:,} | {' | '.join(shown)} | {half['ours (sw)'] / same:.2f} "
            f"| {pick}: {half[pick] / shortest:.2f} |"
        )


def main() -> None:
    """Measure, then print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="five surveys of three shapes, ten resamples")
    parser.add_argument("--surveys", type=int, default=25)
    parser.add_argument("--resamples", type=int, default=25)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also keep every cell in a file")
    chosen = parser.parse_args()
    names = ("beta(2,5)", "two peaks", "zero-inflated") if chosen.quick else tuple(NUMBERS)
    effort = (5, 10) if chosen.quick else (chosen.surveys, chosen.resamples)
    tasks = [(name, epsilon, people, *effort) for epsilon in EPSILONS for people in PEOPLE for name in names]
    cells = []
    with ProcessPoolExecutor(chosen.workers) as pool:
        for number, cell in enumerate(pool.map(measured, tasks), 1):
            cells.append(cell)
            print(f"{number} of {len(tasks)} cells", file=sys.stderr)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(cells), encoding="utf-8")
    print("\n".join(table(cells)))


if __name__ == "__main__":
    main()
