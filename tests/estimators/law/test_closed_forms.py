"""Generic errors and variances, from the weights, equal the published formulas."""

from __future__ import annotations

import math
from typing import Any

import pytest

from deniable.core import Circle, Interval, mechanism_class, names
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import closed_form, closed_forms, expected_error, report_variance, worst_case
from deniable.estimators.law.closed_forms import FORMS, SCALES


def made(name: str, **parameters: Any) -> Any:
    """A mechanism by its wire name."""
    return mechanism_class(name)(**parameters)


FINE = 1 << 26
"""Rounding a window to whole cells costs about e**(epsilon/2) / cells."""

# Tables and profiles are short lists of points, so they meet the continuous formula only as closely as
# their spacing (and, for unbounded noise, the clipped tails) allows. Cells' middles meet it at the ends and in
# the middle of the domain to second order, elsewhere to first order.
COARSE: dict[str, float] = {
    "laplace": 1e-4,
    "staircase": 3e-5,
    "truncated-laplace": 2e-3,
    "bounded-laplace": 1e-2,
    "purkayastha": 2e-3,
    # The middle chance is a multiple of 2**-20.
    "three-outputs": 5e-6,
}


def mechanism_for(name: str, epsilon: float) -> Any:

    if name in COARSE and name != "three-outputs":
        return made(name, epsilon=epsilon)
    on_a_circle = mechanism_class(name).family == "circular"
    domain: Any = Circle(24, cells=FINE) if on_a_circle else Interval(-1, 3, cells=FINE)
    return made(name, domain=domain, epsilon=epsilon)


def from_weights(mechanism: Any, quantity: str, value: float) -> float | None:
    """The same quantity from the weights."""
    if quantity == "variance":
        return report_variance(mechanism, value)
    if quantity == "worst_variance":
        return worst_case(mechanism, "squared").error
    if quantity in ("error", "worst_error"):
        return worst_case(mechanism, 1.5).error if quantity == "worst_error" else expected_error(mechanism, value, 1.5)
    loss = quantity.removeprefix("worst_").removesuffix("_error")
    return worst_case(mechanism, loss).error if quantity.startswith("worst_") else expected_error(mechanism, value, loss)


CASES = [(name, quantity) for name, forms in FORMS.items() for quantity in forms if quantity != "count_variance"]


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_weights_equal_the_published_formula(name: str, quantity: str, epsilon: float) -> None:
    mechanism = mechanism_for(name, epsilon)
    tolerance = COARSE.get(name, 1e-6)
    domain = mechanism.domain
    for share in (0.03, 0.4, 1.0) if "worst" not in quantity else (0.0,):
        value = float(domain.low) + float(domain.width) * share
        inputs: dict[str, Any] = {} if "worst" in quantity else {"value": value}
        if quantity in ("error", "worst_error"):
            inputs["exponent"] = 1.5
        assert from_weights(mechanism, quantity, value) == pytest.approx(closed_form(mechanism, quantity, **inputs), rel=tolerance)


def test_the_error_of_ogpm_is_the_three_cases_of_the_dissertation() -> None:
    for epsilon in (0.5, 2, 5):
        mechanism = made("ogpm", epsilon=epsilon)
        p, e = math.exp(epsilon / 2), math.exp(epsilon)
        c = 1 / (2 * (p + 1))

        def printed(x: float, p: float = p, e: float = e, c: float = c) -> float:
            if x < c:
                return p / 3 * ((2 * c - x) ** 3 + x**3) + p / (3 * e) * ((1 - x) ** 3 - (2 * c - x) ** 3)
            if x < 1 - c:
                return p / (3 * e) * (-2 * c**3 + 3 * x**2 - 3 * x + 1) + p / 3 * 2 * c**3
            return p / (3 * e) * ((1 - 2 * c - x) ** 3 + x**3) + p / 3 * ((1 - x) ** 3 - (1 - 2 * c - x) ** 3)

        for x in (0.0, 0.01, 0.3, 0.5, 0.77, 0.995, 1.0):
            assert closed_form(mechanism, "squared_error", value=x) == pytest.approx(printed(x), rel=1e-12)


@pytest.mark.parametrize("exponent", [0.5, 1, 2, 3])
def test_the_best_window_has_the_worst_error_s_to_the_k(exponent: float) -> None:
    mechanism = made("window", epsilon=2, loss_exponent=exponent)
    integral = closed_form(mechanism, "error", value=0, exponent=exponent)
    assert closed_form(mechanism, "worst_error", exponent=exponent) == pytest.approx(integral, rel=1e-12)


def test_every_form_belongs_to_a_registered_mechanism_and_a_known_quantity() -> None:
    for name, forms in FORMS.items():
        assert name in names()
        assert set(forms) <= set(SCALES)
        assert closed_forms(name)[: len(forms)] == list(forms)


def test_what_has_no_formula_says_what_there_is() -> None:
    with pytest.raises(NotSupported, match="worst_absolute_error"):
        closed_form(made("ogpm", epsilon=1), "colour")
    with pytest.raises(InvalidParameter, match="value"):
        closed_form(made("ogpm", epsilon=1), "squared_error")
