"""Gaussian noise and raw values: closed forms against sums, and against the mechanisms' own certificates."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from deniable.core import make_mechanism
from deniable.errors import InvalidParameter
from deniable.privacy import (
    central,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
    group_words,
    indicator,
    loss_exceeds,
    shuffled_epsilon,
)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_the_closed_form_is_the_divergence(sigma: float, epsilon: float) -> None:
    y = np.linspace(-12 * sigma, 1 + 12 * sigma, 400_001)
    excess = np.maximum(norm.pdf(y, 1, sigma) - math.exp(epsilon) * norm.pdf(y, 0, sigma), 0)
    exact = float(excess.sum() * (y[1] - y[0]))
    assert gaussian_delta(sigma, epsilon) == pytest.approx(exact, rel=2e-4, abs=1e-12)


def test_a_far_tail_neither_overflows_nor_vanishes() -> None:
    assert gaussian_delta(0.05, 190.0) > 0
    assert gaussian_delta(1.0, 1e6) == math.nextafter(0, 1)
    assert gaussian_delta(1.0, math.inf) == 0.0
    assert 0 < gaussian_delta(20.0, 1.0) < 1e-60
    assert gaussian_delta(1e9, 0.0) == pytest.approx(1 / (1e9 * math.sqrt(2 * math.pi)), rel=1e-6)


EXACT = [
    (1e17, 0.0, 1.0, "3.989422804014326779399461e-18"),
    (1e17, 5e-18, 1.0, "1.977965574013060190512624e-18"),
    (1e17, 9e-18, 1.0, "1.004311370866712849017031e-18"),
    (1e300, 3e-300, 1.0, "3.821543170477230376847746e-304"),
    (1e9, 2.1651349777048905e-10, 1.0, "2.999999999999999972824171e-10"),
    (0.001, 537000.0, 1.0, "5.521134908141408622765625e-300"),
    (0.001, 500000.0, 1.0, "0.4996010581185313462481632"),
    (2.0**-20, 2.0**39, 1.0, "0.4999996195389934529592113"),
    (4.0, 1.0, 1.0, "0.000002924272104856407347017588"),
    (300000.0, 0.0001, 7.0, "4.525996324731029775225911e-11"),
    (1.0, 0.0, 1e-30, "3.989422804014327111863677e-31"),
    (0.02, 3000.0, 1.0, "6.613988100172436432275549e-269"),
]
"""sigma, epsilon, width and 25 digits of delta, by mpmath 1.4.1 with 800 digits: the difference of two erfc."""


@pytest.mark.parametrize(("sigma", "epsilon", "width", "digits"), EXACT)
def test_delta_is_never_below_the_exact_number_and_hardly_above(sigma: float, epsilon: float, width: float, digits: str) -> None:
    exact = Fraction(digits)
    found = Fraction(gaussian_delta(sigma, epsilon, width))
    assert exact * (1 - Fraction(1, 10**24)) <= found <= exact * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("sigma", [1e8, 1e17, 1e120, 1e300])
@pytest.mark.parametrize("standardised", [0.0, 0.5, 3.0, 8.0])
def test_where_two_tails_nearly_agree_delta_is_their_derivative(sigma: float, standardised: float) -> None:
    """With a = 1/(2 sigma) -> 0 and c = epsilon sigma, delta is 2 a (f(c) - c Phi(-c)) but for a relative error of about a."""
    tail = norm.pdf(standardised) - standardised * norm.sf(standardised)
    assert gaussian_delta(sigma, standardised / sigma) == pytest.approx(tail / sigma, rel=1e-6, abs=0)


def test_a_small_delta_at_a_large_sigma_has_an_epsilon() -> None:
    epsilon = gaussian_epsilon(1e17, 1e-18)
    assert epsilon == pytest.approx(9.0234634751e-18, rel=1e-9)
    assert gaussian_delta(1e17, epsilon) <= 1e-18 < gaussian_delta(1e17, math.nextafter(epsilon, 0))
    assert gaussian_epsilon(1e17, 3.99e-18) == 0.0  # delta(0) is 3.9894e-18
    assert gaussian_epsilon(1e17, 3.989e-18) > 0
    assert gaussian_sigma(1e-17, 1e-18) == pytest.approx(9.3736824898e16, rel=1e-9)
    assert gaussian_epsilon(1e-200, 0.5) == math.inf
    with pytest.raises(InvalidParameter, match="take a larger one"):
        gaussian_sigma(5e-324, 5e-324)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-10), (1.0, 0.1)])
def test_the_three_are_inverse_to_each_other_and_rounded_toward_less_privacy(epsilon: float, delta: float) -> None:
    sigma = gaussian_sigma(epsilon, delta)
    assert gaussian_delta(sigma, epsilon) <= delta
    assert gaussian_delta(sigma * (1 - 1e-6), epsilon) > delta
    assert gaussian_epsilon(sigma, delta) == pytest.approx(epsilon, rel=1e-6)
    assert gaussian_sigma(epsilon, delta, width=7) == pytest.approx(7 * sigma, rel=1e-9)


def test_the_mechanism_adds_at_least_the_analytic_noise() -> None:
    mechanism = make_mechanism("gaussian", epsilon=1, delta="0.001", points=32)
    assert float(mechanism.least_sigma) >= gaussian_sigma(1.0, 0.001) * (1 - 1e-6)
    assert float(mechanism.least_sigma) <= gaussian_sigma(1.0, 0.001) * 1.001


def test_the_loss_exceeds_epsilon_more_often_than_delta() -> None:
    sigma = gaussian_sigma(1.0, 1e-6)
    draws = norm.isf(loss_exceeds(sigma, 1.0), scale=sigma)
    # The loss of a draw y from N(1, sigma) against N(0, sigma) is (2 y - 1)/(2 sigma**2).
    assert (2 * (draws + 1) - 1) / (2 * sigma**2) == pytest.approx(1.0, rel=1e-9)
    assert loss_exceeds(sigma, 1.0) > 1e-6


def test_raw_values_add_up_over_coordinates_and_people() -> None:
    found = indicator("0.1", coordinates=2, people=3)
    assert found.delta == pytest.approx(1 - 0.9**2)
    assert found.people == pytest.approx(3 * (1 - 0.9**2))
    assert found.anyone == pytest.approx(1 - 0.9**6)


def test_the_share_of_raw_values_is_rounded_up_however_small_or_large() -> None:
    assert indicator("1e-400").delta > 0
    assert Fraction(indicator("1e-20", coordinates=3).delta) >= 1 - (1 - Fraction(1, 10**20)) ** 3
    assert indicator(1 - Fraction(1, 10**30), people=2) == (1.0, 2.0, 1.0)


def test_a_crowd_is_translated() -> None:
    found = central(1.0, 5000, 1e-6)
    assert found.shuffled == shuffled_epsilon(1.0, 5000, 1e-6)
    text = " ".join(found.words(5000))
    assert "5,000 people" in text
    assert f"{found.shuffled:.4g}" in text
    assert found.central_error < found.local_error


def test_groups_in_words() -> None:
    assert "epsilon 3" in group_words("1", 3)[0]
    assert "promises nothing" in group_words("2", 20, "1e-6")[-1]


@pytest.mark.parametrize("call", [(0.0, 1.0), (-1.0, 1.0), (math.nan, 1.0), (1.0, -0.1)])
def test_bad_numbers_are_refused(call: tuple[float, float]) -> None:
    with pytest.raises(InvalidParameter):
        gaussian_delta(*call)
    with pytest.raises(InvalidParameter, match="delta"):
        gaussian_sigma(1.0, 0.0)
    with pytest.raises(InvalidParameter, match="delta"):
        indicator("1.5")
