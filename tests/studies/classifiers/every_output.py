"""What exact utilities are compared with: the model asked at every combination of outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.studies import Feature, ProductLaw, perturbations, product_law


def brute(model: Any, record: Floats, sensitive: list[int], law: ProductLaw, tolerance: float | None = None) -> float:
    """rho by asking the model at every combination of outputs; with a tolerance, numbers that near count."""
    atoms = [one.atoms for one in law.laws]
    rows = np.repeat(record[None], math.prod(numbers.size for numbers, _ in atoms), axis=0)
    rows[:, sensitive] = np.array(list(product(*(numbers for numbers, _ in atoms))))
    chances = np.array([math.prod(chosen) for chosen in product(*(chances for _, chances in atoms))])
    said, own = model.predict(rows), model.predict(record[None])[0]
    return float(chances[said == own if tolerance is None else np.abs(said - own) <= tolerance].sum())


def law_of(
    features: Mapping[int, Feature],
    record: Floats,
    sensitive: list[int],
    name: str = "k-rr",
    epsilon: float = 2,
    **parameters: Any,
) -> ProductLaw:
    """What a record's sensitive columns become under a mechanism."""
    chosen = perturbations(name, [features[column] for column in sensitive], epsilon, **parameters)
    return product_law(chosen, [float(record[column]) for column in sensitive])
