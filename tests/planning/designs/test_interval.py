"""Designs on an interval: they are private, they meet the known optimum, and their bounds are bounds."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.core import OGPM, Binary, Epsilon, Interval, Window
from deniable.core.mechanisms.numeric.atoms import AtomsWindow
from deniable.errors import InvalidEpsilon, InvalidParameter, NotSupported
from deniable.estimators import average_error, worst_case
from deniable.planning import Answer, best_window_at, design
from deniable.planning.designs import cutting_planes
from deniable.planning.designs.interval import design_worst
from deniable.planning.designs.lower_bound import line_bound
from deniable.planning.designs.problem import distance_loss
from deniable.privacy import assert_conforms

UNIT = Interval(0, 1)
GOLDEN: dict[str, Any] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text(encoding="utf-8"))
}
ABSOLUTE = {0.5: 0.39527, 1: 0.31617, 2: 0.20082, 4: 0.07808, 6: 0.02940}
SQUARED = {0.5: 0.23500, 1: 0.19661, 2: 0.10688, 4: 0.02606, 6: 0.00630}
CASES = [("absolute", eps, value) for eps, value in ABSOLUTE.items()] + [("squared", eps, value) for eps, value in SQUARED.items()]


@cache
def unit(loss: Any, eps: float) -> Answer:
    """A design on [0, 1], made once."""
    return design(UNIT, {1: "absolute", 2: "squared"}.get(loss, loss), float(eps))


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "eps", "optimum"), CASES)
def test_the_known_optimum_is_met_from_both_sides(loss: str, eps: float, optimum: float) -> None:
    found = unit(loss, float(eps))
    assert found.certified
    assert 1 <= found.gap <= 1.01
    assert found.worst_case == pytest.approx(optimum, rel=5e-3)
    # The known values are rounded to five digits and solved on a grid of their own.
    assert found.lower_bound <= optimum * (1 + 1e-3) + 6e-6
    assert found.mechanism.certificate().holds
    # A design is measured at every input; the general search between inputs can miss the worst one by a hair.
    assert -1e-6 <= found.worst_case / worst_case(found.mechanism, loss).error - 1 <= 1e-5
    assert found.published["worst_case"] == pytest.approx(worst_case(OGPM(epsilon=eps), loss).error)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for name, row in GOLDEN.items() if name.startswith("LP.minimax.")], ids=lambda row: row["id"])
def test_golden_programs(row: dict[str, Any]) -> None:
    k, eps = row["inputs"]["k"], row["inputs"]["eps"]
    found = unit(k, float(eps))
    assert found.lower_bound * (1 - 1e-3) <= row["value"]["lp"] <= found.worst_case * (1 + 1e-3)


@pytest.mark.slow
def test_no_known_mechanism_is_below_the_bounds() -> None:
    for eps in (0.7,):
        for loss, k in (("absolute", 1), ("squared", 2)):
            worst, average = design(UNIT, loss, eps), design(UNIT, loss, eps, "uniform")
            for mechanism in (OGPM(epsilon=eps), Window(epsilon=eps, loss_exponent=k), AtomsWindow(epsilon=eps), worst.mechanism):
                assert worst_case(mechanism, loss).error >= worst.lower_bound
                assert average_error(mechanism, loss) >= average.lower_bound


@pytest.mark.slow
def test_any_weights_prove_a_valid_bound() -> None:
    # Arbitrary cuts, nothing solved: the bound must stay below the optimum, and below what a known mechanism reaches.
    x = np.array([0.0, 0.1, 0.35, 0.5])
    for k in (0.5, 1.0, 1.5, 2.0, 3.0):
        best = design(UNIT, k, 2).worst_case
        for level in (0.05, 0.2, 0.4):
            levels, weights = np.full(4, level), np.array([0.4, 0.1, 0.3, 0.2])
            assert line_bound(distance_loss(k, 1.0), math.exp(2), x, levels, weights) <= best


@pytest.mark.slow
def test_a_function_of_the_distance_is_a_loss_too() -> None:
    designed = design(Interval(0, 10), lambda d: np.minimum(d, 2.0), 1)
    assert 1 <= designed.gap <= 1.01
    power = design(Interval(0, 10), lambda d: d**1.5, 1)
    assert power.lower_bound <= design(Interval(0, 10), "power:1.5", 1).worst_case <= power.worst_case * 1.01


def test_errors_scale_with_the_domain() -> None:
    here, there = design(UNIT, "squared", 3), design(Interval(-2, 8), "squared", 3)
    assert there.worst_case == pytest.approx(100 * here.worst_case, rel=1e-9)
    assert there.lower_bound == pytest.approx(100 * here.lower_bound, rel=1e-6)


def test_at_a_point_the_best_window_is_that_of_the_dissertation() -> None:
    assert best_window_at(0.2, 1, math.e)[1] == pytest.approx(GOLDEN["ex8.p"]["value"], rel=1e-6)
    designed = design(UNIT, "absolute", 1, ("at", 0.2))
    assert designed.lower_bound == 0
    assert math.isinf(designed.gap)
    assert designed.worst_case < designed.published["worst_case"]
    assert "always reporting" in designed.method


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "eps", "prior"), [("absolute", 1, "worst"), ("squared", 4, "worst"), ("absolute", 3, "uniform")])
def test_designs_pass_the_conformance_suite(loss: str, eps: float, prior: str) -> None:
    designed = design(Interval(-1, 3), loss, eps, prior)
    assert designed.mechanism.name == "designed"
    assert_conforms(designed.mechanism)


def test_a_solver_without_time_still_gives_a_valid_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "deniable.planning.designs.interval.solve", lambda *a, **k: cutting_planes.solve(*a, **{**k, "seconds": 0.0})
    )
    designed = design_worst(UNIT, distance_loss("absolute", 1.0), Epsilon(2))
    assert not designed.certified
    assert 0.15 < designed.lower_bound <= ABSOLUTE[2] <= designed.worst_case
    assert designed.mechanism.certificate().holds
    # For squared error two ends of the domain prove something without any solver.
    squared = design_worst(UNIT, distance_loss("squared", 1.0), Epsilon(4))
    assert math.exp(4) / (1 + math.exp(4)) ** 2 * (1 - 1e-9) <= squared.lower_bound <= SQUARED[4]
    assert not squared.certified


def test_questions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidEpsilon, match=r"at least 0\.001"):
        design(UNIT, "absolute", 1e-6)
    with pytest.raises(InvalidParameter, match="never fall"):
        design(UNIT, lambda d: np.cos(d), 1)
    with pytest.raises(InvalidParameter, match="nothing to minimise"):
        design(UNIT, lambda d: np.ones_like(d), 1)
    with pytest.raises(InvalidParameter, match="finite"):
        design(UNIT, lambda d: np.full_like(d, np.nan), 1)
    with pytest.raises(InvalidParameter, match="loss must be"):
        design(UNIT, "cubic", 1)
    with pytest.raises(InvalidParameter, match="prior"):
        design(UNIT, "absolute", 1, "gaussian")
    with pytest.raises(InvalidParameter, match="prior"):
        design(UNIT, "absolute", 1, ("at", 7))
    with pytest.raises(InvalidParameter, match="prior"):
        design(UNIT, "absolute", 1, [1, -1])
    with pytest.raises(InvalidParameter, match="domain"):
        design(Binary(), "absolute", 1)
    with pytest.raises(NotSupported, match="power loss"):
        design(UNIT, lambda d: d, 1, "uniform")
    with pytest.raises(NotSupported, match="unbiased"):
        design(UNIT, "absolute", 1, unbiased=True)
