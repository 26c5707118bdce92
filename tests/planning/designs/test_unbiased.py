"""Unbiased designs: the mean is exact, the variance is the least known, and the bound is a bound."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.core import DesignedUnbiased, HybridMechanism, Interval
from deniable.errors import InvalidParameter
from deniable.estimators import closed_form, worst_case
from deniable.planning import design
from deniable.planning.designs.unbiased import largest_variance
from deniable.privacy import assert_conforms

UNIT = Interval(0, 1)
GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "target"), [(0.5, 4.01), (1, 1.0), (2, 0.2170), (3, 0.0763), (4, 0.0319)])
def test_the_known_values_are_met(eps: float, target: float) -> None:
    designed = design(UNIT, "squared", eps, unbiased=True)
    assert isinstance(designed.mechanism, DesignedUnbiased)
    assert designed.worst_case <= target
    assert 1 <= designed.gap <= 1.01
    assert designed.mechanism.certificate().holds
    assert designed.worst_case == pytest.approx(worst_case(designed.mechanism, "squared").error, rel=1e-4)
    hybrid = closed_form(HybridMechanism(epsilon=eps), "worst_variance")
    assert designed.lower_bound <= designed.worst_case <= hybrid
    for row in GOLDEN:
        if row["id"].startswith("unb.LP.") and row["inputs"]["eps"] == eps:  # a program of its own, on 31 inputs
            assert designed.lower_bound <= row["value"]["val"] * 1.001
            assert designed.worst_case >= row["value"]["val"] * 0.999


@pytest.mark.slow
def test_every_row_has_exactly_the_mean_it_should() -> None:
    mechanism = design(Interval(18, 90), "squared", 2, unbiased=True).mechanism
    assert isinstance(mechanism, DesignedUnbiased)
    table = mechanism.table
    for i in (0, 1, table.inputs // 3, table.inputs // 2, table.inputs - 1):
        mean = sum(weight * mechanism.reading.position(j) for j, weight in enumerate(table.rows[i])) / table.total
        assert mean == Fraction(i, table.inputs - 1)
    assert_conforms(mechanism)


@pytest.mark.parametrize("example", list(DesignedUnbiased.examples()), ids=lambda example: f"{example.rows} rows")
def test_measured_variance_is_that_of_the_weights(example: DesignedUnbiased) -> None:
    width = float(example.domain.width)
    assert largest_variance(example) * width**2 == pytest.approx(worst_case(example, "squared").error, rel=1e-3)


def test_recipes_that_have_no_such_rows_are_refused() -> None:
    good = {"epsilon": 1, "rows": 2, "weights": [400, 100, 400], "total": 1600, "slope": 600}
    for change, message in (
        ({"slope": 5000}, "slope is too large"),
        ({"slope": 0}, "slope"),
        ({"rows": 3}, "rows"),
        ({"weights": [1, 2]}, "weights"),
        ({"weights": [400, 0, 400]}, "weights"),
        ({"weights": "abc"}, "weights"),
        ({"total": 10}, "total"),
        ({"total": 10**6}, "total"),
        ({"total": 1.5}, "total"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            DesignedUnbiased(**{**good, **change})  # type: ignore[arg-type]
