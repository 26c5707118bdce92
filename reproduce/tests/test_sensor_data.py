"""The mean distance of a histogram of reports, by their law: it is that of many histograms of simulated reports."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable_reproduce.artifact import Run
from deniable_reproduce.figures.figure_5_16 import euclidean
from deniable_reproduce.released_data import FIGURE_5_16
from deniable_reproduce.sensor_data import CIRCULAR, LEVELS, LINEAR, TURN, expected_distance, histogram, repeat

VALUES = np.linspace(0, 1, 500, endpoint=False) ** 3
RUNS, BINS = 150, 49


@pytest.mark.parametrize("around", [False, True], ids=["interval", "circle"])
@pytest.mark.parametrize("name", ["OGPM", "PM-C", "SW-C"])
@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_the_law_gives_the_mean_of_many_histograms(name: str, epsilon: float, around: bool) -> None:
    """Twelve differences below six standard errors of 150 repetitions (false alarm below 1e-7)."""
    build, width = (CIRCULAR, TURN) if around else (LINEAR, 1.0)
    repeated = repeat(Run(), VALUES * width, build[name](epsilon), RUNS, f"law {name}", histogram(width, BINS))
    distances = euclidean(repeated.estimates - repeated.truth)
    expected = expected_distance(VALUES, name, epsilon, BINS, around=around)
    assert abs(distances.mean() - expected) < 6 * distances.std(ddof=1) / math.sqrt(RUNS) + 0.05, "and the cells' rounding"


def test_another_law_would_be_noticed() -> None:
    right, wrong = (expected_distance(VALUES, name, 5.0, BINS, around=False) for name in ("OGPM", "SW-C"))
    assert abs(right - wrong) > 10


def test_the_released_tables_have_all_levels_and_mechanisms() -> None:
    for table in FIGURE_5_16.values():
        assert list(table.levels) == LEVELS
        assert list(table.columns) == ["OGPM", "PM-C", "SW-C"]
