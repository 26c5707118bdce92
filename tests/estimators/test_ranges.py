"""Shares of ranges, on fixed streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.batch import randomize_many
from deniable.core import Circle, Interval, make_mechanism
from deniable.errors import InvalidParameter
from deniable.estimators import range_share
from deniable.estimators.ranges import covered
from deniable.privacy import FixedKeystream

from .numeric_runs import people_of, surveys

TRUTH = stats.beta(2, 3)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["these users", "population"])
def test_intervals_of_ranges_cover(target: Any) -> None:
    mechanism, runs, size = make_mechanism("sw", domain=Interval(0, 1, cells=1024), epsilon=3), 100, 2000
    people = people_of(TRUTH, (runs, size), target, seed=2)
    truth, inside = float(TRUTH.cdf(0.7) - TRUTH.cdf(0.25)), 0
    for sums in surveys(mechanism, people, f"ranges {target}"):
        low, high = range_share(sums, 0.25, 0.7, target=target).interval()
        inside += bool(low <= truth <= high)
    # 100 runs at 95 %: fewer than 80 hold once in 10**7 times.
    assert inside >= 80


def test_a_range_may_cross_zero_on_a_circle() -> None:
    mechanism = make_mechanism("circular-window", domain=Circle(24, cells=240), epsilon=4)
    hours = np.concatenate([np.full(3000, 23.5), np.full(1000, 12.0)])
    reports = randomize_many(mechanism, hours, FixedKeystream("night"))
    # Two single hours are no smooth truth: plain EM.
    night, day = range_share(reports, 22, 1, method="em"), range_share(reports, 1, 22, method="em")
    assert float(night.value) == pytest.approx(0.75, abs=0.08)
    assert float(night.value + day.value) == pytest.approx(1)
    assert float(range_share(reports, 0, 24).value) == pytest.approx(1)


def test_parts_of_bins_count_in_part() -> None:
    edges = np.linspace(0, 4, 5)
    assert covered(edges, 0.5, 2.25).tolist() == [0.5, 1, 0.25, 0]
    assert covered(edges, -5, 9).tolist() == [1, 1, 1, 1]
    assert covered(edges, 3.5, 0.5, circular=True).tolist() == [0.5, 0, 0, 0.5]


def test_ranges_upside_down_are_refused() -> None:
    reports = randomize_many(make_mechanism("sw", epsilon=1), [0.5] * 10, FixedKeystream("no"))
    with pytest.raises(InvalidParameter, match="low"):
        range_share(reports, 0.6, 0.4)
    with pytest.raises(InvalidParameter, match="finite"):
        range_share(reports, float("nan"), 0.4)


@pytest.mark.parametrize("name", ["sw", "window", "laplace"])
def test_few_reports_are_never_certain(name: str) -> None:
    mechanism = make_mechanism(name, epsilon=1)
    for i in range(5):
        estimate = range_share(randomize_many(mechanism, [0.3, 0.3], FixedKeystream(str(i))), 0.2, 0.6)
        low, high = estimate.interval()
        assert low < 0.05
        assert high > 0.95
