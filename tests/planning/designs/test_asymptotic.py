"""As epsilon grows: the limits are those that certified designs run into, and their references are saddle points."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from deniable.core import Interval
from deniable.errors import NotSupported
from deniable.planning import Answer, LimitShape, design, limit_of_average, limit_of_worst
from deniable.planning.designs.asymptotic import PREDICT_FROM, _stationary, known_limit, limit_start
from deniable.planning.designs.cutting_planes import LossCuts, solve

LOSSES = {1: "absolute", 2: "squared"}


@cache
def designed(k: int, eps: float, prior: str) -> Answer:
    return design(Interval(0, 1), LOSSES[k], eps, prior)


def errors(
    shape: LimitShape, u: np.ndarray[tuple[int], np.dtype[np.float64]], cells: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The limit's error at the middle of every cell, for u given there."""
    k, x = shape.exponent, (np.arange(cells) + 0.5) / cells
    edges = np.arange(cells + 1) / cells - x[:, None]
    losses = np.diff(np.sign(edges) * np.abs(edges) ** (k + 1) / (k + 1), axis=1)
    return np.asarray((2 * u) ** -k / (k + 1) + losses @ u)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
def test_closed_forms_agree_with_the_conditions_of_an_optimum(k: int) -> None:
    coarse, fine = (_stationary(float(k), cells)[0] for cells in (100, 200))
    assert (4 * fine - coarse) / 3 == pytest.approx(limit_of_worst(k).constant, rel=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("k", [0.5, 1, 1.5, 2, 3])
def test_every_value_has_the_same_error_and_no_other_reference_does_better(k: float) -> None:
    shape, cells = limit_of_worst(k), 400
    x = (np.arange(cells) + 0.5) / cells
    u = np.interp(x, shape.places, shape.heights)
    found = errors(shape, u, cells)
    assert found.max() - found.min() < 2e-3 * shape.constant
    assert found.mean() == pytest.approx(shape.constant, rel=1e-3)
    rng = np.random.default_rng(7)
    for waves in (1, 2, 3, 5):
        bend = 1 + 0.1 * np.cos(math.pi * waves * x + rng.uniform(0, math.pi))
        assert errors(shape, u * bend, cells).max() > shape.constant * 1.002
    for factor in (0.9, 1.1):
        assert errors(shape, u * factor, cells).max() > shape.constant


@pytest.mark.parametrize("k", [0.5, 1, 2, 3])
def test_the_average_limit_is_a_minimum(k: float) -> None:
    shape, cells = limit_of_average(k), 400
    x = (np.arange(cells) + 0.5) / cells
    u = np.interp(x, shape.places, shape.heights)
    assert errors(shape, u, cells).mean() == pytest.approx(shape.constant, rel=1e-4)
    for waves in (0, 1, 2, 5):
        bend = 1 + 0.1 * np.cos(math.pi * waves * x)
        assert errors(shape, u * bend, cells).mean() > shape.constant * 1.0005
    assert shape.constant < limit_of_worst(k).constant


@pytest.mark.slow
@pytest.mark.parametrize(("k", "prior", "within"), [(1, "worst", 2e-3), (2, "worst", 1e-2), (1, "uniform", 5e-3)])
def test_certified_designs_run_into_the_limit(k: int, prior: str, within: float) -> None:
    shape = known_limit(k, prior)
    assert shape is not None
    # What is left falls like the half-width of a window, e**(-epsilon/(k+1)): two designs tell where they go.
    grown = []
    for eps in (6.0, 8.0):
        found = designed(k, eps, prior)
        assert found.gap < 1.01
        grown.append((found.worst_case + found.lower_bound) / 2 * math.exp(shape.rate * eps))
    falls = math.exp(-2 / (k + 1))
    assert (grown[1] - falls * grown[0]) / (1 - falls) == pytest.approx(shape.constant, rel=within)
    assert abs(grown[1] / shape.constant - 1) < abs(grown[0] / shape.constant - 1)


@pytest.mark.slow
def test_the_limit_is_shown_beside_designs_of_large_epsilon_only() -> None:
    found = designed(1, 6.0, "worst").predicted
    assert found is not None
    assert found["error"] == pytest.approx(0.6002907341 * math.exp(-3), rel=1e-9)
    assert found["rate"] == 0.5
    assert limit_of_worst(1).predict(PREDICT_FROM - 0.01) is None
    wide = limit_of_worst(2).predict(8, scale=100.0)
    assert wide is not None
    assert wide["error"] == pytest.approx(30.55363801 * math.exp(-16 / 3), rel=1e-9)


def test_a_program_that_starts_from_the_limit_finds_the_same_sooner() -> None:
    eps, steps = 7.0, 256
    y = np.linspace(0, 1, steps + 1)
    mirrored = np.minimum(np.arange(steps + 1), steps - np.arange(steps + 1))
    cuts = LossCuts(np.abs(y - y[: steps // 2 + 1, None]), mirrored, math.exp(eps), worst=True)
    start = limit_start(limit_of_worst(1), y, eps)
    assert start is not None
    fast, slow = (solve(cuts, begin, np.ones(1), math.exp(eps), tolerance=1e-5) for begin in (start, cuts.start()))
    assert fast.value == pytest.approx(slow.value, rel=1e-5)
    assert fast.rounds < slow.rounds


def test_losses_without_a_known_limit_have_none() -> None:
    assert known_limit(None, "worst") is None
    assert known_limit(7, "worst") is None
    assert known_limit(1, "weighted") is None
    with pytest.raises(NotSupported, match="up to 5"):
        limit_of_worst(7)
