"""Mutual information: short forms equal the matrix, and nothing exceeds the bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.core import Categories, Circle, Interval, mechanism_class
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import closed_form, dense, mutual_information
from deniable.estimators.law import information


def made(name: str, **parameters: Any) -> Any:
    """A mechanism by its wire name."""
    return mechanism_class(name)(**parameters)


def by_matrix(mechanism: Any, prior: Any = None) -> float:
    """From the definition: the sum of prior * P(y|x) ln(P(y|x) / P(y))."""
    rows = dense(mechanism.channel, np.arange(mechanism.channel.inputs))
    share = np.full(len(rows), 1 / len(rows)) if prior is None else np.asarray(prior)
    marginal = share @ rows
    total = 0.0
    for weight, row in zip(share, rows, strict=True):
        total += weight * sum(p * math.log(p / m) for p, m in zip(row.tolist(), marginal.tolist(), strict=True) if p > 0)
    return total


CASES = [
    ("k-rr", {"domain": Categories(6)}),
    ("hadamard", {"domain": Categories(11)}),
    ("subset", {"domain": Categories(8)}),
    ("sue", {"domain": Categories(8)}),
    ("oue", {"domain": Categories(8)}),
    ("ogpm", {"domain": Interval(0, 1, cells=32)}),
    ("pm-c", {"domain": Interval(0, 1, cells=32)}),
    ("circular-ogpm", {"domain": Circle(cells=32)}),
]


@pytest.mark.parametrize(("name", "parameters"), CASES)
@pytest.mark.parametrize("short", [False, True])
def test_every_form_equals_the_definition(
    name: str, parameters: dict[str, Any], short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = made(name, epsilon=1.3, **parameters)
    exact = by_matrix(mechanism)
    if short:
        # Pretend that the matrix is too large, so that the short form answers.
        monkeypatch.setattr(information, "_matrix", lambda *_: pytest.fail("the matrix was used"))
        most = mechanism.channel.inputs * mechanism.channel.outputs - 1
        monkeypatch.setattr(information, "MOST_OUTPUTS", most)
    assert mutual_information(mechanism) == pytest.approx(exact, rel=1e-9)
    assert 0 < exact <= closed_form(mechanism, "information_bound")


def test_a_prior_may_be_given() -> None:
    mechanism = made("k-rr", domain=Categories(3), epsilon=1)
    assert mutual_information(mechanism, [0.7, 0.2, 0.1]) == pytest.approx(by_matrix(mechanism, [0.7, 0.2, 0.1]))
    assert mutual_information(mechanism, [1, 0, 0]) == pytest.approx(0, abs=1e-12)


def test_fine_windows_approach_their_limit() -> None:
    fine = mutual_information(made("circular-ogpm", epsilon=2))
    h = math.e
    share = 1 / (h + 1)
    assert fine == pytest.approx(share * h * math.log(h) + (1 - share) / h * math.log(1 / h), rel=1e-5)


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.5, 0.4, 0.3], [1.5, -0.5, 0], [math.nan, 0, 1]])
def test_what_is_no_prior_is_refused(prior: list[float]) -> None:
    with pytest.raises(InvalidParameter, match="prior"):
        mutual_information(made("k-rr", domain=Categories(3), epsilon=1), prior)


def test_hashing_has_no_short_form() -> None:
    with pytest.raises(NotSupported, match="information_bound"):
        mutual_information(made("olh", domain=Categories(1000), epsilon=1))


@pytest.mark.parametrize("epsilon", [0.01, 1, 4])
def test_the_bound_is_the_maximum_it_claims(epsilon: float) -> None:
    e = math.exp(epsilon)
    shares = np.linspace(0, 1, 100_001)
    values = shares * e * epsilon / (1 + shares * (e - 1)) - np.log(1 + shares * (e - 1))
    bound = closed_form(made("randomized-response", epsilon=epsilon), "information_bound")
    assert bound == pytest.approx(float(values.max()), rel=1e-6)
