"""Dividing epsilon: exact sums, certified totals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from deniable.core import Binary, Categories, Circle, Disc, Interval, Record, make_mechanism
from deniable.core.mechanisms.records.polar import Polar
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import average_error, worst_case
from deniable.planning import direction_split, split_budget, split_record
from deniable.planning.designs.splits import field_error

WHOLE = 1 + 2 * math.pi


def published_squared(eps: float) -> float:
    h = math.exp(eps / 2)
    s = 1 / (h + 1)
    return (h * s**3 + (1 - s**3) / h) / 3


def test_the_published_polar_example() -> None:
    split = split_budget({"distance": published_squared, "direction": lambda e: math.pi**2 * published_squared(e)}, WHOLE)
    assert float(split.epsilons["distance"]) == pytest.approx(1.298547451, rel=1e-6)
    assert split.total == pytest.approx(0.3650749579, rel=1e-9)
    assert 1 <= split.gap < 1.01


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_the_general_split_agrees_with_polar(loss: str) -> None:
    polar = Polar(epsilon=9, loss=loss)
    power = 1 if loss == "absolute" else 2
    errors = {"distance": field_error(Interval(0, 1), loss), "direction": field_error(Circle(), loss)}
    split = split_budget(errors, 9, importance={"direction": math.pi**power})
    assert float(split.epsilons["distance"]) == pytest.approx(float(polar.split[0]), rel=1e-5)
    assert split.total == pytest.approx(polar.worst_loss, rel=1e-9)


@pytest.mark.slow
def test_parts_add_up_exactly_and_beat_the_equal_split() -> None:
    record = Record({"age": Interval(0, 120), "way": Circle(), "job": Categories(30), "member": Binary()})
    for eps in ("1/3", 3, 12):
        mechanism, found = split_record(record, eps, loss="squared")
        assert sum(part.exact for part in found.epsilons.values()) == Fraction(eps)
        assert mechanism.certificate().holds
        assert found.lower_bound <= found.total <= found.equal
        assert found.gap < 1.02


def test_errors_that_are_not_convex_are_searched_globally() -> None:
    # With many categories a little epsilon buys nothing: one of two alike fields gets it all.
    errors = {name: field_error(Categories(10000)) for name in ("a", "b")}
    split = split_budget(errors, 10)
    assert max(map(float, split.epsilons.values())) > 9.9
    assert split.total < split.equal - 0.3


def test_importance_moves_epsilon() -> None:
    errors = {"a": field_error(Interval(0, 1)), "b": field_error(Interval(0, 1))}
    even = split_budget(errors, 3)
    uneven = split_budget(errors, 3, importance={"a": 10})
    assert float(even.epsilons["a"]) == pytest.approx(1.5, abs=1e-4)
    assert float(uneven.epsilons["a"]) > 2


@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("eps", [0.5, 4.0])
def test_error_formulas_are_those_of_the_mechanisms(loss: str, eps: float) -> None:
    power = 1 if loss == "absolute" else 2
    window = make_mechanism("window", epsilon=eps, loss_exponent=power)
    assert field_error(Interval(0, 1), loss)(eps) == pytest.approx(worst_case(window, loss).error, rel=1e-5)
    assert field_error(Interval(0, 1), loss, "average")(eps) == pytest.approx(average_error(window, loss), rel=1e-5)
    arc = make_mechanism("circular-window", epsilon=eps, loss_exponent=power)
    assert field_error(Circle(), loss)(eps) == pytest.approx(worst_case(arc, loss).error / math.pi**power, rel=1e-4)


@pytest.mark.parametrize(("eps", "share"), [(4, 0.92), (5, 0.83), (6, 0.76), (8, 0.68), (10, 0.64)])
def test_direction_and_distance_on_the_unit_square(eps: float, share: float) -> None:
    split = direction_split(eps)
    assert split.direction.exact + split.distance.exact == Fraction(eps)
    assert float(split.direction) / eps == pytest.approx(share, abs=0.025)
    assert split.error <= split.published


@pytest.mark.parametrize(
    ("errors", "extra", "message"),
    [
        ({"a": published_squared}, {}, "two parts"),
        ({"a": published_squared, "b": 3}, {}, "functions"),
        ({"a": published_squared, "b": math.exp}, {}, "grow"),
        ({"a": published_squared, "b": lambda _: math.nan}, {}, "finite"),
        ({"a": published_squared, "b": published_squared}, {"importance": {"a": 0}}, "positive"),
        ({"a": published_squared, "b": published_squared}, {"importance": {"c": 1}}, "not there"),
    ],
)
def test_bad_splits_are_refused(errors: Any, extra: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        split_budget(errors, 2, **extra)


def test_fields_without_a_formula_are_named() -> None:
    with pytest.raises(NotSupported, match="Disc"):
        field_error(Disc((0, 0), 1))
    with pytest.raises(InvalidParameter, match="loss"):
        field_error(Interval(0, 1), "cubic")
    with pytest.raises(InvalidParameter, match="aim"):
        field_error(Interval(0, 1), "squared", "typical")
    with pytest.raises(InvalidParameter, match="reference"):
        direction_split(1, reference=(0, 0))
