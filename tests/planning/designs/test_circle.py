"""On a circle the best arc is the best of all."""

from __future__ import annotations

import math

import pytest

from deniable.core import Circle
from deniable.errors import NotSupported
from deniable.planning import design
from deniable.privacy import assert_conforms


@pytest.mark.parametrize("loss", ["absolute", "squared", "power:3"])
@pytest.mark.parametrize("eps", [0.5, 1, 2, 4, 6])
def test_the_gap_is_nothing(loss: str, eps: float) -> None:
    designed = design(Circle(), loss, eps)
    assert 1 <= designed.gap <= 1.0001
    assert designed.worst_case <= designed.published["worst_case"] * (1 + 1e-9)


def test_degrees_and_conformance() -> None:
    degrees, radians = design(Circle(360), "squared", 2, "uniform"), design(Circle(), "squared", 2)
    assert degrees.lower_bound == pytest.approx(radians.lower_bound * (180 / math.pi) ** 2)
    assert_conforms(design(Circle(cells=100), "squared", 2).mechanism)


def test_other_questions_are_refused() -> None:
    with pytest.raises(NotSupported, match="power"):
        design(Circle(), lambda d: d, 1)
    with pytest.raises(NotSupported, match="prior"):
        design(Circle(), "absolute", 1, [1, 2])
