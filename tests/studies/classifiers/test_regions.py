"""Boxes: what they prove, and how they grow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.studies import Box, Cells, Feature, ProductLaw, perturbations, product_law, proved_box, utility


def law_of(name: str, epsilon: float, values: list[float], **parameters: Any) -> ProductLaw:
    return product_law(perturbations(name, [Feature()] * len(values), epsilon, **parameters), values)


def test_a_proved_box_takes_nothing_off() -> None:
    law = law_of("sw", 3, [0.4, 0.6])
    box = Box((0.1, 0.2), (0.7, 0.9))
    assert box.kind == "proved"
    assert utility(box, law).value == law.probability(box.low, box.high)
    assert utility(box, law).kind == "lower bound"
    assert utility(Box((-math.inf, 0.2), (math.inf, math.inf)), law).value == pytest.approx(law.laws[1].probability(0.2, 9))


def test_a_proof_grows_until_it_touches() -> None:
    found = proved_box(lambda box: box.low[0] > 0.2 and box.high[1] < 0.75, [0.5, 0.5], [0, 0], [1, 1])
    assert found.box is not None
    assert found.radius == pytest.approx(0.25, abs=1e-8)
    assert found.box.low == pytest.approx((0.2, 0.0), abs=1e-3)
    assert found.box.high == pytest.approx((1.0, 0.75), abs=1e-3)
    assert proved_box(lambda box: False, [0.5], [0], [1]).box is None


def test_a_box_of_cells_holds_only_cells_with_the_answer() -> None:
    same = np.array([[0, 1, 1, 0], [1, 1, 1, 0], [0, 1, 1, 1]], dtype=bool)
    cells = Cells((np.array([0.3, 0.6]), np.array([0.2, 0.5, 0.8])), same)
    box = cells.box_around((1, 1))
    assert box.low == (-math.inf, np.nextafter(0.2, 1))
    assert box.high == (math.inf, 0.8)
    with pytest.raises(InvalidParameter, match="one more cell"):
        Cells((np.array([0.3]),), same)


def test_bad_boxes_are_refused() -> None:
    for low, high in (((), ()), ((0,), (1, 2)), ((1,), (0,)), ((math.nan,), (1,))):
        with pytest.raises(InvalidParameter):
            Box(low, high)
    with pytest.raises(InvalidParameter, match="sensitive features"):
        utility(Box((0, 0), (1, 1)), law_of("ogpm", 1, [0.5]))
