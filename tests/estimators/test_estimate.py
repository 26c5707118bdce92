"""What an estimate promises, whatever it is of."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from deniable.batch import Floats, accumulator_for
from deniable.core import Categories, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import Estimate, accumulated, half_width, mean, shares


def estimate(**changes: Any) -> Estimate:
    usual: dict[str, Any] = {"value": np.array([1.0, 2.0]), "variance": np.array([4.0, 9.0])}
    return Estimate(**{**usual, "n": 10, "target": "population", "method": "a test", **changes})


def test_the_normal_interval_is_as_wide_as_the_errors() -> None:
    low, high = estimate().interval(0.95)
    assert low == pytest.approx([1 - 1.959964 * 2, 2 - 1.959964 * 3], abs=1e-5)
    assert high == pytest.approx([1 + 1.959964 * 2, 2 + 1.959964 * 3], abs=1e-5)
    assert estimate().standard_error.tolist() == [2.0, 3.0]


def test_the_variance_is_the_diagonal_of_the_covariance() -> None:
    found = estimate(variance=None, covariance=np.array([[4.0, 1.0], [1.0, 9.0]]))
    assert found.variance.tolist() == [4.0, 9.0]
    number = estimate(value=3, variance=None, covariance=np.array([[4.0]]))
    assert number.variance.shape == ()
    assert float(number.standard_error) == 2


def test_levels_lie_between_0_and_1() -> None:
    assert half_width(0.95) == pytest.approx(1.959964, abs=1e-6)
    for level in (0, 1, 95, float("nan")):
        with pytest.raises(InvalidParameter, match="level"):
            estimate().interval(level)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"variance": None}, "needs a variance"),
        ({"variance": np.array([1.0])}, "shape"),
        ({"covariance": np.eye(3)}, "one row and one column"),
        ({"labels": ("only one",)}, "one label"),
        ({"target": "everyone"}, "target"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidParameter, match=rule):
        estimate(**changes)


def test_estimates_do_not_change() -> None:
    with pytest.raises(AttributeError):
        estimate().n = 11  # type: ignore[misc]


def test_exact_intervals_are_only_where_there_are_any() -> None:
    with pytest.raises(NotSupported, match="a test"):
        estimate().interval(method="exact")


def test_sources_are_sums_or_reports() -> None:
    coin = make_mechanism("randomized-response", epsilon=1)
    sums = accumulator_for(coin).add(coin.randomize(1))
    assert accumulated(sums) is sums
    assert accumulated(coin.randomize_many([1, 0])).n == 2
    for empty in (accumulator_for(coin), coin.randomize_many([])):
        with pytest.raises(InvalidParameter, match="there are no reports to estimate from"):
            accumulated(empty)
    with pytest.raises(InvalidParameter, match="got list"):
        accumulated([coin.randomize(1)])  # type: ignore[arg-type]


def test_a_covariance_that_is_given_as_a_function_is_worked_out_once_and_when_it_is_asked_for() -> None:
    asked = []

    def work() -> Floats:
        asked.append(True)
        return np.diag([4.0, 9.0])

    later = Estimate(
        value=np.array([0.5, 0.5]),
        variance=np.array([4.0, 9.0]),
        covariance=work,  # type: ignore[arg-type]
        n=10,
        target="population",
        method="",
        total=1.0,
    )
    projected = later.projected()
    assert repr(later)
    assert not asked
    assert projected.covariance is later.covariance
    assert later.covariance is later.covariance
    assert len(asked) == 1


def test_estimates_that_work_things_out_later_can_be_pickled() -> None:
    values = np.arange(60) % 5
    for estimate in (
        shares(make_mechanism("oue", domain=Categories(5), epsilon=1).randomize_many(values)),
        mean(make_mechanism("pm", epsilon=1).randomize_many(values / 4)),
    ):
        again = pickle.loads(pickle.dumps(estimate))
        assert again.interval(0.9)[0] == pytest.approx(estimate.interval(0.9)[0])
        if estimate.covariance is not None:
            assert again.covariance == pytest.approx(estimate.covariance)
