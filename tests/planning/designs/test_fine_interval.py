"""Interval designs for larger epsilon: smooth programs choose, integers decide what they prove."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.core import Epsilon, Interval
from deniable.estimators import average_error
from deniable.planning import design
from deniable.planning.designs.exact_bound import UNIT, exact_line_bound, least_of_sums, nowhere_negative
from deniable.planning.designs.fine_interval import fine_average, fine_mechanism
from deniable.planning.designs.interior_point import Cells, follow
from deniable.planning.designs.lower_bound import line_bound, spread_bound
from deniable.planning.designs.problem import distance_loss


def least_by_hand(k: int, e: Fraction, x: list[int], reach: list[int], weights: list[int]) -> Fraction:
    """The least h over a grid that holds every place where a rule changes, in fractions."""
    marks = {
        0,
        UNIT,
        *x,
        *(at + far for at, far in zip(x, reach, strict=True)),
        *(at - far for at, far in zip(x, reach, strict=True)),
    }
    fine = sorted({mark for mark in marks if 0 <= mark <= UNIT} | {UNIT * step // 997 for step in range(998)})
    least = None
    for y in fine:
        total = Fraction(0)
        for at, far, weight in zip(x, reach, weights, strict=True):
            above = Fraction(abs(y - at) ** k - far**k)
            total += weight * (above if above > 0 else e * above)
        least = total if least is None else min(least, total)
    assert least is not None
    return least


@pytest.mark.parametrize("k", [1, 2])
def test_integers_and_fractions_agree_on_where_a_sum_of_cuts_is_negative(k: int) -> None:
    random, seen = np.random.default_rng(5), []
    epsilon = Epsilon("3/2")
    for _ in range(60):
        x = sorted(int(place) for place in random.integers(0, UNIT + 1, 6))
        reach = [int(far * random.uniform(0.3, 1.6)) for far in random.integers(UNIT // 50, UNIT // 4, 6)]
        weights = [int(weight) for weight in random.integers(1, 1000, 6)]
        least = least_by_hand(k, epsilon.bounds()[1], x, reach, weights)
        holds = nowhere_negative(k, epsilon, x, reach, weights)
        # Between the marks a parabola can fall a little lower than at them, never the other way round.
        if holds:
            assert least >= 0
        elif k == 1:
            assert least < 0
        seen.append(holds)
    assert 5 < sum(seen) < 55


@pytest.mark.parametrize("k", [1, 2])
def test_a_parabola_that_dips_below_zero_between_two_marks_is_seen(k: int) -> None:
    # Two values, no favoured outputs: h is (|y - x|**k of both) less the levels; its least is in the middle for k = 2.
    x, weights = [0, UNIT], [1, 1]
    small, large = (0, 0), (3 * UNIT // 4, 3 * UNIT // 4)
    assert nowhere_negative(k, Epsilon(1), x, list(small), weights)
    assert not nowhere_negative(k, Epsilon(1), x, list(large), weights)


@pytest.mark.parametrize("k", [1, 2])
def test_floats_find_the_least_of_a_sum_of_cuts(k: int) -> None:
    random, e = np.random.default_rng(9), math.exp(2)
    x, share = np.sort(random.uniform(0, 1, 40)), random.dirichlet(np.ones(40))
    levels = random.uniform(0.05, 0.4, 40) ** k
    y = np.linspace(0, 1, 20001)
    above = np.abs(y[:, None] - x) ** k - levels
    by_hand = float((np.where(above > 0, above, e * above) @ share).min())
    found = least_of_sums(k, e, x, levels, share)
    assert found <= by_hand + 1e-12
    assert found == pytest.approx(by_hand, abs=2e-4)


@pytest.mark.parametrize("k", [1, 2])
def test_arbitrary_cuts_prove_no_more_than_a_mechanism_reaches(k: int) -> None:
    random = np.random.default_rng(2)
    x = np.linspace(0, 0.5, 33)
    for eps, reached in ((4, {1: 0.07811, 2: 0.02607}[k]), (6, {1: 0.02944, 2: 0.006306}[k])):
        for reach in (0.02, 0.1, 0.3):
            bound = exact_line_bound(k, Epsilon(eps), x, np.full(33, reach), random.dirichlet(np.ones(33)))
            assert 0 <= bound <= reached


def test_the_two_bounds_agree_on_the_same_cuts() -> None:
    x, reach, weights = np.linspace(0, 0.5, 65), np.full(65, 0.2), np.full(65, 1 / 65)
    exact = exact_line_bound(1, Epsilon(2), x, reach, weights)
    # The last x is its own mirror image, which the other bound counts twice; spread between the points, cuts may prove more.
    weights[-1] /= 2
    other = line_bound(distance_loss("absolute", 1.0), math.exp(2), x, reach, weights)
    assert other * (1 - 1e-5) <= exact <= other * 1.03
    assert exact > 0.1


@pytest.mark.parametrize("k", [1.0, 2.0, 1.5])
def test_cuts_are_the_slopes_of_the_errors(k: float) -> None:
    edges = np.concatenate([[0, 0.01], np.linspace(0.1, 0.9, 9), [0.99, 1]])
    cells = np.arange(edges.size - 1)
    program = Cells(k, math.exp(3), np.linspace(0, 0.5, 7), edges, np.minimum(cells, cells[::-1]))
    masses = np.random.default_rng(4).uniform(0.02, 0.06, program.size)
    errors, rows, change, sharp, _ = program.terms(masses)
    for orbit in range(program.size):
        moved = masses.copy()
        moved[orbit] += 1e-7
        errors_there, rows_there, *_ = program.terms(moved)
        assert (errors_there - errors) / 1e-7 == pytest.approx(rows[:, orbit], abs=1e-5)
        bend = change[:, orbit] ** 2 / sharp
        assert (rows_there - rows)[:, orbit] / 1e-7 == pytest.approx(bend, rel=1e-3, abs=1e-4)


def test_a_program_ends_with_a_reference_and_multipliers_that_meet() -> None:
    edges = np.concatenate([[0, 1e-3], np.linspace(0, 1, 33)[1:-1], [1 - 1e-3, 1]])
    cells = np.arange(edges.size - 1)
    program = Cells(1, math.exp(4), np.linspace(0, 0.5, 65), edges, np.minimum(cells, cells[::-1]))
    start = np.full(program.size, math.exp(-2) / program.size)
    central = follow(program, start, None, 1e-4)
    assert central.value <= central.cost <= central.value * (1 + 1e-4)
    assert central.cost == pytest.approx(0.0781, rel=2e-3)
    assert central.weights.sum() == pytest.approx(1)
    mechanism = fine_mechanism(Interval(0, 1), Epsilon(4), edges, program.spread(central.masses))
    assert mechanism.certificate().holds


def test_the_program_of_a_prior_meets_the_known_optimum_from_both_sides() -> None:
    x = (np.arange(64) + 0.5) / 128
    edges, masses, levels = fine_average(1, Epsilon(4), x, np.full(64, 1 / 64), symmetric=True)
    mechanism = fine_mechanism(Interval(0, 1), Epsilon(4), edges, masses)
    assert average_error(mechanism, "absolute") == pytest.approx(0.06925, rel=2e-3)
    everywhere, both = np.concatenate([x, 1 - x]), np.tile(levels, 2)
    bound = spread_bound(1.0, math.exp(4), everywhere, 1 / 128, both, np.full(128, 1 / 128))
    assert 0.0690 < bound <= 0.069254


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "eps"), [("absolute", 4), ("absolute", 6), ("absolute", 8), ("squared", 4), ("squared", 6)])
def test_little_is_left_to_gain(loss: str, eps: int) -> None:
    designed = design(Interval(0, 1), loss, eps)
    assert 1 <= designed.gap <= 1.0015
    assert designed.mechanism.certificate().holds
