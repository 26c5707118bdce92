"""In the plane: designs beat splitting epsilon, and their bounds hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.charts import design_chart
from deniable.core import Interval, Rectangle
from deniable.errors import NotSupported
from deniable.planning import design
from deniable.planning.designs.plane_bound import _least_in_cells, plane_bound
from deniable.privacy import assert_conforms

SQUARE = Rectangle()


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "gap"), [(0.5, 1.002), (2, 1.015)])
def test_worst_case_designs_are_close_to_the_bound(eps: float, gap: float) -> None:
    designed = design(SQUARE, "absolute", eps)
    assert 1 <= designed.gap <= gap
    assert designed.worst_case < designed.published["worst_case"]
    assert designed.mechanism.certificate().holds


@pytest.mark.slow
def test_an_average_design_beats_the_nearest_cells() -> None:
    designed = design(SQUARE, "absolute", 2, "uniform")
    assert designed.lower_bound <= designed.worst_case < 0.336  # what nearest-cells reaches
    assert designed.gap <= 1.015


def test_the_bound_of_spread_values_stays_below_the_least_of_h() -> None:
    # h by brute force: the values of a uniform prior on a fine grid, a report at every place of another one.
    rng = np.random.default_rng(3)
    side, e = 4, math.exp(1.5)
    cells = np.stack(np.meshgrid(*[(np.arange(side) + 0.5) / side] * 2), axis=-1).reshape(-1, 2)
    level = dict(zip(range(3), rng.uniform(0.6, 0.9, 3).tolist(), strict=True))
    ring = np.round(np.abs(cells - 0.5).sum(axis=1) * side).astype(int) - 1
    levels = np.array([level[int(number)] for number in ring])
    for k in (1.0, 1.5, 2.0):
        bound = plane_bound(k, e, cells, levels, np.ones(side**2), (1.0, 1.0), blur=math.hypot(1, 1) / (2 * side), depth=3)
        inner = ((np.arange(12) + 0.5) / 12 - 0.5) / side
        spread = np.stack(np.meshgrid(inner, inner), axis=-1).reshape(-1, 2)
        y = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), axis=-1).reshape(-1, 2)

        def least(shift: float, k: float = k, y: Any = y, spread: Any = spread) -> float:
            whole = np.zeros(len(y))
            for place, own in zip(cells, levels - shift, strict=True):
                above = np.hypot(*(y[:, None, :] - place - spread).transpose(2, 0, 1)) ** k - own
                whole += np.where(above > 0, above, e * above).mean(axis=1) / side**2
            return float(whole.min())

        # The bound is the mean level less a shift that makes h nowhere negative; a quarter less of it would not do.
        shift = float(levels.mean()) - bound
        assert least(shift) >= 0
        assert least(0.75 * shift) < 0


@pytest.mark.parametrize("k", [0.7, 1.0, 1.5, 2.0, 3.0])
def test_no_output_of_a_cell_is_below_the_cells_bound(k: float) -> None:
    rng = np.random.default_rng(8)
    x, levels, share = rng.uniform(0, 1, (9, 2)), rng.uniform(-0.1, 0.6, 9), np.full(9, 1 / 9)
    middles, half, e = rng.uniform(0.1, 0.9, (300, 2)), 0.05, math.exp(1)
    reach = np.where(levels > 0, np.maximum(levels, 0) ** (1 / k), -1.0)
    low, _ = _least_in_cells(k, e, x, middles, levels, reach, share, half, 0.0)
    inside = np.stack(np.meshgrid(*[np.linspace(-half, half, 15)] * 2), axis=-1).reshape(-1, 2) / math.sqrt(2)
    y = middles[:, None, :] + inside
    above = np.hypot(*(y[:, :, None, :] - x).transpose(3, 0, 1, 2)) ** k - levels
    least = (np.where(above > 0, above, e * above) @ share).min(axis=1)
    assert (low <= least + 1e-12).all()
    assert (low > least - (0.2 if k >= 1 else 0.6)).all()  # and it is of some use


def test_a_rectangle_that_is_not_square_conforms() -> None:
    wide = Rectangle(Interval(0, 3, cells=12), Interval(0, 1, cells=8))
    designed = design(wide, "squared", 1)
    assert 1 <= designed.gap <= 1.2
    assert_conforms(designed.mechanism)


def test_a_design_is_drawn_as_maps() -> None:
    answer = design(Rectangle(Interval(0, 3, cells=16), Interval(-1, 1, cells=12)), "squared", 1)
    drawn = design_chart(answer, "squared").to_dict()
    maps, errors = drawn["vconcat"][0]["hconcat"], drawn["vconcat"][1]
    for panel in maps:
        shares = [row["share"] for row in drawn["datasets"][panel["layer"][0]["data"]["name"]]]
        assert sum(shares) == pytest.approx(100)
    found = [row["error"] for row in drawn["datasets"][errors["data"]["name"]]]
    assert len(found) == 192
    # The worst case is at a corner of a cell, the map at the middles.
    assert 0.8 * answer.worst_case < max(found) <= answer.worst_case


@pytest.mark.slow
def test_any_weights_prove_a_valid_bound() -> None:
    best = design(SQUARE, "absolute", 2).worst_case
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    bounds = [plane_bound(1.0, math.exp(2), corners, np.full(4, level), np.ones(4), (1.0, 1.0)) for level in (0.2, 0.5, 0.7)]
    assert max(bounds) <= best
    assert max(bounds) > 0.3  # four corners alone show this much


def test_other_questions_are_refused() -> None:
    with pytest.raises(NotSupported, match="rectangle"):
        design(SQUARE, lambda d: d, 1)
    with pytest.raises(NotSupported, match="rectangle"):
        design(SQUARE, "absolute", 1, [1, 2])
