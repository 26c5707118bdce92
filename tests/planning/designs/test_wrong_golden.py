"""Golden numbers that are wrong, and the evidence (see tests/golden/untested.py, WRONG)."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.core import Epsilon, Interval
from deniable.planning import best_in_family, regimes
from deniable.planning.designs.cutting_planes import LossCuts, solve
from deniable.planning.designs.problem import distance_loss
from deniable.planning.designs.rounding import largest_error, rounded

GOLDEN: dict[str, Any] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text(encoding="utf-8"))
}
A = GOLDEN["kairouz.A.thresholds"]
P0, P1 = ([Fraction(str(chance)) for chance in A["inputs"][name]] for name in ("P0", "P1"))
TERMS = 6


def log_bounds(ratio: Fraction) -> tuple[Fraction, Fraction]:
    """Rational numbers on either side of ln(ratio), from the series of artanh."""
    z = (ratio - 1) / (ratio + 1)
    partial = 2 * sum((z ** (2 * n + 1) / (2 * n + 1) for n in range(TERMS)), start=Fraction(0))
    rest = 2 * abs(z) ** (2 * TERMS + 1) / ((2 * TERMS + 1) * (1 - z * z))
    return (partial, partial + rest) if z >= 0 else (partial - rest, partial)


def divergence_bounds(block: tuple[int, ...], e: Fraction) -> tuple[Fraction, Fraction]:
    """Exact bounds of D(M0||M1) for randomized response between a block of categories and the rest."""
    low = high = Fraction(0)
    for inside in (True, False):
        members = [x for x in range(len(P0)) if (x in block) == inside]
        m0, m1 = ((1 + (e - 1) * sum(law[x] for x in members)) / (1 + e) for law in (P0, P1))
        least, most = log_bounds(m0 / m1)
        low, high = low + m0 * least, high + m0 * most
    return low, high


@pytest.mark.parametrize("excess", ["1e-6", "1e-3", "0.01", "0.05", "0.078", "0.5", "2", "4"])
def test_the_published_binary_mechanism_is_best_at_no_epsilon(excess: str) -> None:
    # The row says up to epsilon 0.0755, that is E = 1.0784. Where P0 = P1 (the second category), either side may have it.
    e = 1 + Fraction(excess)
    published, other = divergence_bounds((0, 1), e), divergence_bounds((0,), e)
    assert other[0] > published[1]
    # By how much: with t = 0.6 (E-1)/(E+1) the two are the sums of t**2n/(2n(2n-1)) and of t**2n/(2n).
    t = Fraction(3, 5) * (e - 1) / (e + 1)
    assert other[0] - published[1] > t**4 / 6 * (1 - Fraction(1, 10**6))


def test_the_second_threshold_is_right_and_two_blocks_are_best_up_to_it() -> None:
    two, every = regimes(P0, P1)
    assert every == pytest.approx(A["value"][1], rel=A["tol"])
    assert two == pytest.approx(every, abs=1e-6)
    assert A["value"][0] < 0.1 < two


@pytest.mark.parametrize("row", [row for name, row in GOLDEN.items() if name.startswith("circ.LP.")], ids=lambda row: row["id"])
def test_two_levels_on_a_circle_are_as_good_as_the_program(row: dict[str, Any]) -> None:
    count, e = row["inputs"]["n"], math.exp(row["inputs"]["eps"])
    steps = np.minimum(np.arange(count), count - np.arange(count))
    losses = (steps * 2 * math.pi / count) ** float(row["inputs"]["k"])
    # One input and one variable for all outputs: an even reference, turned with the value.
    cuts = LossCuts(losses[None], np.zeros(count, np.int64), e, worst=True)
    solution = solve(cuts, cuts.start(), np.ones(1), e, tolerance=1e-9)
    assert solution.cost == pytest.approx(row["value"]["lp"], rel=2e-9)
    assert solution.cost < row["value"]["two_level"] < solution.cost * (1 + 2e-4)


def test_the_golden_two_levels_are_off_by_more_than_they_say() -> None:
    row = GOLDEN["circ.LP.k2.eps6"]
    assert row["value"]["two_level"] > row["value"]["lp"] * (1 + 10 * row["tol"])


def test_a_curved_reference_with_atoms_errs_less_than_the_golden_search_found() -> None:
    row = GOLDEN["atoms.L2.eps6"]
    design = best_in_family(2, 6)
    cells = 2048
    y = np.concatenate([[0.0], (np.arange(cells) + 0.5) / cells, [1.0]])
    places = np.concatenate([[0], 2 * np.arange(cells) + 1, [2 * cells]])
    mechanism = rounded(Interval(0, 1), Epsilon(6), places, design.reference(y), cells)
    assert mechanism.certificate().holds
    measured = largest_error(mechanism, distance_loss("squared", 1.0))
    assert measured == pytest.approx(design.error, rel=1e-3)
    assert GOLDEN["LP.minimax.L2.eps6"]["value"]["lp"] < measured < 0.97 * row["value"]["worst_U"]
    even = best_in_family(2, 6, ("atoms", "even"))
    assert even.error < row["value"]["worst"] == pytest.approx(even.error, rel=row["tol"])
    assert even.atom == pytest.approx(row["value"]["w"], rel=0.02)
    assert even.mass == pytest.approx(row["value"]["G"], rel=0.02)
