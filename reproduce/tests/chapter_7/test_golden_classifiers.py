"""Golden values of chapter 7: sample sizes, radii, bounds and PAC privacy."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.core import published_sigma
from deniable.studies import (
    Box,
    Feature,
    OutputLaw,
    ProductLaw,
    Quadratic,
    QuadraticRegion,
    proved_box,
)
from deniable_reproduce.examples.example_14 import boundary_circle
from deniable_reproduce.pac_privacy import combined_delta, gaussian_excess, indicator_excess
from deniable_reproduce.published_concentration import published
from deniable_reproduce.tested_boxes import SampleTest, bound_from_test, density_bound, hoeffding_size, printed_product

PREFIXES = ("ex11.", "ex13.", "ex14.", "7.3.3.n", "7.3.3.rho_bound.", "T16.", "T17.")
"""The rows this file computes; tests/golden/untested.py names this file for them."""
ROWS = [
    row
    for row in json.loads((Path(__file__).parents[3] / "tests" / "golden" / "golden.json").read_text())
    if row["id"].startswith(PREFIXES)
]
Row = dict[str, Any]
LEAD = Quadratic(-0.25 * np.eye(2), np.array([-0.5, -0.5]), 0.5 + math.log(2))
"""Example 14: the first class's score less the second's."""
UNIT_CIRCLE = Quadratic(-np.eye(2), np.zeros(2), 1.0)


def size(row: Row) -> float:
    return hoeffding_size(row["omega"], row["tau"] / 2)


def circle_radius(row: Row) -> float:
    return QuadraticRegion((UNIT_CIRCLE,)).radius([0.5, 0.5])


def box_of_radius(row: Row) -> list[float]:
    """The box a check finds whose answer holds up to a distance of 0.2."""
    found = proved_box(lambda box: box.high[0] <= 0.7 and box.low[0] >= 0.3, [0.5], [0], [1], radius_steps=50, side_steps=0)
    assert found.box is not None
    return [round(found.box.low[0], 9), round(found.box.high[0], 9)]


def valid_bound(row: Row) -> float:
    eps, x, theta, tau = float(row["eps"]), row["x"], row["theta"], row["tau"]
    inside = published("ogpm", eps, x, x - theta, x + theta)
    assert printed_product(inside, tau) == pytest.approx(row["claimed"], abs=1e-9)
    # The lattice version says the same, to the lattice's width.
    law = OutputLaw(Feature().perturbed_by("ogpm", eps), x)
    numbers = law.atoms[0]
    chosen = numbers[(numbers >= x - theta) & (numbers <= x + theta)]
    places = ((float(chosen[0]), float(chosen[-1]), chosen.size),)
    box, test = Box((x - theta,), (x + theta,)), SampleTest(0.95, tau, 1, places)
    assert bound_from_test(box, test, ProductLaw([law])) == pytest.approx(row["value"], abs=2e-6)
    return density_bound(inside, tau, 2 * theta, math.exp(eps / 2))


def combined(row: Row) -> dict[str, float]:
    sigma = published_sigma(row["eps"], row["delta"])
    return {"thm16": combined_delta(row["delta"], row["d"]), "exact": gaussian_excess(row["eps"], sigma, row["d"])}


def indicator(row: Row) -> float:
    law = OutputLaw(Feature(0, 1, row["k"]).perturbed_by("k-rr", row["eps"]), 0)
    return indicator_excess(row["delta"], float(law.atoms[1][0]))


COMPUTE: dict[str, Callable[[Row], Any]] = {
    "ex11.n": size,
    "7.3.3.n": size,
    "ex14.R": lambda row: boundary_circle(LEAD)[1],
    "ex14.linf": lambda row: QuadraticRegion((LEAD,)).radius(row["x"]),
    "ex11.circle": circle_radius,
    "ex13.box": box_of_radius,
    "7.3.3.rho_bound.": valid_bound,
    "T16.": combined,
    "T17.": indicator,
}


@pytest.mark.parametrize("golden", ROWS, ids=lambda golden: golden["id"])
def test_golden_value(golden: Row) -> None:
    compute = next(work for prefix, work in COMPUTE.items() if golden["id"].startswith(prefix))
    found = compute({**golden["inputs"], "value": golden["value"], "claimed": golden["claimed"]})
    assert found == pytest.approx(golden["value"], rel=golden.get("tol", 1e-8))


def test_no_row_is_left_out() -> None:
    assert len(ROWS) == 12
    assert all(any(row["id"].startswith(prefix) for prefix in COMPUTE) for row in ROWS)
