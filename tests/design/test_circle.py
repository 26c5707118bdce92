"""On a circle the best arc is the best of all."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.design import cutting_planes, design
from deniable.domains import Circle
from deniable.errors import NotSupported
from deniable.testing import assert_conforms


@pytest.mark.parametrize("loss", ["absolute", "squared", "power:3"])
@pytest.mark.parametrize("eps", [0.5, 1, 2, 4, 6])
def test_the_gap_is_nothing(loss: str, eps: float) -> None:
    found = design(Circle(), loss, eps)
    assert 1 <= found.gap <= 1.0001
    assert found.worst_case <= found.published["worst_case"] * (1 + 1e-9)


GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())


@pytest.mark.parametrize("row", [row for row in GOLDEN if row["id"].startswith("circ.LP.")], ids=lambda row: row["id"])
def test_the_program_on_sixty_points_finds_the_golden_value(row: dict[str, Any]) -> None:
    k, eps, value = row["inputs"]["k"], row["inputs"]["eps"], row["value"]["lp"]
    # Not averaged over rotations: the program may use any reference on the circle, and finds an even one good enough.
    apart = np.abs(np.arange(60) - np.arange(60)[:, None])
    losses = (np.minimum(apart, 60 - apart) * math.pi / 30) ** float(k)
    cuts = cutting_planes.LossCuts(losses, np.arange(60), math.exp(eps), worst=True)
    found = cutting_planes.solve(cuts, cuts.start(), np.ones(1), math.exp(eps), tolerance=1e-7)
    assert found.finished
    assert found.value == pytest.approx(value, rel=1e-5)


def test_degrees_and_conformance() -> None:
    degrees, radians = design(Circle(360), "squared", 2, "uniform"), design(Circle(), "squared", 2)
    assert degrees.lower_bound == pytest.approx(radians.lower_bound * (180 / math.pi) ** 2)
    assert_conforms(design(Circle(cells=100), "squared", 2).mechanism)


def test_other_questions_are_refused() -> None:
    with pytest.raises(NotSupported, match="power"):
        design(Circle(), lambda d: d, 1)
    with pytest.raises(NotSupported, match="prior"):
        design(Circle(), "absolute", 1, [1, 2])
