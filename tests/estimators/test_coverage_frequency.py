"""Do 95 % intervals of these users' shares hold the truth 95 times in 100? For every categorical mechanism.

What a false alarm would take is in frequency_coverage.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch import Reports
from deniable.estimators import shares

from .frequency_coverage import exact_coverage, normal_coverage
from .simulated import ALL, CATEGORICAL, accumulators, mechanism_of, outputs_of_runs, sums_of_runs


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_normal_intervals_cover_these_users_as_often_as_they_say(name: str) -> None:
    assert 0.94 < normal_coverage(name, "these users") < 0.96


@pytest.mark.parametrize("name", ["randomized-response", *CATEGORICAL])
def test_exact_intervals_cover_these_users_at_least_as_often_as_they_say(name: str) -> None:
    assert exact_coverage(name, "these users") > 0.945


def test_reports_and_simulated_sums_are_the_same() -> None:
    # What these tests rest on: rows of sums are what accumulators of the same reports hold.
    for name in ALL:
        mechanism = mechanism_of(name, 4, 1)
        people = np.tile(np.arange(50) % mechanism.domain.size, (3, 1))
        outputs = outputs_of_runs(mechanism, people, "sums")
        for row, sums in zip(outputs, accumulators(mechanism, sums_of_runs(mechanism, outputs), 50), strict=True):
            assert shares(Reports(mechanism, row)).value.tolist() == shares(sums).value.tolist()
