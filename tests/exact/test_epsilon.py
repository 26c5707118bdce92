from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidEpsilon
from deniable.exact import Epsilon

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
