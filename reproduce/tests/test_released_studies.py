"""The case studies as released: how a box is searched, and how draws outside of the range are counted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.batch import Floats
from deniable.privacy import FixedKeystream
from deniable_reproduce.artifact import Run
from deniable_reproduce.released_studies import box_ends, released_accuracy, released_box, released_model, same_answer

POINT = np.array([0.7, 0.5])


def above(values: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.asarray(values[:, 0] > 0.5)


def test_draws_outside_of_the_range_count_as_failures() -> None:
    """At x = 0.7 and 0.5 with everything answered right, what is left is the share of draws inside, exactly."""
    for epsilon, found in zip(range(1, 9), released_accuracy(_always, POINT, "Laplace", Run(), "test", 1000), strict=True):
        outside = [(math.exp(-epsilon * x) + math.exp(-epsilon * (1 - x))) / 2 for x in POINT]
        assert found == pytest.approx(1 / (1 + sum(1 / (1 - share) - 1 for share in outside)))
    assert released_accuracy(_always, POINT, "PM", Run(), "test", 1000) == [1.0] * 8


def _always(values: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    assert values.min() >= 0
    assert values.max() <= 1
    return np.ones(len(values), np.bool_)


def test_laplace_falls_behind_exponential_by_this_count_only() -> None:
    """20,000 draws: six standard errors are 0.022. With every report answered Laplace has 1 − e^(−0.2 ε)/2."""
    laplace, exponential = (
        released_accuracy(above, POINT[:1], name, Run(), "order", 20_000) for name in ("Laplace", "Exponential")
    )
    assert laplace[0] < exponential[0] - 0.05
    assert 1 - math.exp(-0.2) / 2 > exponential[0] + 0.022


def test_the_released_search_accepts_more_than_the_exact_box() -> None:
    """Up to 3 % of the points may have another answer, so that the box reaches below the boundary at 0.5."""
    low, high = released_box(above, POINT, 0.03, FixedKeystream("box"))
    assert 0.47 < low[0] < 0.5
    assert high[0] == 1
    ends = box_ends(above, POINT, 0.03, {"from": (0, 0), "to": (0, 1)}, Run(), "ends", 3)
    assert all(0.47 < end < 0.5 for end in ends["from"])
    assert ends["to"] == [1.0] * 3


def test_models_are_trained_on_four_fifths_and_answer_as_their_cells_say() -> None:
    pytest.importorskip("sklearn")
    places = np.random.default_rng(5).random((200, 3))
    labels = (places[:, 0] + 0.2 * places[:, 1] > 0.7).astype(np.int64)
    record, tried = places[0], np.random.default_rng(6).random((300, 2))
    rows = np.repeat(record[None], 300, axis=0)
    rows[:, :2] = tried
    for kind in ("LR", "RF"):
        model = released_model(kind, places, labels)
        expected = model.predict(rows) == model.predict(record[None])[0]
        assert np.array_equal(same_answer(model, record, [0, 1])(tried), expected)
