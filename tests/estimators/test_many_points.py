"""Reports with little noise tell many points apart, and as many of them may have a share."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.estimators.active_set import MOST_CHOSEN, furthest
from deniable.estimators.most_likely import most_likely

POINTS = MOST_CHOSEN + 40


def nearly_exact(size: int) -> Floats:
    """Reports that are nearly always right."""
    return np.asarray(0.98 * np.eye(size) + 0.02 / size)


def test_the_most_likely_distribution_may_have_more_points_than_one_step_takes_in() -> None:
    likely, count = most_likely(nearly_exact(POINTS), np.full(POINTS, 1 / POINTS), 1e6)
    assert count == POINTS
    assert abs(likely + np.log(POINTS)) < 1e-9


def test_the_search_for_an_end_may_start_from_more_points_than_it_takes_in() -> None:
    """Uncompiled, where writing beyond an array is an error; compiled it overwrote the memory behind it."""
    chances, even = nearly_exact(POINTS), np.full(POINTS, 1 / POINTS)
    roots = chances * np.sqrt(POINTS)
    weights = np.linspace(0.0, 1.0, POINTS)
    asked = roots @ (even @ roots)
    bounds = []
    searches: list[Any] = [furthest.py_func, furthest]
    for search in searches:
        rows, ready = np.empty((POINTS, POINTS)), np.zeros(POINTS, np.bool_)
        start = np.arange(POINTS)
        bounds.append(search(roots, rows, ready, asked, float(even @ asked), weights, 1e-4, 0.5, start, even, 0.0)[0])
    assert 0.5 < bounds[0] < 0.52
    assert abs(bounds[0] - bounds[1]) < 1e-9
