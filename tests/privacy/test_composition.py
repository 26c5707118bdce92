"""Several answers: the exact price of the worst mechanisms, by enumeration."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from deniable.core import make_mechanism
from deniable.errors import BudgetSpent, InvalidParameter
from deniable.privacy import (
    Odometer,
    advanced_epsilon,
    basic,
    composed_delta,
    composed_epsilon,
    composed_exactly,
    group,
    parallel,
    repeated,
)


def enumerated(levels: list[float], epsilon: float) -> float:
    """The divergence of several randomized responses, outcome by outcome."""
    total = 0.0
    for truths in product((True, False), repeat=len(levels)):
        first = math.prod((math.exp(e) if t else 1) / (1 + math.exp(e)) for e, t in zip(levels, truths, strict=True))
        second = math.prod((1 if t else math.exp(e)) / (1 + math.exp(e)) for e, t in zip(levels, truths, strict=True))
        total += max(0.0, first - math.exp(epsilon) * second)
    return total


@pytest.mark.parametrize("levels", [[1.0], [0.5] * 6, [0.25, 0.5, 1.0, 2.0], ["1/3", "1/2", "1/7"], ["0.3", "0.7", "0.11"]])
def test_composition_is_that_of_randomized_responses(levels: list[float | str]) -> None:
    exact = [float(Fraction(level)) for level in levels]
    for share in (0.0, 0.2, 0.5, 0.9, 0.999):
        epsilon = share * sum(exact)
        found = composed_delta(levels, epsilon)
        assert found == pytest.approx(enumerated(exact, epsilon), rel=1e-9, abs=1e-15)
    assert composed_delta(levels, sum(exact) + 1e-9) == 0


def test_the_printed_formula_for_equal_levels() -> None:
    """Kairouz, Oh, Viswanath 2015, Theorem 3.3: at (k - 2 i) ε."""
    k, e = 20, 0.3
    for i in range(1, 10):
        delta = sum(math.comb(k, j) * (math.exp((k - j) * e) - math.exp((k - 2 * i + j) * e)) for j in range(i))
        assert composed_delta([e] * k, (k - 2 * i) * e) == pytest.approx(delta / (1 + math.exp(e)) ** k, rel=1e-9)


def test_levels_too_fine_for_a_lattice_are_rounded_up() -> None:
    fine = [Fraction(1, 3) + Fraction(1, 10**9 + 7 + i) for i in range(12)]
    rough = enumerated([float(level) for level in fine], 1.0)
    assert rough <= composed_delta(fine, 1.0) <= 1.01 * rough


@pytest.mark.parametrize("answers", [60_000, 65_536, 65_537, 70_000, 400_000])
def test_many_answers_are_divergences_of_two_binomials(answers: int) -> None:
    """Beyond any lattice that is kept for several levels, too: the number must go on growing."""
    level, delta = 0.01, 1e-6
    found = composed_epsilon(["0.01"] * answers, delta)
    heads, truth = np.arange(answers + 1), 1 / (1 + math.exp(-level))
    first, second = binom.logpmf(heads, answers, truth), binom.logpmf(heads, answers, 1 - truth)

    def divergence(epsilon: float) -> float:
        over = first - second > epsilon
        return float(np.sum(np.exp(first[over]) - np.exp(epsilon + second[over])))

    assert divergence(found) <= delta * (1 + 1e-6)
    assert divergence(found - 1e-6) > delta * (1 - 1e-6)


def test_answers_of_two_levels_are_never_cheaper_than_of_the_smaller_one() -> None:
    for answers in (100, 4000):
        both = composed_epsilon(["0.01"] * answers + ["0.0101"] * answers, 1e-6)
        assert composed_epsilon(["0.01"] * (2 * answers), 1e-6) < both < 1.02 * composed_epsilon(["0.0101"] * (2 * answers), 1e-6)
    with pytest.raises(InvalidParameter, match="8192 of several"):
        composed_epsilon(["0.01"] * 20_000 + ["0.0101"] * 20_000, 1e-6)
    assert composed_exactly(["0.01"] * 400_000)
    assert not composed_exactly(["0.01"] * 4000 + ["0.0101"] * 4000)


def test_numbers_beyond_doubles_promise_nothing() -> None:
    assert group(1, 10**6) == (Fraction(10**6), 0.0)
    assert group(1, 10**6, "1e-9") == (Fraction(10**6), 1.0)
    assert group("0.1", 3, "1e-6")[1] == pytest.approx(1e-6 * (1 + math.exp(0.1) + math.exp(0.2)))
    with pytest.raises(InvalidParameter, match="promises nothing"):
        basic(["1e400"])


def test_the_smallest_epsilon_is_where_delta_is_reached() -> None:
    for delta in (1e-9, 1e-6, 1e-3):
        epsilon = composed_epsilon([0.1] * 100, delta)
        assert composed_delta([0.1] * 100, epsilon) <= delta < composed_delta([0.1] * 100, epsilon * (1 - 1e-9))
        assert epsilon < advanced_epsilon(0.1, 100, delta)
    assert composed_epsilon([0.1] * 100, 0) == pytest.approx(10)
    assert composed_epsilon([1], 0.9) == 0


def test_own_deltas_are_added() -> None:
    plain = composed_delta([0.5] * 4, 1.0)
    both = composed_delta([0.5] * 4, 1.0, ["1e-6"] * 4)
    assert both == pytest.approx(1 - (1 - 1e-6) ** 4 * (1 - plain), rel=1e-9)
    with pytest.raises(InvalidParameter, match="own deltas"):
        composed_epsilon([0.5] * 4, 1e-7, ["1e-6"] * 4)


def test_sums_maxima_and_groups() -> None:
    assert basic([1, "1/3"]) == Fraction(4, 3)
    assert parallel([1, "1/3"]) == 1
    assert group("1/2", 4)[0] == 2
    epsilon, delta = group(1, 2, "1e-5")
    assert epsilon == 2
    assert delta == pytest.approx(1e-5 * (1 + math.e), rel=1e-9)
    for wrong in (0, -1, "x", True):
        with pytest.raises(InvalidParameter):
            basic([wrong])


def test_the_odometer_refuses_what_is_too_much() -> None:
    account = Odometer(limit="2.5")
    account.spend(make_mechanism("randomized-response", epsilon=1), "smoking")
    account.spend("0.1", "age")
    assert (account.spent, account.left) == (Fraction(11, 10), Fraction(14, 10))
    with pytest.raises(BudgetSpent, match="only"):
        account.spend(2)
    assert account.spent == Fraction(11, 10)
    assert account.at(0) == pytest.approx(1.1)
    assert account.at(1e-3) < 1.1
    with pytest.raises(InvalidParameter, match="delta"):
        Odometer().spend(make_mechanism("gaussian", epsilon=1, delta="1e-6"))


def test_a_memo_saves_what_repetition_costs() -> None:
    found = repeated(1, 52, values=2, permanent="2.5")
    assert found.afresh == 52
    assert found.memo == 2
    assert found.two_layers == 5
    assert repeated(1, 2, values=2, permanent=3).two_layers == 2
    with pytest.raises(InvalidParameter, match="permanent"):
        repeated(2, 5, permanent=1)
    with pytest.raises(InvalidParameter, match="values"):
        repeated(2, 5, values=6)


def test_two_layers_are_bounded_by_the_exact_law_of_many_reports() -> None:
    """Randomized response on randomized response, r reports: the ratio by enumeration, never above the account."""
    keep, tell = 3.0, 1.5
    p, a = math.exp(keep) / (1 + math.exp(keep)), math.exp(tell) / (1 + math.exp(tell))
    for reports in (1, 2, 5, 12):
        ones: dict[int, list[float]] = defaultdict(list)
        for c in range(reports + 1):
            for bit in (1, 0):
                kept = p if bit else 1 - p
                ones[c].append(kept * a**c * (1 - a) ** (reports - c) + (1 - kept) * (1 - a) ** c * a ** (reports - c))
        ratio = max(max(pair) / min(pair) for pair in ones.values())
        bound = repeated(tell, reports, permanent=keep).two_layers
        assert bound is not None
        assert math.log(ratio) <= float(bound) + 1e-12
