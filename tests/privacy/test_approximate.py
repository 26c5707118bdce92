"""Gaussian noise and raw values: closed forms against sums, and against the mechanisms' own certificates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from deniable.errors import InvalidParameter
from deniable.mechanisms import make_mechanism
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
    assert gaussian_delta(1.0, 1e6) == 0.0
    assert 0 < gaussian_delta(20.0, 1.0) < 1e-60
    assert gaussian_delta(1e9, 0.0) == pytest.approx(1 / (1e9 * math.sqrt(2 * math.pi)), rel=1e-6)


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
