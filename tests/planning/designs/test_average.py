"""Designs for a prior: they meet the known optimum, their bounds are bounds, and any prior will do."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.core import Interval
from deniable.estimators import average_error
from deniable.planning import Answer, best_quantiser, design
from deniable.planning.designs import cutting_planes
from deniable.planning.designs.lower_bound import spread_bound

UNIT = Interval(0, 1)
GOLDEN: dict[str, Any] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text(encoding="utf-8"))
}


@cache
def unit(loss: Any, eps: float, prior: str = "uniform") -> Answer:
    """A design on [0, 1], made once."""
    return design(UNIT, {1: "absolute", 2: "squared"}.get(loss, loss), float(eps), prior)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for name, row in GOLDEN.items() if name.startswith("LP.avg.")], ids=lambda row: row["id"])
def test_golden_averages(row: dict[str, Any]) -> None:
    found = unit(row["inputs"]["k"], float(row["inputs"]["eps"]))
    # The golden programs have a prior on 161 points, which a mechanism may use: they lie a little below the continuous optimum.
    assert found.worst_case == pytest.approx(row["value"]["lp"], rel=5e-3)
    assert 1 <= found.gap <= 1.01
    assert found.worst_case == pytest.approx(average_error(found.mechanism, row["inputs"]["k"]), rel=1e-9)
    assert found.published["worst_case"] == pytest.approx(row["value"]["ogpm"], rel=2e-5)


@pytest.mark.parametrize("eps", [0.5, 1, 2, 4])
def test_the_quantiser_is_a_closed_form_and_never_below_the_bound(eps: float) -> None:
    cells, error = best_quantiser(eps)
    golden = GOLDEN["avgL2.krrquant." + f"eps{eps:g}"]["value"]
    assert cells == golden["m"]
    assert error == pytest.approx(golden["mse"], rel=1e-9)
    found = unit("squared", float(eps))
    assert found.lower_bound <= error
    assert found.worst_case <= error * 1.001


@pytest.mark.slow
def test_a_prior_by_weights_may_be_lopsided() -> None:
    lopsided, even = design(UNIT, "absolute", 2, [3, 1]), design(UNIT, "absolute", 2, [1, 1])
    assert 1 <= lopsided.gap <= 1.01
    assert lopsided.worst_case < even.worst_case == pytest.approx(design(UNIT, "absolute", 2, "uniform").worst_case, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("k", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_any_levels_prove_a_valid_bound(k: float) -> None:
    # Arbitrary cuts, nothing solved: the bound must stay below what a mechanism reaches.
    average = design(UNIT, k, 2, "uniform").worst_case
    cells = (np.arange(16) + 0.5) / 16
    for level in (0.1, 0.4):
        assert spread_bound(k, math.exp(2), cells, 1 / 16, np.full(16, level), np.full(16, 1 / 16)) <= average


@pytest.mark.parametrize("k", [1.0, 2.0])
def test_the_bound_of_spread_values_stays_below_the_least_of_h(k: float) -> None:
    # h by brute force, for values on a fine grid and levels that vary: the bound's shift is enough, and not much too large.
    e, cells = math.exp(2), (np.arange(8) + 0.5) / 8
    levels = np.array([0.5, 0.6, 0.4, 0.55, 0.55, 0.4, 0.6, 0.5])
    x = (np.arange(4096) + 0.5) / 4096
    own, y = np.interp(x, cells, levels), np.linspace(0, 1, 401)
    shift = float(own.mean()) - spread_bound(k, e, cells, 1 / 8, levels, np.full(8, 1 / 8))

    def least(lowered: float) -> float:
        above = np.abs(y[:, None] - x) ** k - own + lowered
        return float(np.where(above > 0, above, e * above).mean(axis=1).min())

    assert least(shift) >= 0
    assert least(0.95 * shift) < 0


def test_a_solver_without_time_still_gives_a_valid_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "deniable.planning.designs.average.solve", lambda *a, **k: cutting_planes.solve(*a, **{**k, "seconds": 0.0})
    )
    designed = design(UNIT, "absolute", 2, "uniform")
    assert not designed.certified
    assert 0.14 < designed.lower_bound <= GOLDEN["LP.avg.L1.eps2"]["value"]["lp"] * 1.001 <= designed.worst_case
    assert designed.mechanism.certificate().holds


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["uniform", (1, 4, 2, 1), (2, 1, 1, 2)])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_little_is_left_to_gain_for_larger_epsilon(loss: str, prior: Any) -> None:
    designed = design(UNIT, loss, 5, prior)
    assert 1 <= designed.gap <= 1.003
    assert designed.certified
    assert designed.mechanism.certificate().holds
