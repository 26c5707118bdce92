"""In the plane: designs beat splitting epsilon, and their bounds hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.design import design
from deniable.design.plane_bound import plane_bound
from deniable.domains import Interval, Rectangle
from deniable.errors import NotSupported
from deniable.testing import assert_conforms

SQUARE = Rectangle()


@pytest.mark.parametrize(("eps", "gap"), [(0.5, 1.005), (2, 1.03)])
def test_worst_case_designs_are_close_to_the_bound(eps: float, gap: float) -> None:
    found = design(SQUARE, "absolute", eps)
    assert 1 <= found.gap <= gap
    assert found.worst_case < found.published["worst_case"]
    assert found.mechanism.certificate().holds


def test_an_average_design_beats_the_nearest_cells() -> None:
    found = design(SQUARE, "absolute", 2, "uniform")
    assert found.lower_bound <= found.worst_case < 0.336  # what nearest-cells reaches
    assert found.gap <= 1.03


def test_a_rectangle_that_is_not_square_conforms() -> None:
    wide = Rectangle(Interval(0, 3, cells=12), Interval(0, 1, cells=8))
    found = design(wide, "squared", 1)
    assert 1 <= found.gap <= 1.2
    assert_conforms(found.mechanism)


def test_any_weights_prove_a_valid_bound() -> None:
    best = design(SQUARE, "absolute", 2).worst_case
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    bounds = [
        plane_bound(1.0, math.exp(2), corners, np.full(4, level), np.ones(4), (1.0, 1.0), side=48) for level in (0.2, 0.5, 0.7)
    ]
    assert max(bounds) <= best
    assert max(bounds) > 0.3  # four corners alone show this much


def test_other_questions_are_refused() -> None:
    with pytest.raises(NotSupported, match="rectangle"):
        design(SQUARE, lambda d: d, 1)
    with pytest.raises(NotSupported, match="rectangle"):
        design(SQUARE, "absolute", 1, [1, 2])
