"""Quantiles and their intervals, on fixed streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.batch import randomize_many
from deniable.core import Circle, Interval, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import quantiles
from deniable.privacy import FixedKeystream

from .numeric_runs import people_of, surveys

TRUTH = stats.beta(2, 3)
LEVELS = (0.25, 0.5, 0.75)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["these users", "population"])
def test_intervals_of_quantiles_cover(target: Any) -> None:
    mechanism, runs, size = make_mechanism("sw", domain=Interval(0, 1, cells=1024), epsilon=2), 40, 2000
    people = people_of(TRUTH, (runs, size), target, seed=1)
    inside = np.zeros(3)
    for sums in surveys(mechanism, people, f"quantiles {target}"):
        low, high = quantiles(sums, LEVELS, target=target).interval()
        inside += (low <= TRUTH.ppf(LEVELS)) & (TRUTH.ppf(LEVELS) <= high)
    # 40 runs at 95 %: fewer than 29 hold once in 10**6 times.
    assert (inside >= 29).all()


def test_quantiles_are_in_the_units_of_the_domain() -> None:
    mechanism = make_mechanism("sw", domain=Interval(-100, 300, cells=4096), epsilon=4)
    values = 400 * TRUTH.ppf((np.arange(20_000) + 0.5) / 20_000) - 100
    estimate = quantiles(randomize_many(mechanism, values, FixedKeystream("units")), [0.1, 0.5])
    # 6 standard errors, and half a bin for what smoothing bends.
    assert (np.abs(estimate.value - np.quantile(values, [0.1, 0.5])) < 6 * estimate.standard_error + 1).all()
    assert estimate.labels == (0.1, 0.5)


def test_what_has_no_quantiles_is_refused() -> None:
    reports = randomize_many(make_mechanism("sw", epsilon=1), [0.5] * 10, FixedKeystream("no"))
    for levels in (0, 1, [0.5, 2], []):
        with pytest.raises(InvalidParameter, match="levels"):
            quantiles(reports, levels)
    circle = make_mechanism("circular-window", domain=Circle(1, cells=36), epsilon=1)
    with pytest.raises(NotSupported, match="order"):
        quantiles(randomize_many(circle, [0.5], FixedKeystream("no")))
