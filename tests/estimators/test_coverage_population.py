"""Do 95 % intervals of the population's shares hold the truth 95 times in 100? For every categorical mechanism.

What a false alarm would take is in frequency_coverage.py.
"""

from __future__ import annotations

import pytest

from .frequency_coverage import exact_coverage, normal_coverage
from .simulated import ALL, CATEGORICAL


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_normal_intervals_cover_the_population_as_often_as_they_say(name: str) -> None:
    assert 0.94 < normal_coverage(name, "population") < 0.96


@pytest.mark.parametrize("name", ["randomized-response", *CATEGORICAL])
def test_exact_intervals_cover_the_population_at_least_as_often_as_they_say(name: str) -> None:
    assert exact_coverage(name, "population") > 0.945
