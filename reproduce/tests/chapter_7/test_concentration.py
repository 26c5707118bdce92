"""Concentration: the published numbers, the published formulas, and the lattice that converges to them."""

from __future__ import annotations

import math

import pytest

from deniable.core import Interval, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.studies import OutputLaw, concentration
from deniable_reproduce.published_concentration import (
    FIGURE,
    concentration_curves,
    published,
    published_on_points,
    published_smallest_epsilon,
)


@pytest.mark.parametrize(("name", "value"), [("laplace", 0.451188), ("ogpm", 0.852848), ("k-rr", 0.624021)])
def test_the_three_numbers_of_section_7_3(name: str, value: float) -> None:
    assert published(name, 2, 0.5, 0.2, 0.8) == pytest.approx(value, abs=5e-7)
    assert concentration(name, 2, 0.5, 0.3) == pytest.approx(value, abs=5e-4)


def test_k_rr_has_its_printed_number_on_101_points_only() -> None:
    points = [i / 100 for i in range(101)]
    assert published_on_points("k-rr", 2, 0.5, 0.2, 0.8, points) == pytest.approx(0.6275225665, abs=1e-9)


def test_the_two_case_formula_is_wrong_near_an_end() -> None:
    assert published("ogpm", 2, 0.0, -0.3, 0.3) == pytest.approx(0.7424843912, abs=1e-9)
    window = 1 / (math.e + 1)
    printed = window * math.e + (0.6 - window) / math.e
    assert abs(printed - 0.7424843912) > 0.05
    assert concentration("ogpm", 2, 0.0, 0.3) == pytest.approx(0.7424843912, abs=1e-5)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3, 4, 6, 8])
def test_the_cdf_of_appendix_e_2_5(epsilon: float) -> None:
    half = (math.exp(epsilon / 2) - 1) / (2 * math.exp(epsilon) - 2)
    left = min(0.79 - half, 1 - 2 * half)
    h = math.exp(epsilon / 2)
    expected = 0.63 / h if left >= 0.63 else left / h + (0.63 - left) * h
    assert published("ogpm", epsilon, 0.79, 0.0, 0.63) == pytest.approx(expected, abs=1e-12)
    law = OutputLaw(make_mechanism("ogpm", epsilon=epsilon), 0.79)
    assert law.probability(0, 0.63) == pytest.approx(expected, abs=1e-5)
    if 0.79 + half <= 1 and left < 0.63:
        assert expected == pytest.approx((0.79 - half) / h + (half - 0.16) * h, abs=1e-12)


@pytest.mark.parametrize("name", ["ogpm", "sw", "redesigned-sw"])
def test_finer_lattices_come_closer_to_the_density(name: str) -> None:
    def gap(cells: int) -> float:
        worst = 0.0
        for x, low, high in ((0.5, 0.2, 0.8), (0.1, -0.2, 0.37), (0.93, 0.61, 1.0)):
            law = OutputLaw(make_mechanism(name, domain=Interval(0, 1, cells=cells), epsilon=2), x)
            worst = max(worst, abs(law.probability(low, high) - published(name, 2, x, low, high)))
        return worst

    coarse, fine, finest = gap(1 << 8), gap(1 << 12), gap(1 << 20)
    assert finest < fine < coarse
    assert finest < 2e-5
    assert coarse < 0.05


@pytest.mark.parametrize("epsilon", [1, 4])
def test_laplace_and_gaussian_lattices_come_closer_too(epsilon: int) -> None:
    def gaps(points: int) -> tuple[float, float]:
        laplace = OutputLaw(make_mechanism("laplace", epsilon=epsilon, points=points), 0.5)
        noise = OutputLaw(make_mechanism("gaussian", epsilon=epsilon, delta="0.1", sigma="exact", points=points), 0.5)
        return (
            abs(laplace.probability(0.2, 0.8) - published("laplace", epsilon, 0.5, 0.2, 0.8)),
            abs(noise.probability(0.2, 0.8) - published("gaussian", epsilon, 0.5, 0.2, 0.8, delta=0.1, sigma="exact")),
        )

    coarse, fine = gaps(32), gaps(1024)
    assert fine[0] < coarse[0] / 8
    assert fine[1] < coarse[1] / 8
    assert max(fine) < 1e-3


@pytest.mark.parametrize("name", ["k-rr", "exponential"])
def test_mechanisms_on_points_are_their_formula(name: str) -> None:
    for x, theta in ((0.5, 0.3), (0.034, 0.2), (0.773, 0.11)):
        formula = published(name, 3, x, x - theta, x + theta)
        assert concentration(name, 3, x, theta) == pytest.approx(formula, abs=1e-9)


def test_figure_7_3_says_what_the_text_says_about_it() -> None:
    curves = {(curve.mechanism, curve.epsilon): curve for curve in concentration_curves()}
    assert set(curves) == {(name, epsilon) for name in FIGURE for epsilon in (2.0, 4.0, 6.0)}
    for curve in curves.values():
        assert list(curve.formula) == sorted(curve.formula)
        assert curve.lattice == pytest.approx(curve.formula, abs=0.011)  # k-rr and exponential move by a whole point
    first, last = {name: curves[name, 2.0].formula[0] for name in FIGURE}, {name: curves[name, 6.0].formula[10] for name in FIGURE}
    assert max(first, key=lambda name: first[name]) == "redesigned-sw"
    assert max(last, key=lambda name: last[name]) == "ogpm"


def test_the_least_epsilon_for_a_target() -> None:
    assert published_smallest_epsilon("ogpm", 0.8, 0.5, 0.3) == pytest.approx(2 * math.log(2), abs=1e-9)
    assert published("laplace", published_smallest_epsilon("laplace", 0.8, 0.5, 0.3), 0.5, 0.2, 0.8) == pytest.approx(0.8, abs=1e-9)
    with pytest.raises(InvalidParameter, match="not reached"):
        published_smallest_epsilon("laplace", 0.999, 0.5, 0.01)


def test_what_has_no_formula_says_where_to_go() -> None:
    with pytest.raises(NotSupported, match="concentration"):
        published("staircase", 1, 0.5, 0, 1)
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        published("ogpm", 1, 1.5, 0, 1)
    with pytest.raises(InvalidParameter, match="sigma"):
        published("gaussian", 1, 0.5, 0, 1, sigma="small")
    with pytest.raises(NotSupported, match="list of points"):
        published_on_points("ogpm", 1, 0.5, 0, 1, [0, 1])
