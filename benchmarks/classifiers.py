"""How fast exact classifier utility is computed, and against what.

    python benchmarks/classifiers.py [--json]

product   one rho from a known box, mechanism built: two sensitive features, milliseconds
forest    region of a 100-tree forest and the whole curve, 8 epsilons x 6 mechanisms, in seconds, everything included
line      the same for logistic regression
ratio     one exact rho of the forest against one simulation of 2,000 draws and of a million (extrapolated from 100,000)

Times are the best of several runs; ratios are measured in one run.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from speed.best import best_time

from deniable.batch import draw_many
from deniable.studies import Box, Feature, exact_region, perturbations, product_law, utility

MECHANISMS: dict[str, dict[str, Any]] = {
    "ogpm": {},
    "sw": {},
    "k-rr": {},
    "exponential": {},
    "laplace": {},
    "gaussian": {"delta": "0.1", "sigma": "exact"},
}
EPSILONS = range(1, 9)
SENSITIVE = [0, 1]
ROWS = 3000


def data() -> tuple[Any, Any]:
    """Five features, a bent boundary and noise: fully grown trees have more than a thousand thresholds per feature."""
    source = np.random.Generator(np.random.PCG64(1))
    rows = source.random((ROWS, 5))
    labels = rows[:, 0] + 0.7 * rows[:, 1] ** 2 + 0.5 * rows[:, 2] + 0.2 * source.normal(size=ROWS) > 1.1
    return rows, labels.astype(int)


def curve(model: Any, record: Any, features: list[Feature]) -> list[float]:
    """rho of one record for every mechanism and epsilon, from nothing but the model."""
    region = exact_region(model, record, SENSITIVE)
    values = [float(record[column]) for column in SENSITIVE]
    found = []
    for name, parameters in MECHANISMS.items():
        for epsilon in EPSILONS:
            law = product_law(perturbations(name, features, epsilon, **parameters), values)
            found.append(utility(region, law).value)
    return found


def product_form(features: list[Feature], values: list[float]) -> dict[str, float]:
    """Milliseconds per rho of a box: the law of this record, and the probability of both sides."""
    box = Box((0.2, 0.3), (0.9, 0.8))
    found = {}
    for name, parameters in MECHANISMS.items():
        chosen = perturbations(name, features, 3, **parameters)
        product_law(chosen, values).probability(box.low, box.high)
        found[name] = 1e3 * best_time(lambda chosen=chosen: utility(box, product_law(chosen, values)), 50)  # type: ignore[misc]
    return found


def simulated(model: Any, record: Any, features: list[Feature], draws: int) -> float:
    """The share of draws that keep the answer."""
    rows = np.repeat(record[None], draws, axis=0)
    for column, one in zip(SENSITIVE, perturbations("ogpm", features, 3), strict=True):
        rows[:, column] = one.decode(draw_many(one.mechanism.channel, np.full(draws, one.index(float(record[column])))))
    return float((model.predict(rows) == model.predict(record[None])[0]).mean())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows, labels = data()
    forest = RandomForestClassifier(100, random_state=0).fit(rows, labels)
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
    record = rows[7]
    curve(forest, record, [Feature(0, 1, 10)] * 2)  # compiles the kernels
    # Features that were not used before: every mechanism of the timed curve is built from nothing.
    forest_seconds = best_time(lambda: curve(forest, record, [Feature(0, 1), Feature(0, 1)]), 1)
    line_seconds = best_time(lambda: curve(line, record, [Feature(0, 1, 101), Feature(0, 1, 101)]), 1)
    features = [Feature(0, 1), Feature(0, 1)]
    region = exact_region(forest, record, SENSITIVE)
    law = product_law(perturbations("ogpm", features, 3), [float(record[0]), float(record[1])])
    exact = best_time(lambda: utility(region, law))
    few, many = (best_time(lambda n=n: simulated(forest, record, features, n), 3) for n in (2000, 100_000))  # type: ignore[misc]
    found = {
        "product_ms": product_form(features, [float(record[0]), float(record[1])]),
        "forest_cells": list(region.same.shape),  # type: ignore[union-attr]
        "forest_region_seconds": best_time(lambda: exact_region(forest, record, SENSITIVE), 3),
        "forest_curve_seconds": forest_seconds,
        "line_curve_seconds": line_seconds,
        "exact_ms": 1e3 * exact,
        "ratio_2000_draws": few / exact,
        "ratio_million_draws": 10 * many / exact,
    }
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:24}", value if not isinstance(value, float) else f"{value:.3g}")


if __name__ == "__main__":
    main()
