"""Errors, moments and probabilities equal sums over all outputs, for every mechanism that reports numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.core import Binary, Categories, Circle, Interval, Mechanism, Window, all_mechanisms, mechanism_class
from deniable.errors import NotSupported, OutOfDomain
from deniable.estimators import (
    average_error,
    cdf,
    density,
    error_curve,
    expected_error,
    interval_probability,
    pmf,
    report_bias,
    report_mean,
    report_variance,
    worst_case,
)


def made(name: str, **parameters: Any) -> Any:
    """A mechanism by its wire name."""
    return mechanism_class(name)(**parameters)


EXAMPLES = [example for kind in all_mechanisms() for example in kind.examples()]
NUMBERS = [example for example in EXAMPLES if isinstance(example.domain, Interval | Circle | Binary)]
SMALL = [example for example in NUMBERS if example.channel.outputs <= 5000]
ON_A_LINE = [example for example in SMALL if not isinstance(example.domain, Circle)]
OTHERS = [example for example in EXAMPLES if not isinstance(example.domain, Interval | Circle | Binary)]


def values(mechanism: Mechanism) -> list[float]:
    """A few values of the domain, its ends among them."""
    if isinstance(mechanism.domain, Binary):
        return [0, 1]
    low, width = float(mechanism.domain.low), float(mechanism.domain.width)  # type: ignore[attr-defined]
    return [low, low + 0.137 * width, low + width / 2, low + width]


def decoded(mechanism: Mechanism) -> Any:
    return np.array([mechanism.decode(output) for output in range(mechanism.channel.outputs)], dtype=float)


def apart(mechanism: Mechanism, y: Any, x: float) -> Any:
    d = np.abs(y - x)
    return np.minimum(d, float(mechanism.domain.period) - d) if isinstance(mechanism.domain, Circle) else d


@pytest.mark.parametrize("example", SMALL, ids=repr)
@pytest.mark.parametrize("exponent", [1, 2, 1.5])
def test_expected_error_is_the_sum_over_outputs(example: Mechanism, exponent: float) -> None:
    y = decoded(example)
    for x in values(example):
        exact = float(pmf(example, x) @ apart(example, y, x) ** exponent)
        assert expected_error(example, x, exponent) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("example", SMALL, ids=repr)
def test_a_function_gives_what_the_named_loss_gives(example: Mechanism) -> None:
    x = values(example)[1]
    assert expected_error(example, x, lambda y, x: apart(example, y, x)) == pytest.approx(expected_error(example, x), rel=1e-9)


@pytest.mark.parametrize("example", ON_A_LINE, ids=repr)
def test_moments_and_cdf_are_sums_over_outputs(example: Mechanism) -> None:
    y = decoded(example)
    for x in values(example):
        chance = pmf(example, x)
        middle = float(chance @ y)
        assert report_mean(example, x) == pytest.approx(middle, rel=1e-9, abs=1e-12)
        assert report_bias(example, x) == pytest.approx(middle - x, rel=1e-6, abs=1e-9)
        assert report_variance(example, x) == pytest.approx(float(chance @ (y - middle) ** 2), rel=1e-9)
        for threshold in (float(y.min()) - 1, 0.31, float(y.max()) + 1):
            assert cdf(example, x, threshold) == pytest.approx(float(chance[y <= threshold].sum()), abs=1e-12)
        assert interval_probability(example, x, 0.2, 0.6) == pytest.approx(float(chance[(y >= 0.2) & (y <= 0.6)].sum()), abs=1e-12)


@pytest.mark.parametrize("example", [e for e in SMALL if isinstance(e.domain, Circle)], ids=repr)
def test_arcs_may_cross_zero(example: Mechanism) -> None:
    y, period = decoded(example), float(example.domain.period)  # type: ignore[attr-defined]
    low, high = 0.8 * period + 1e-9, 0.1 * period + 1e-9
    chance = pmf(example, 1.0)
    assert interval_probability(example, 1.0, low, high) == pytest.approx(float(chance[(y >= low) | (y <= high)].sum()), abs=1e-12)
    assert interval_probability(example, 1.0, high, low) == pytest.approx(float(chance[(y >= high) & (y <= low)].sum()), abs=1e-12)


@pytest.mark.parametrize("example", SMALL, ids=repr)
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_no_value_is_worse_than_the_worst_case(example: Mechanism, loss: str) -> None:
    found = worst_case(example, loss)
    assert expected_error(example, _inside(example, found.at), loss) == pytest.approx(found.error, rel=1e-6)
    curve = error_curve(example, loss, points=23)
    assert curve.errors.max() <= found.error * (1 + 1e-9)


def _inside(mechanism: Mechanism, value: float) -> Any:
    return int(value) if isinstance(mechanism.domain, Binary) else mechanism.domain.clip(value)


def test_the_worst_case_on_a_fine_lattice_is_found() -> None:
    coarse = Window(domain=Interval(0, 10, cells=4096), epsilon=3)
    assert worst_case(coarse, "squared").error == pytest.approx(
        worst_case(Window(domain=Interval(0, 10), epsilon=3), 2).error, rel=1e-3
    )


@pytest.mark.parametrize("name", ["ogpm", "pm", "sw-c", "t-pm", "hm", "three-outputs", "one-bit-squared"])
def test_refinement_finds_what_a_dense_scan_finds(name: str) -> None:
    mechanism = made(name, epsilon=1.5)
    curve = error_curve(mechanism, "squared", points=4001)
    assert worst_case(mechanism, "squared").error == pytest.approx(float(curve.errors.max()), rel=1e-4)
    assert worst_case(mechanism, "squared").error >= curve.errors.max() * (1 - 1e-9)


@pytest.mark.parametrize("name", ["ogpm", "pm", "sw", "t-pm", "circular-ogpm", "one-bit-squared", "laplace"])
def test_the_average_is_the_average_of_the_curve(name: str) -> None:
    mechanism = made(name, epsilon=1.5)
    errors = error_curve(mechanism, "absolute", points=2001).errors
    trapezoid = float((errors[1:] + errors[:-1]).sum() / 2 / 2000)
    assert average_error(mechanism) == pytest.approx(trapezoid, rel=1e-3)


def test_averages_on_coarse_lattices_are_exact() -> None:
    mechanism = Window(domain=Interval(0, 1, cells=5), epsilon=1)
    y = decoded(mechanism)
    fine = (np.arange(50_000) + 0.5) / 50_000
    exact = np.mean(
        [pmf(mechanism, (cell + 0.5) / 5) @ np.abs(y[:, None] - fine[cell * 10_000 : (cell + 1) * 10_000]) for cell in range(5)]
    )
    assert average_error(mechanism) == pytest.approx(float(exact), rel=1e-6)


def test_errors_are_in_the_domains_units() -> None:
    unit, wide = Window(domain=Interval(0, 1), epsilon=1), Window(domain=Interval(100, 110), epsilon=1)
    assert expected_error(wide, 103, "absolute") == pytest.approx(10 * expected_error(unit, 0.3), rel=1e-12)
    assert worst_case(wide, "squared").error == pytest.approx(100 * worst_case(unit, "squared").error, rel=1e-12)
    assert report_variance(wide, 103) == pytest.approx(100 * report_variance(unit, 0.3), rel=1e-12)
    assert report_mean(wide, 103) == pytest.approx(100 + 10 * report_mean(unit, 0.3), rel=1e-12)
    assert cdf(wide, 103, 105) == pytest.approx(cdf(unit, 0.3, 0.5), rel=1e-12)


@pytest.mark.parametrize("example", NUMBERS, ids=repr)
def test_the_area_under_a_density_is_one(example: Mechanism) -> None:
    curve = density(example, values(example)[1] if not isinstance(example.domain, Binary) else 1, 64)
    width = curve.values[1] - curve.values[0]
    assert float(curve.heights.sum() * width) == pytest.approx(1, abs=1e-6)
    assert (curve.heights >= -1e-12).all()


def test_the_density_has_the_published_heights() -> None:
    curve = density(made("ogpm", epsilon=2), 0.5, 501)
    assert curve.heights[250] == pytest.approx(math.e, rel=1e-2)
    assert curve.heights[0] == pytest.approx(1 / math.e, rel=1e-2)


@pytest.mark.parametrize("example", OTHERS, ids=repr)
def test_mechanisms_without_numbers_say_so(example: Mechanism) -> None:
    with pytest.raises(NotSupported, match="does not report a single number"):
        worst_case(example)


def test_directions_have_no_mean() -> None:
    with pytest.raises(NotSupported, match="circle"):
        report_mean(made("circular-ogpm", epsilon=1), 1)
    with pytest.raises(NotSupported, match="order"):
        cdf(made("circular-ogpm", epsilon=1), 1, 2)


def test_a_value_outside_the_domain_is_refused_and_not_shown() -> None:
    with pytest.raises(OutOfDomain) as caught:
        expected_error(Window(epsilon=1), 1234.5)
    assert "1234" not in str(caught.value)


def test_categories_have_a_pmf() -> None:
    assert pmf(made("k-rr", domain=Categories(4), epsilon=1), 2).argmax() == 2
