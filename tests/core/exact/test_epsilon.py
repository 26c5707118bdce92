from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.core import Epsilon
from deniable.errors import InvalidEpsilon

NOT_EPSILON: list[Any] = [
    0,
    -1,
    0.0,
    -0.5,
    "abc",
    "",
    float("nan"),
    float("inf"),
    -float("inf"),
    1e9,
    True,
    False,
    None,
    [],
    {},
    (),
]
NOT_EPSILON += [
    "1e999999999",
    "1e-999999999",
    Decimal("1e999999999"),
    Decimal("nan"),
    Decimal("-1e-999999999"),
    10**6000,
    -(10**6000),
]
NOT_EPSILON += ["9" * 5000, "1/0", b"1", 1j, 101, 5e-324, "0x10", np.bool_(True), np.array([1.0]), object()]


@pytest.mark.parametrize(
    "value", NOT_EPSILON, ids=lambda value: repr(value)[:20] if not isinstance(value, int) else hex(value)[:12]
)
def test_what_is_not_a_privacy_level_is_refused(value: Any) -> None:
    with pytest.raises(InvalidEpsilon):
        Epsilon(value)


@pytest.mark.parametrize("value", [20.5, 50, "100"])
def test_a_large_epsilon_must_be_meant(value: Any) -> None:
    with pytest.raises(InvalidEpsilon, match="allow_large=True"):
        Epsilon(value)
    assert Epsilon(value, allow_large=True).exact == Fraction(value)


@pytest.mark.parametrize("value", [1, 0.1, "0.1", "1/3", Fraction(1, 3), Decimal("0.1"), 20, 1e-9, np.float32(0.1), np.int64(2)])
def test_numbers_are_taken_at_face_value(value: Any) -> None:
    exact = Fraction(value.item()) if isinstance(value, np.generic) else Fraction(value)
    assert Epsilon(value).exact == exact
    assert eval(repr(Epsilon(value)), {"Epsilon": Epsilon}) == Epsilon(value)
    assert Epsilon(Epsilon(value)) == Epsilon(value)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=20), st.integers(1, 10**18))
def test_the_largest_weight_is_allowed_and_the_next_is_not(exact: Fraction, weight: int) -> None:
    epsilon = Epsilon(exact)
    assert epsilon.allows(Fraction(epsilon.floor(weight), weight))
    assert not epsilon.allows(Fraction(epsilon.floor(weight) + 1, weight))
    assert not epsilon.allows(Fraction(epsilon.ceil(weight), weight))
    low, high = epsilon.bounds()
    assert epsilon.allows(low)
    assert not epsilon.allows(high)


def test_weights_around_e_are_allowed_below_and_refused_above() -> None:
    epsilon = Epsilon(1)
    assert epsilon.allows(Fraction(2718, 1000))
    assert not epsilon.allows(Fraction(2719, 1000))
    assert (epsilon.floor(1000), epsilon.ceil(1000)) == (2718, 2719)


def test_an_epsilon_is_a_value() -> None:
    assert Epsilon(0.5) == 0.5 == Epsilon("1/2")
    assert Epsilon(1) < Epsilon(2) > 1
    assert hash(Epsilon(1)) == hash(Fraction(1))
    assert pickle.loads(pickle.dumps(Epsilon("1/3"))) == Epsilon("1/3")
    assert pickle.loads(pickle.dumps(Epsilon(50, allow_large=True))).exact == 50
    assert eval(repr(Epsilon("1/3")), {"Epsilon": Epsilon}) == Epsilon("1/3")
    assert float(Epsilon(2).times(Fraction(1, 4))) == 0.5
    with pytest.raises(AttributeError):
        Epsilon(1).exact = Fraction(2)


@pytest.mark.parametrize("value", ["1e-9", Fraction(1, 10**9), 20, "20"])
def test_the_ends_of_the_range_belong_to_it(value: Any) -> None:
    assert Epsilon(value).exact == Fraction(value)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (Fraction(1, 10**9 + 1), "at least 1e-9"),
        (Fraction(1, 10**40), "at least 1e-9"),
        (0, "must be positive, got 0"),
        ("-1/3", "must be positive, got -1/3"),
        (100 + Fraction(1, 10**9), "at most 100"),
        (10**6, "at most 100"),
    ],
)
def test_the_error_names_the_rule_that_was_broken(value: Any, rule: str) -> None:
    for allow_large in (False, True):
        with pytest.raises(InvalidEpsilon, match=rule):
            Epsilon(value, allow_large=allow_large)


def test_just_above_twenty_is_large_and_a_hundred_is_the_most() -> None:
    with pytest.raises(InvalidEpsilon, match=r"write Epsilon\('20000000001/1000000000', allow_large=True\)"):
        Epsilon(20 + Fraction(1, 10**9))
    assert Epsilon(100, allow_large=True).exact == 100
    assert repr(Epsilon(20)) == "Epsilon(20)"
    assert repr(Epsilon(20.5, allow_large=True)) == "Epsilon(20.5, allow_large=True)"
    assert str(Epsilon("1/3")) == "1/3"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("abc", "'abc'"),
        ("x" * 38, repr("x" * 38)),
        ("x" * 39, "'" + "x" * 36 + "..."),
        (None, "None"),
        (True, "True"),
        (float("nan"), "nan"),
        (Decimal("inf"), "Decimal('Infinity')"),
        ([1, 2], "list"),
        (b"1", "bytes"),
    ],
)
def test_a_bad_epsilon_is_shown_shortly_and_objects_by_their_type(value: Any, shown: str) -> None:
    with pytest.raises(InvalidEpsilon) as caught:
        Epsilon(value)
    assert str(caught.value).endswith(f"got {shown}")


def test_an_epsilon_is_compared_with_numbers_and_with_nothing_else() -> None:
    assert Epsilon(1) <= 1 <= Epsilon(1)
    assert not Epsilon(1) < 1
    assert Epsilon(1) != Epsilon(2)
    assert Epsilon(1) != "1"
    assert Epsilon(1) != [1]
    with pytest.raises(TypeError):
        assert Epsilon(1) < "2"


def test_the_bounds_are_as_close_as_asked() -> None:
    for bits in (16, 128, 300):
        low, high = Epsilon(3).bounds(bits)
        assert low < high <= low * (1 + Fraction(1, 2 ** (bits - 1)))
    assert Epsilon(3).bounds() == Epsilon(3).bounds(128) != Epsilon(3).bounds(127)
    assert Epsilon(15).times(Fraction(5)).exact == 75
