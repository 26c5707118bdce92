"""The closed forms of the proof pages, against brute-force programs on coarse grids."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

from deniable.core import Epsilon, best_share
from deniable.core.mechanisms.numeric._atoms_shape import best_atoms, worst_error
from deniable.planning import best_quantiser, quantiser_error


def best_kernel(loss: Any, eps: float, *, constant: bool = False, prior: bool = False) -> float:
    """The least worst (or, with `prior`, average) loss over all kernels on a grid; `constant`: with one lower weight."""
    inputs, outputs = loss.shape
    e, size = math.exp(eps), inputs * outputs
    references = 1 if constant else outputs
    width = size + references + 1
    rows, bounds = [], []
    for x in range(inputs):
        for y in range(outputs):
            entry, reference = x * outputs + y, size + (0 if constant else y)
            for signs in ((-1.0, 1.0), (1.0, -e)):
                row = np.zeros(width)
                row[entry], row[reference] = signs
                rows.append(row)
                bounds.append(0.0)
        if not prior:
            row = np.zeros(width)
            row[x * outputs : (x + 1) * outputs], row[-1] = loss[x], -1.0
            rows.append(row)
            bounds.append(0.0)
    totals = np.zeros((inputs, width))
    for x in range(inputs):
        totals[x, x * outputs : (x + 1) * outputs] = 1
    aim = np.zeros(width)
    if prior:
        aim[:size] = loss.ravel() / inputs
    else:
        aim[-1] = 1
    found = linprog(aim, A_ub=np.array(rows), b_ub=np.array(bounds), A_eq=totals, b_eq=np.ones(inputs), method="highs")
    assert found.success
    return float(found.fun or 0.0)


def band(values: Any, eps: float) -> float:
    """The least mean of `values` over weights in a constant band: favour the smallest ones."""
    ordered, count = np.sort(values), len(values)

    def total(low: float) -> float:
        left, found = 1 - low * count, low * float(ordered.sum())
        for value in ordered.tolist():
            more = min(left, low * math.expm1(eps))
            found, left = found + more * value, left - more
        return found

    return float(
        minimize_scalar(total, bounds=(1 / count / math.exp(eps), 1 / count), method="bounded", options={"xatol": 1e-12}).fun
    )


@pytest.mark.parametrize(("k", "eps"), [(1, 1.0), (2, 2.0), (1.5, 0.5)])
def test_with_one_lower_density_an_end_is_worst_and_a_window_best(k: float, eps: float) -> None:
    cells = 16
    loss = np.abs((np.arange(cells) + 0.5) / cells - np.arange(cells + 1)[:, None] / cells) ** k
    assert best_kernel(loss, eps, constant=True) == pytest.approx(band(loss[0], eps), rel=1e-6)


@pytest.mark.parametrize(("k", "eps"), [(1, 1.0), (2, 2.0), (3, 4.0), (0.5, 1.0)])
def test_the_windows_share_solves_the_one_dimensional_problem(k: float, eps: float) -> None:
    middles = (np.arange(20000) + 0.5) / 20000
    share = best_share(Epsilon(eps), Fraction(k))
    assert share**k == pytest.approx(band(middles**k, eps), rel=1e-4)


@pytest.mark.parametrize(("k", "eps"), [(1, 1.0), (2, 1.0), (2, 3.0)])
def test_on_a_circle_no_kernel_beats_an_arc(k: int, eps: float) -> None:
    cells = 14
    turns = np.abs(np.arange(cells) - np.arange(cells)[:, None])
    loss = (2 * np.pi * np.minimum(turns, cells - turns) / cells) ** k
    assert best_kernel(loss, eps) == pytest.approx(band(loss[0], eps), rel=1e-6)


@pytest.mark.parametrize("eps", [0.3, 1.0, 1.7])
def test_one_bit_is_minimax_for_squared_error(eps: float) -> None:
    e = math.exp(eps)
    outputs = np.array([0, 0.25, 0.4, 0.5, 0.6, 0.75, 1, 1 / (1 + e), e / (1 + e)])
    values = np.linspace(0, 1, 13)
    assert best_kernel((outputs - values[:, None]) ** 2, eps) == pytest.approx(e / (1 + e) ** 2, rel=1e-6)


def test_beyond_the_range_of_the_theorem_one_bit_is_not_best() -> None:
    e = math.exp(2.5)
    grid = np.linspace(0, 1, 13)
    assert e / (1 + e) ** 2 < best_kernel((grid - grid[:, None]) ** 2, 2.5) < (e - 1) ** 2 / (4 * (1 + e) ** 2)


@pytest.mark.parametrize("eps", [0.5, 2.0, 4.0])
def test_the_error_with_atoms_is_that_of_rows_filled_by_distance(eps: float) -> None:
    w, m = best_atoms(Epsilon(eps))
    count = 4000
    places = np.concatenate([[0.0], (np.arange(count) + 0.5) / count, [1.0]])
    reference = np.concatenate([[w], np.full(count, (1 - 2 * w) / count), [w]])
    worst = 0.0
    for x in np.linspace(0, 0.5, 101):
        away = np.abs(places - x)
        order = np.argsort(away, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(reference[order])[:-1]])
        favoured = np.clip(m - before, 0, reference[order])
        row = (reference[order] + math.expm1(eps) * favoured) / (1 + math.expm1(eps) * m)
        assert row.sum() == pytest.approx(1, rel=1e-12)
        worst = max(worst, float(row @ away[order]))
    assert worst == pytest.approx(worst_error(w, m, eps), rel=2e-3)
    grid = np.linspace(0, 1, 17)
    lower = best_kernel(np.abs(grid - grid[:, None]), eps)
    assert lower * 0.97 < worst_error(w, m, eps) < best_share(Epsilon(eps), Fraction(1))


@pytest.mark.parametrize("eps", [0.5, 1.0, 4.0])
def test_the_quantisers_error_is_what_its_answers_give(eps: float) -> None:
    cells, error = best_quantiser(eps)
    middles = (np.arange(cells) + 0.5) / cells
    chances = (np.full((cells, cells), 1.0) + math.expm1(eps) * np.eye(cells)) / (cells + math.expm1(eps))
    shrink = math.expm1(eps) / (cells + math.expm1(eps))
    readings = 0.5 + shrink * (middles - 0.5)
    within = 1 / (12 * cells**2)
    mean = float((chances * (readings - middles[:, None]) ** 2).sum() / cells) + within
    assert error == pytest.approx(mean, rel=1e-12)
    assert error == min(quantiser_error(m, eps) for m in range(2, 12))


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
def test_no_kernel_passes_the_bound_on_average_squared_error(eps: float) -> None:
    count = 16
    values = (np.arange(count) + 0.5) / count
    lost = 1 / (12 * count**2)  # the variance within a cell of the coarse grid
    found = best_kernel((np.linspace(0, 1, 21) - values[:, None]) ** 2, eps, prior=True) + lost
    bound = 1 / 12 - math.tanh(eps / 4) ** 2 / 4
    assert bound <= found
    assert bound <= best_quantiser(eps)[1]
    assert found <= best_quantiser(eps)[1] * 1.01
