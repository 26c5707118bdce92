"""Boxes found by testing: what a test of one is worth, and what its search costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.errors import InvalidParameter, NotSupported
from deniable.privacy import FixedKeystream
from deniable.studies import Box, Feature, ProductLaw, perturbations, product_law
from deniable_reproduce.tested_boxes import (
    SampleTest,
    bound_from_test,
    density_bound,
    hoeffding_size,
    needed_tolerance,
    printed_product,
    sample_plan,
    sampled_box,
)


def law_of(name: str, epsilon: float, values: list[float], **parameters: Any) -> ProductLaw:
    return product_law(perturbations(name, [Feature()] * len(values), epsilon, **parameters), values)


def in_box(low: float, high: float) -> Any:
    return lambda rows: ((rows >= low) & (rows <= high)).all(axis=1)


def test_the_printed_product_is_not_a_bound() -> None:
    """A model that errs at one percent of the box's points, all of them where the mechanism likes to answer."""
    law = law_of("ogpm", 2, [0.5])
    numbers, chances = law.laws[0].atoms
    inside = (numbers >= 0.2) & (numbers <= 0.8)
    wrong = np.zeros(numbers.size, dtype=bool)
    wrong[np.argsort(-chances * inside, kind="stable")[: int(inside.sum() * 0.01)]] = True
    rho = float(chances[inside & ~wrong].sum())
    places = ((float(numbers[inside][0]), float(numbers[inside][-1]), int(inside.sum())),)
    box, test = Box((0.2,), (0.8,)), SampleTest(0.95, 0.01, 1, places)
    assert printed_product(law.probability([0.2], [0.8]), 0.01) > rho + 0.007
    assert rho - 3e-6 <= bound_from_test(box, test, law) <= rho + 1e-9  # one lattice point more or less
    assert bound_from_test(box, test, law) == pytest.approx(0.8365385326, abs=2e-6)


def test_a_test_on_one_lattice_says_nothing_about_another() -> None:
    law = law_of("ogpm", 2, [0.5])
    found = sampled_box(in_box(0.2, 0.8), law, [0.5], keystream=FixedKeystream("one lattice"))
    assert found.box is not None
    assert found.evidence is not None
    assert bound_from_test(found.box, found.evidence, law_of("ogpm", 5, [0.5])) > 0.85  # the same lattice at another epsilon
    with pytest.raises(NotSupported, match="another lattice"):
        bound_from_test(found.box, found.evidence, law_of("k-rr", 2, [0.5]))


def test_the_valid_bound_with_a_density() -> None:
    assert density_bound(1 - 0.4 / math.e, 0.01, 0.6, math.e) == pytest.approx(0.8365385326, abs=1e-9)
    tolerance = needed_tolerance(0.84, 1 - 0.4 / math.e, 0.6, math.e)
    assert density_bound(1 - 0.4 / math.e, tolerance, 0.6, math.e) == pytest.approx(0.84)
    with pytest.raises(InvalidParameter, match="target"):
        needed_tolerance(0.9, 0.8, 1, 1)


@pytest.mark.parametrize("rule", ["binomial", "hoeffding"])
def test_a_plan_accepts_a_bad_box_as_seldom_as_it_says(rule: str) -> None:
    plan = sample_plan(1e-3, 0.02, rule)
    from scipy import stats

    # Exactly at the tolerance, and one failure more would be one too many for the exact rule.
    assert stats.binom.cdf(plan.failures, plan.samples, 0.02) <= 1e-3
    if rule == "binomial":
        assert stats.binom.cdf(plan.failures + 1, plan.samples, 0.02) > 1e-3
        assert plan.samples < sample_plan(1e-3, 0.02, "hoeffding").samples / 10


def test_the_published_sample_size() -> None:
    assert hoeffding_size(0.05, 0.01) == pytest.approx(18444.39727, abs=1e-4)
    assert sample_plan(0.05, 0.02, "hoeffding").samples == 18445
    with pytest.raises(InvalidParameter, match="omega"):
        hoeffding_size(0, 0.1)


@pytest.mark.parametrize("rule", ["binomial", "hoeffding"])
def test_the_search_finds_the_box_and_pays_for_every_test(rule: str) -> None:
    law = law_of("ogpm", 4, [0.5, 0.5])

    def same(rows: Floats) -> NDArray[np.bool_]:
        return np.asarray((rows[:, 0] > 0.3) & (rows[:, 1] < 0.9))

    found = sampled_box(same, law, [0.5, 0.5], rule=rule, tolerance=0.02, keystream=FixedKeystream("search"))
    assert found.box is not None
    assert 0.17 < found.radius <= 0.21
    assert found.box.low == pytest.approx((0.3, 0.0), abs=0.03)
    assert found.box.high == pytest.approx((1.0, 0.9), abs=0.03)
    assert str(found.evidence) == "tested(0.95)"
    assert found.tests <= 10 + 2 * 2 * 5
    evidence = found.evidence
    assert evidence is not None
    # The part of the error every one of the planned tests may have.
    assert evidence.samples == sample_plan(0.05 / 30, 0.02, rule).samples
    rho = float((law.laws[0].up_to([9])[0] - law.laws[0].up_to([0.3])[0]) * law.laws[1].up_to([0.9], strictly=True)[0])
    assert bound_from_test(found.box, evidence, law) <= rho


def test_accepted_boxes_are_bad_less_often_than_the_confidence_allows() -> None:
    """At the very tolerance: 2,000 tests of a box that just fails it. More than 60 acceptances: 1e-7 by chance."""
    law = law_of("k-rr", 1, [0.5])
    plan = sample_plan(0.01, 0.05)
    stream = FixedKeystream("at the tolerance")
    from deniable_reproduce.tested_boxes import _Tester

    bad = law.laws[0].atoms[0][:6]  # 6 of 100 points, above the tolerance of 5
    tester = _Tester(lambda rows: ~np.isin(rows[:, 0], bad), [law.laws[0].atoms[0]], plan, stream)
    accepted = sum(tester.accepts(np.array([0.0]), np.array([1.0])) for _ in range(2000))
    assert accepted <= 60


def test_nothing_is_found_where_the_answer_changes_everywhere() -> None:
    law = law_of("ogpm", 1, [0.5])
    found = sampled_box(lambda rows: np.zeros(len(rows), bool), law, [0.5], keystream=FixedKeystream("no"))
    assert found.box is None
    with pytest.raises(InvalidParameter, match="once per row"):
        sampled_box(lambda rows: np.ones(3, bool), law, [0.5])
    with pytest.raises(InvalidParameter, match="one number per"):
        sampled_box(lambda rows: np.ones(len(rows), bool), law, [0.5, 0.5])
