"""The case studies of chapter 7 once more with the setting of the released programs: training, search for a box, counting.

Read in github.com/ZhengYeah/QCU-LDP 4acd03e. The trained models are released as pickles, which this package does not open; a
model is trained here as the released scripts train it.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from deniable.batch import Floats, Integers, Keystream
from deniable.studies import Cells, exact_region
from deniable_reproduce.artifact import MissingData, Run
from deniable_reproduce.case_data import BANK, BANK_SCALES, bank, csv_rows, stroke
from deniable_reproduce.pictures import significant
from deniable_reproduce.released_data import WHOLE
from deniable_reproduce.released_walks import distance_window
from deniable_reproduce.walks import uniforms

Same = Callable[[Floats], NDArray[np.bool_]]
OMEGA = 0.05
STEPS = (0.4, 0.3, 0.2, 0.1, 0.05)
TRIES = 100
POINTS = 100
DELTA = 0.052
"""Per feature; two features share 0.1."""


def released_stroke(run: Run) -> tuple[Floats, Integers]:
    """The first 1,000 patients; a few have a BMI above 50, which the released scripts leave above 1."""
    rows = csv_rows(run.file("stroke.csv", "the Stroke Prediction dataset"))[:1000]
    bmi = np.array([float(row["bmi"]) / 50 if row["bmi"] != "N/A" else np.nan for row in rows])
    table, labels = stroke(run)
    return np.column_stack([table[:, :-1], np.where(np.isnan(bmi), np.nanmean(bmi), bmi)]), labels


def released_bank(run: Run) -> tuple[Floats, Integers]:
    """All customers; the balance is divided by 250,000."""
    table, labels = bank(run)
    scales = np.ones(table.shape[1])
    scales[BANK.index("Balance")] = BANK_SCALES[BANK.index("Balance")] / 250_000
    return table * scales, labels


def released_model(kind: str, table: Floats, labels: Integers) -> Any:
    """Four fifths of the records, drawn with seed 42; a regression or a forest of 100 trees without a depth."""
    if importlib.util.find_spec("sklearn") is None:
        raise MissingData("this artifact trains a model and needs scikit-learn: pip install 'deniable[models]'.")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    rows, _, classes, _ = train_test_split(table, labels, test_size=0.2, random_state=42, stratify=labels)
    model = LogisticRegression(random_state=42) if kind == "LR" else RandomForestClassifier(100, random_state=42, n_jobs=1)
    return model.fit(rows, classes)


def same_answer(model: Any, record: Floats, sensitive: Sequence[int]) -> Same:
    """For values of the sensitive features: is the answer the record's own? A forest is looked up in its cells."""
    region = exact_region(model, record, sensitive)
    if isinstance(region, Cells):
        return lambda values: region.same[tuple(np.searchsorted(e, v) for e, v in zip(region.edges, values.T, strict=True))]
    own = model.predict(record[None])[0]

    def same(values: Floats) -> NDArray[np.bool_]:
        rows = np.repeat(record[None], len(values), axis=0)
        rows[:, list(sensitive)] = values
        return np.asarray(model.predict(rows) == own)

    return same


def released_box(same: Same, point: Floats, tolerance: float, keystream: Keystream) -> tuple[Floats, Floats]:
    """The released search: a cube by bisection, then random growth by fixed steps, each tested on uniform points of the box."""
    count, size = int(math.log(2 / OMEGA) / (2 * tolerance**2)), len(point)

    def accepted(low: Floats, high: Floats) -> bool:
        points = low + uniforms(count * size, keystream).reshape(count, size) * (high - low)
        return float(np.mean(~same(np.clip(points, 0, 1)))) <= tolerance

    lower, radius = 0.0, 0.5
    while radius - lower > 1e-2:
        middle = (lower + radius) / 2
        lower, radius = (middle, radius) if accepted(point - middle, point + middle) else (lower, middle)
    low, high = np.clip(point - radius, 0, 1), np.clip(point + radius, 0, 1)
    for step in STEPS:
        for _ in range(TRIES):
            grown = step * (uniforms(2 * size, keystream).reshape(2, size) < 0.5)
            tried = np.clip(low - grown[0], 0, 1), np.clip(high + grown[1], 0, 1)
            if np.sum(tried[1] - tried[0]) > np.sum(high - low) and accepted(*tried):
                low, high = tried
    return low, high


def released_accuracy(
    same: Same, point: Floats, mechanism: str, run: Run, purpose: str, draws: int, scale: float = 0.5
) -> list[float]:
    """How often the answer survives at ε = 1, …, 8, as the released programs count it.

    Noise outside of [0, 1] is drawn again, and every such draw counts as a failure. `scale` is Exponential's share of ε.
    """
    accuracies = []
    for epsilon in WHOLE:
        coins = uniforms(2 * len(point) * draws, run.keystream(f"{purpose} {mechanism} {epsilon}")).reshape(2, draws, len(point))
        level = scale * epsilon if mechanism == "Exponential" else epsilon
        values, failures = _drawn(mechanism, np.broadcast_to(point, (draws, len(point))), level, coins[0], coins[1])
        accuracies.append(float(np.mean(same(values))) / (1 + failures))
    return accuracies


def box_ends(
    same: Same, point: Floats, tolerance: float, ends: Mapping[str, tuple[int, int]], run: Run, purpose: str, searches: int
) -> dict[str, list[float]]:
    """By the name of an end of the box (which axis, 0 for its low and 1 for its high side): where every search puts it."""
    by_name: dict[str, list[float]] = {name: [] for name in ends}
    for search in range(1, searches + 1):
        box = released_box(same, point, tolerance, run.keystream(f"{purpose} search {search}"))
        for name, (axis, side) in ends.items():
            by_name[name].append(significant(float(box[side][axis]), 4))
    return by_name


def searched_ends(key: str, ends: Sequence[float]) -> dict[str, float]:
    """The median of several searches, and how far they differ, under the names an artifact gives them."""
    return {
        f"{key}, released setting": float(np.median(ends)),
        f"{key}, least of our searches": min(ends),
        f"{key}, largest of our searches": max(ends),
    }


def _drawn(mechanism: str, points: Floats, epsilon: float, first: Floats, second: Floats) -> tuple[Floats, float]:
    """Values in [0, 1], and how many draws outside of it come before a record's values on average."""
    if mechanism == "PM":
        return distance_window(points, np.full(points.shape, epsilon), first, second), 0.0
    if mechanism == "Exponential":
        steps = np.arange(POINTS) / POINTS
        columns = []
        for x, coins in zip(points[0], first.T, strict=True):
            whole = np.cumsum(np.exp(-epsilon * np.abs(x - steps)))
            columns.append(steps[np.minimum(np.searchsorted(whole, coins * whole[-1]), POINTS - 1)])
        return np.stack(columns, axis=1), 0.0
    cdf, inverse = _noise(mechanism, epsilon)
    below, above = cdf(-points), cdf(1 - points)
    inside = (above - below)[0]
    return points + inverse(below + first * (above - below)), float(np.sum(1 / inside - 1))


def _noise(mechanism: str, epsilon: float) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """The distribution function of the noise and its inverse."""
    if mechanism == "Gaussian":
        log = math.log(2 / DELTA)
        sigma = math.sqrt(0.5) * (math.sqrt(log + epsilon) + math.sqrt(log)) / epsilon
        return lambda z: np.asarray(ndtr(z / sigma)), lambda p: np.asarray(sigma * ndtri(p))

    def cdf(z: Floats) -> Floats:
        tail = np.exp(-epsilon * np.abs(z)) / 2
        return np.where(z < 0, tail, 1 - tail)

    def inverse(p: Floats) -> Floats:
        return np.where(p < 0.5, np.log(np.maximum(2 * p, 1e-300)), -np.log(np.maximum(2 - 2 * p, 1e-300))) / epsilon

    return cdf, inverse
