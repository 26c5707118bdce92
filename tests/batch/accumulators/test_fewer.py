"""Fewer reports in the same proportions: sums stay possible ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.batch import accumulator_for, accumulator_from_bytes, randomize_many
from deniable.core import Binary, Categories, Interval, Mechanism, Record, make_mechanism
from deniable.privacy import FixedKeystream

RECORD = Record({"yes": Binary(), "part": Categories(4)})
MECHANISMS = [
    (make_mechanism("k-rr", domain=Categories(5), epsilon=1), np.arange(900) % 5),
    (make_mechanism("sw", domain=Interval(0, 1, cells=500), epsilon=1), np.arange(900) / 900),
    (make_mechanism("olh", domain=Categories(5), epsilon=1), np.arange(900) % 5),
    (make_mechanism("oue", domain=Categories(5), epsilon=1), np.arange(900) % 5),
    (make_mechanism("product", domain=RECORD, epsilon=1), {"yes": np.arange(900) % 2, "part": np.arange(900) % 4}),
    (make_mechanism("sample-one", domain=RECORD, epsilon=1), {"yes": np.arange(900) % 2, "part": np.arange(900) % 4}),
]


@pytest.mark.parametrize(("mechanism", "values"), MECHANISMS, ids=lambda one: getattr(one, "name", ""))
def test_a_third_of_the_same_three_times_is_the_same(mechanism: Mechanism, values: object) -> None:
    once = accumulator_for(mechanism).add(randomize_many(mechanism, values, FixedKeystream(1)))
    third = once.merge(once).merge(once).fewer(Fraction(1, 3))
    assert third.n == once.n
    assert third.to_bytes() == once.to_bytes()


@pytest.mark.parametrize(("mechanism", "values"), MECHANISMS, ids=lambda one: getattr(one, "name", ""))
def test_fewer_reports_are_possible_sums_in_the_same_proportions(mechanism: Mechanism, values: object) -> None:
    whole = accumulator_for(mechanism).add(randomize_many(mechanism, values, FixedKeystream(2)))
    less = whole.fewer(Fraction(2, 7))
    assert less.n == pytest.approx(900 * 2 / 7, abs=4)
    again = accumulator_from_bytes(mechanism, less.to_bytes())  # refuses sums that do not add up
    assert again.to_bytes() == less.to_bytes()
    assert np.abs(less.sums - whole.sums * (less.n / whole.n)).max(initial=0) <= 1
    assert whole.fewer(Fraction(1, 10**6)).n >= 1
    assert accumulator_for(mechanism).fewer(Fraction(1, 2)).n == 0
