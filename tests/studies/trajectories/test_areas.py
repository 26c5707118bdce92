"""The disc's default area against a scan of all areas, by exact averages over a grid."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.core import Interval, Rectangle, make_mechanism

CELLS = 40


@cache
def nearest_sums() -> NDArray[np.float64]:
    """The distance to the k nearest cells of a grid, summed, on average over the cell in the middle of them."""
    at = (np.arange(CELLS) + 0.5) / CELLS
    x, y = (side.ravel() for side in np.meshgrid(at, at))
    total = np.zeros(CELLS**2)
    for own_x, own_y in zip(x, y, strict=True):
        total += np.cumsum(np.sort(np.hypot(x - own_x, y - own_y)))
    return np.asarray(total / CELLS**2)


def average_errors(epsilon: float) -> NDArray[np.float64]:
    """The average error with 1, 2, … favoured cells."""
    sums, members = nearest_sums(), np.arange(1, CELLS**2 + 1)
    gain = math.expm1(epsilon)
    return np.asarray((sums[-1] + gain * sums) / (CELLS**2 + gain * members))


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 5])
def test_the_default_area_is_as_good_as_the_best_one_of_a_scan(epsilon: float) -> None:
    domain = Rectangle(Interval(0, 1, cells=CELLS), Interval(0, 1, cells=CELLS))
    members = make_mechanism("nearest-cells", domain=domain, epsilon=epsilon).members
    errors = average_errors(epsilon)
    assert errors[members - 1] <= 1.0005 * errors.min(), (members / CELLS**2, int(errors.argmin() + 1) / CELLS**2)


def test_the_scan_gives_the_stated_errors_and_shows_where_a_fixed_answer_is_nearer() -> None:
    for epsilon, stated in ((2, 0.336), (4, 0.192), (6, 0.103)):
        assert average_errors(epsilon).min() == pytest.approx(stated, abs=0.003)
    at = (np.arange(CELLS) + 0.5) / CELLS - 0.5
    always_the_centre = float(np.hypot(*np.meshgrid(at, at)).mean())
    assert average_errors(1).min() > always_the_centre > average_errors(1.5).min()
