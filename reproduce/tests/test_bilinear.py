"""The published m-piece framework on a global solver, against the closed forms."""

from __future__ import annotations

import importlib.util
import math
import sys
from fractions import Fraction

import pytest

from deniable.core import Epsilon, best_share
from deniable.errors import InvalidParameter, MissingPackage, NotSupported
from deniable_reproduce.bilinear import PiecewiseSolution, check_pieces, fit_height, optimal_breaks, optimal_heights

HAS_SCIP = importlib.util.find_spec("pyscipopt") is not None
needs_scip = pytest.mark.skipif(not HAS_SCIP, reason="pyscipopt is not installed: pip install 'deniable-reproduce[scip]'")


@needs_scip
@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("eps", [0.5, 1, 3])
def test_two_heights_at_an_end_are_the_windows(eps: float, exponent: int) -> None:
    share = best_share(Epsilon(eps), Fraction(exponent))
    found = optimal_heights(eps, 2, exponent=exponent, seconds=10)
    assert found.error == pytest.approx(share**exponent, rel=2e-4)
    assert found.gap <= 1.0002
    assert found.lower_bound <= share**exponent * (1 + 1e-7)
    assert found.breaks[1] == pytest.approx(share, rel=0.02)
    assert found.heights[0] / found.heights[1] == pytest.approx(math.exp(eps), rel=1e-3)


@pytest.mark.slow
@needs_scip
@pytest.mark.parametrize(("eps", "x", "exponent"), [(1.3, 0.3, 1), (2.2, 0.62, 2)])
def test_more_pieces_do_not_help(eps: float, x: float, exponent: int) -> None:
    found = check_pieces(eps, x, (3, 4, 5), exponent=exponent, seconds=1.5)
    assert found.same_error
    assert found.same_pieces
    assert all(len(solution.heights) <= 3 for solution in found.at_x)
    # No bound of the solver contradicts the closed form, however far it got.
    value = best_share(Epsilon(eps), Fraction(exponent)) ** exponent
    assert all(solution.lower_bound <= value * (1 + 1e-6) for solution in found.ends)
    assert found.proved >= 1


@needs_scip
def test_pieces_at_a_value_are_the_slid_window() -> None:
    h = math.exp(0.5)
    s = 1 / (h + 1)
    found = optimal_breaks([1 / h, h, 1 / h], 0.3, seconds=10).merged()
    assert found.breaks == pytest.approx([0, 0.3 - s / 2, 0.3 + s / 2, 1], abs=5e-3)
    at_the_end = optimal_breaks([1 / h, h, 1 / h], 0.05, seconds=10).merged()
    assert at_the_end.breaks == pytest.approx([0, s, 1], abs=5e-3)


@needs_scip
def test_the_regression_finds_the_theorem_and_not_the_printed_offset() -> None:
    b1, b2, worst = fit_height([0.5, 1.5, 2.5, 4], seconds=8)
    assert b1 == pytest.approx(0.5, abs=0.02)
    assert abs(b2) < 0.07
    assert worst < 0.07


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingPackage, match="pip install"):
        optimal_heights(1)


def test_redundant_pieces_are_merged() -> None:
    found = PiecewiseSolution((0.5, 2.0, 2.0, 1.7, 0.5), (0.0, 0.2, 0.3, 0.5, 0.5, 1.0), 0.1, 0.1, "optimal").merged()
    assert found.heights == (0.5, 2.0, 0.5)
    assert found.breaks == (0.0, 0.2, 0.5, 1.0)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="pieces"):
        optimal_heights(1, 8)
    with pytest.raises(InvalidParameter, match="exponent"):
        optimal_heights(1, 3, exponent=3)
    with pytest.raises(InvalidParameter, match="seconds"):
        optimal_heights(1, 3, seconds=0)
    with pytest.raises(NotSupported, match="closed form"):
        optimal_heights(12, 3)
    with pytest.raises(InvalidParameter, match="both sides of 1"):
        optimal_breaks([2, 3], 0.5)
    with pytest.raises(InvalidParameter, match="x must"):
        optimal_breaks([0.5, 2], 1.5)
    with pytest.raises(InvalidParameter, match="two numbers"):
        check_pieces(1, 0.5, (3,))
