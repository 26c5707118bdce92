"""Designs for workloads: golden optima, certified gaps, and faults that must be caught."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.core import Epsilon, Table
from deniable.errors import InvalidEpsilon, InvalidParameter, NotSupported
from deniable.planning.workloads import exact_error, heuristic
from deniable.planning.workloads.certificate import WrongBound, check_every_row, form, proved
from deniable.planning.workloads.descent import descend
from deniable.planning.workloads.design import WorkloadDesign, columns, design_workload
from deniable.planning.workloads.exact_error import table_error
from deniable.planning.workloads.master import Master
from deniable.planning.workloads.rows import chain, linear, packed, quadratic, subset_squares, subset_sums, unpacked
from deniable.planning.workloads.workload import custom_workload, gram, spread, workload

# Optima over all 2**n rows, found by two other programs.
GOLDEN = [
    ("prefix", 6, "0.5", 59.988645),
    ("prefix", 8, "1", 23.031365),
    ("prefix", 8, "2", 4.331984),
    ("prefix", 8, "4", 0.421044),
    ("ranges", 6, "1", 62.688201),
    ("ranges", 8, "0.5", 605.087369),
    ("ranges", 8, "2", 24.721441),
    ("ranges", 8, "4", 2.105222),
    ("histogram", 8, "0.5", 95.111418),
    ("histogram", 8, "1", 21.736384),
    ("histogram", 8, "4", 0.280696),
    ("marginals:1", 8, "1", 19.572122),
    ("marginals:1", 8, "4", 0.481194),
    ("marginals:2", 8, "0.5", 216.370062),
    ("marginals:2", 8, "2", 9.034937),
]


@pytest.mark.parametrize(("name", "size", "epsilon", "golden"), GOLDEN)
def test_golden_optima_are_reached_and_proved(name: str, size: int, epsilon: str, golden: float) -> None:
    designed = design_workload(name, epsilon, size=size, tolerance=1e-6)
    assert designed.error == pytest.approx(golden, rel=1e-5)
    assert designed.lower_bound == pytest.approx(golden, rel=1e-5)
    assert designed.gap is not None
    assert 0 <= designed.gap < 1e-5
    assert designed.mechanism is not None
    assert designed.mechanism.certificate().holds


TABLE = [
    ("prefix", {"0.5": (326.94, 327.41), "1": (74.66, 74.81), "2": (13.876, 13.881), "4": (1.60737, 1.60743)}),
    ("ranges", {"0.5": (3792.8, 3795.01), "1": (874.4, 875.64), "2": (158.675, 158.684), "4": (16.0954, 16.0957)}),
    ("histogram", {"0.5": (219.28, 219.44), "1": (50.961, 50.977), "2": (9.25204, 9.25209), "4": (0.643263, 0.643267)}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epsilon", "ends"), [(name, e, ends) for name, row in TABLE for e, ends in row.items()])
def test_sixteen_values_have_a_certified_gap_of_a_thousandth_at_most(name: str, epsilon: str, ends: tuple[float, float]) -> None:
    designed = design_workload(name, epsilon, size=16)
    assert designed.gap is not None
    assert designed.gap < 1e-3
    assert designed.lower_bound is not None
    assert ends[0] < designed.lower_bound <= designed.error < ends[1] * (1 + 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "epsilon", "optimum"),
    [("3", 1, 170.416), ("2", 1, 149.755), ("all", 1, 492.53), ("3", 2, 30.6462), ("2", 2, 31.0029), ("all", 4, 7.5047)],
)
def test_marginals_of_four_bits_are_solved_by_symmetry(way: str, epsilon: int, optimum: float) -> None:
    designed = design_workload(f"marginals:{way}", epsilon, size=16)
    assert designed.error == pytest.approx(optimum, rel=1e-4)
    assert designed.gap is not None
    assert designed.gap < 1e-4


@pytest.fixture(scope="module")
def prefixes() -> WorkloadDesign:
    return design_workload("prefix", 1, size=6)


def test_a_wrong_bound_is_refused(prefixes: WorkloadDesign) -> None:
    assert prefixes.bound is not None
    people = spread("uniform", 6)
    centred = gram(prefixes.workload, people)
    inverse, multipliers = prefixes.bound.inverse, prefixes.bound.multipliers
    assert proved(centred, people, Epsilon(1), inverse, multipliers).value == prefixes.lower_bound
    # Smaller multipliers would prove more than is true, and so would a smaller epsilon's rows.
    with pytest.raises(WrongBound, match="not proved"):
        proved(centred, people, Epsilon(1), inverse, multipliers * (1 - 1e-6))
    with pytest.raises(WrongBound):
        proved(centred, people, Epsilon("1.001"), inverse, multipliers)


def test_every_row_is_checked_not_only_some() -> None:
    """One row of 2**12 breaks the inequality by a billionth, and is named."""
    size = 12
    places = np.arange(size)
    matrix = np.sin(1.7 * np.add.outer(places, places) + 0.3 * np.multiply.outer(places, places))
    rows = np.where(unpacked(np.arange(1 << size), size), math.e, 1.0)
    ratios = ((rows @ matrix) * rows).sum(axis=1) / rows.sum(axis=1) ** 2
    lone, top = int(ratios.argmax()), float(ratios.max())
    assert np.sort(ratios)[-2] < top * (1 - 1e-6)

    def shifted(share: float) -> NDArray[Any]:
        return np.array([[Fraction(float(entry)) - Fraction(top * share) for entry in row] for row in matrix], dtype=object)

    check_every_row(shifted(1 + 1e-9), Epsilon(1))
    with pytest.raises(WrongBound, match=f"row number {lone} "):
        check_every_row(shifted(1 - 1e-9), Epsilon(1))


def test_the_bound_is_the_inequality_worked_out_in_fractions(prefixes: WorkloadDesign) -> None:
    """All 64 rows by rational arithmetic that shares nothing with the vectorised check."""
    assert prefixes.bound is not None
    people = spread("uniform", 6)
    entries, trace, prices = form(gram(prefixes.workload, people), people, prefixes.bound.inverse, prefixes.bound.multipliers)
    for raised in Epsilon(1).bounds():
        for row in range(64):
            s = [raised if row >> x & 1 else Fraction(1) for x in range(6)]
            assert sum(s[x] * entries[x, y] * s[y] for x in range(6) for y in range(6)) <= 0
    exact = trace * trace / prices - gram(prefixes.workload, people).sampling
    assert prefixes.lower_bound is not None
    assert 0 <= float(exact) - prefixes.lower_bound < 1e-12


def test_a_table_rounded_up_is_not_private(prefixes: WorkloadDesign) -> None:
    assert prefixes.mechanism is not None
    epsilon = Epsilon(1)
    assert epsilon.allows(prefixes.channel.max_ratio() or Fraction(10**9))
    rounded_up = [list(column) for column in columns(prefixes.channel)]
    # Highest weights are floor(low e^ε); entries that were lowered to make totals equal stand in the first columns.
    largest = max(range(6), key=lambda x: rounded_up[-1][x])
    rounded_up[-1][largest] += 1
    rounded_up[0][largest] -= 1
    planted = Table([list(row) for row in zip(*rounded_up, strict=True)])
    assert not epsilon.allows(planted.max_ratio() or Fraction(10**9))


def test_splitting_a_row_that_is_not_extremal_never_hurts() -> None:
    people = spread("uniform", 5)
    centred = gram(workload("prefix", 5), people)
    weights = [[5, 4, 3, 2, 2], [2, 5, 4, 4, 3], [3, 2, 5, 2, 4], [3, 2, 2, 5, 4], [7, 7, 6, 7, 7]]
    error = table_error(weights, centred, people)
    split = []
    for column in weights:
        patterns, shares = chain(np.array(column, float), 2.5)
        for pattern, share in zip(patterns, shares, strict=True):
            split.append([round(float(share) * (2.5 if x else 1) * 3 * 2**20) for x in pattern])
    sums = np.array(split).sum(axis=0)
    assert np.abs(sums - 20 * 3 * 2**20).max() <= len(split)
    split.append((max(sums) + 10 - sums).tolist())
    assert table_error(split, centred, people).mean < error.mean


def test_exact_errors_agree_with_floats_and_contain_them(prefixes: WorkloadDesign) -> None:
    people = spread([1, 2, 3, 3, 2, 1], 6)
    asked = workload("prefix", 6)
    centred = gram(asked, people)
    table = np.array(columns(prefixes.channel), float)
    table /= table.sum(axis=0)
    information = table.T @ (table / (table @ people.shares)[:, None])
    questions, p = asked.answers, people.shares
    inverse = np.linalg.inv(information)
    mean = np.trace(questions @ (inverse - np.diag(p)) @ questions.T)
    answers = questions @ inverse @ (table / (table @ p)[:, None]).T
    assert np.allclose(answers @ table, questions)
    each = (answers**2).sum(axis=0) @ table - (questions**2).sum(axis=0)
    exact = table_error(columns(prefixes.channel), centred, people)
    assert exact.mean == pytest.approx(mean, rel=1e-9)
    assert exact.each == pytest.approx(each, rel=1e-9)
    assert exact.mean == pytest.approx(float(p @ each), rel=1e-9)


def test_the_worst_value_errs_as_little_as_can_be(prefixes: WorkloadDesign) -> None:
    worst = design_workload("prefix", 1, size=6, error="worst")
    assert worst.gap is not None
    assert 0 <= worst.gap < 2e-3
    assert worst.error < prefixes.exact.worst
    assert worst.lower_bound is not None
    assert worst.lower_bound > prefixes.error  # the worst is no better than the average can be


def test_the_published_descent_stays_above_the_bound() -> None:
    published = design_workload("prefix", 1, size=4, method="descent")
    assert published.bound is None
    assert published.mechanism is None
    assert Epsilon(1).allows(published.channel.max_ratio() or Fraction(10**9))
    assert published.error > 5.993  # the optimum, certified by design_workload("prefix", 1, size=4)


def test_the_descent_of_many_values_starts_from_a_table_that_tells_them_apart() -> None:
    people = spread("uniform", 128)
    table = descend(gram(workload("prefix", 128), people), Epsilon(1), people, starts=1, steps=0)
    assert np.linalg.matrix_rank(np.array(columns(table), np.float64)) == 128


def test_a_prior_moves_the_design() -> None:
    skewed = design_workload("prefix", 1, size=5, prior=[8, 4, 2, 1, 1])
    even = design_workload("prefix", 1, size=5)
    centred = gram(skewed.workload, skewed.people)
    assert skewed.gap is not None
    assert skewed.gap < 1e-4
    assert skewed.error < table_error(columns(even.channel), centred, skewed.people).mean


def test_a_table_of_ones_own_is_a_workload() -> None:
    designed = design_workload(custom_workload([[1, 0, 0, 0], ["0.5", "0.5", 0, 0], [0, 0, 1, "-1/4"]]), "1.5")
    assert designed.gap is not None
    assert designed.gap < 1e-4


@pytest.mark.parametrize("name", ["histogram", "prefix", "ranges", "marginals:1", "marginals:2", "marginals:3", "marginals:all"])
def test_products_in_closed_form_are_those_of_the_questions(name: str) -> None:
    attributes = (2, 3, 4) if name.startswith("marginals") else None
    asked = workload(name, 24, attributes=attributes)
    assert asked.questions == len(asked.matrix)
    assert (asked.products == asked.matrix.T @ asked.matrix).all()


@pytest.mark.parametrize("largest", [3, 10**6])
def test_products_of_given_questions_are_exact(largest: int) -> None:
    # 10,000 squares of 10^6 could add up to more than floats hold exactly.
    matrix = np.tile(np.array([[largest, largest - 1], [1, -largest]], np.int64), (5_000, 1))
    assert custom_workload(matrix.tolist()).products.tolist() == (matrix.T @ matrix).tolist()


def test_sums_over_all_rows_by_doubling() -> None:
    matrix = np.array([[2, 1, -3], [1, 5, 4], [-3, 4, -1]])
    vector = np.array([1, -2, 7])
    bits = unpacked(np.arange(8), 3).astype(np.int64)
    assert subset_sums(vector).tolist() == (bits @ vector).tolist()
    assert subset_squares(matrix).tolist() == [int(b @ matrix @ b) for b in bits]
    rows = np.where(bits, 3.0, 1.0)
    assert linear(vector.astype(float), 3.0) == pytest.approx(rows @ vector)
    assert quadratic(matrix.astype(float), 3.0) == pytest.approx([s @ matrix @ s for s in rows])


def test_wrong_questions_are_refused() -> None:
    for name, size in (("prefixes", 4), ("prefix", 1), ("marginals:2", 6), ("marginals:9", 8), ("marginals:x", 8)):
        with pytest.raises(InvalidParameter):
            design_workload(name, 1, size=size)
    with pytest.raises(InvalidParameter, match="nothing to learn"):
        custom_workload([[1, 1], [2, 2]])
    with pytest.raises(InvalidParameter, match="positive weights"):
        design_workload("prefix", 1, size=3, prior=[1, 0, 1])
    with pytest.raises(InvalidParameter, match="prior belongs"):
        design_workload("prefix", 1, size=3, prior=[1, 2, 1], error="worst")
    with pytest.raises(NotSupported, match="at most 128"):
        design_workload("prefix", 1, size=129)
    with pytest.raises(InvalidEpsilon):
        design_workload("prefix", "0.0001", size=4)


@pytest.mark.slow
def test_beyond_what_can_be_listed_the_worst_value_is_searched_for_too() -> None:
    """22 values: both searches come within half a percent of the bound, and each is the better one for what it was asked."""
    mean, worst = (design_workload("prefix", 1, size=22, error=error) for error in ("mean", "worst"))
    assert mean.gap is not None
    assert worst.gap is not None
    assert mean.gap < 0.005
    assert worst.gap < 0.01
    assert worst.error == worst.exact.worst < 0.998 * mean.exact.worst
    assert worst.exact.mean >= mean.lower_bound  # type: ignore[operator]
    assert worst.mechanism is not None
    assert worst.mechanism.certificate().holds


def test_a_search_takes_the_rows_with_the_best_prices() -> None:
    """Not the first ones in some order; a row and its mirror image are one, and what is known or gains nothing is left out."""
    master = Master(np.eye(4), np.full(4, 0.25), math.e, np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    rows = unpacked(np.array([1, 8, 2, 3, 5, 9, 7]), 4)
    price = np.array([0.1, 0.9, 0.3, 0.5, 0.7, 0.8, -1.0])
    known = unpacked(np.array([9]), 4)
    chosen = heuristic.best_rows(master, rows, price, known, 3)
    assert packed(chosen).tolist() == [1, 5, 3]
    assert packed(heuristic.best_rows(master, rows, price, known, 9)).tolist() == [1, 5, 3, 2]
    assert heuristic.best_rows(master, rows, -np.ones(7), known, 3).shape == (0, 4)


def test_outputs_summed_by_sets_and_by_single_weights_have_one_error(
    monkeypatch: pytest.MonkeyPatch, prefixes: WorkloadDesign
) -> None:
    """And floats are never below it."""
    people = spread([3, 1, 4, 1, 5, 9], 6)
    centred = gram(prefixes.workload, people)
    uneven = [[1, 2, 3, 1, 1, 1], [3, 2, 1, 3, 3, 3], *([4 * (x == y) for x in range(6)] for y in range(6))]
    for table in (columns(prefixes.channel), uneven):
        by_sets = table_error(table, centred, people)
        with monkeypatch.context() as patch:
            patch.setattr(exact_error, "_sorted", lambda columns: ([], list(columns)))
            by_weights = table_error(table, centred, people)
            patch.setattr(exact_error, "MOST_EXACT", 0)
            floats = table_error(table, centred, people)
        assert by_sets.mean == pytest.approx(by_weights.mean, rel=1e-15)
        assert by_sets.each == pytest.approx(by_weights.each, rel=1e-15)
        assert (floats.each >= by_sets.each * (1 - 1e-15)).all()
        assert floats.each == pytest.approx(by_sets.each, rel=1e-6)
