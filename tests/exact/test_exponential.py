"""e**x against sixty digits of the standard library's decimal arithmetic."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.exact import exp_bounds, exp_ceil, exp_floor, exp_sign, log_float

SIXTY = Context(prec=60, Emax=10**6, Emin=-(10**6))


def exp_decimal(x: Fraction) -> Decimal:
    with localcontext(SIXTY):
        return (Decimal(x.numerator) / Decimal(x.denominator)).exp()


exponents = st.fractions(min_value=-30, max_value=30, max_denominator=10**6)


@given(exponents)
def test_the_bounds_hold_e_to_the_x(x: Fraction) -> None:
    low, high = exp_bounds(x, 128)
    real = Fraction(exp_decimal(x))
    slack = real / 10**55  # sixty digits are not exact either
    assert low - slack <= real <= high + slack
    assert high - low <= high * Fraction(1, 2**128)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=30, max_denominator=10**9), st.integers(0, 2**60))
def test_floor_and_ceiling_are_exact(x: Fraction, weight: int) -> None:
    with localcontext(SIXTY):
        real = exp_decimal(x) * weight
        below, above = int(real.to_integral_value(ROUND_FLOOR)), int(real.to_integral_value(ROUND_CEILING))
    assert exp_floor(weight, x) == below
    assert exp_ceil(weight, x) == above


def test_floor_and_ceiling_at_zero() -> None:
    assert (exp_floor(7, Fraction(0)), exp_ceil(7, Fraction(0)), exp_floor(0, Fraction(1)), exp_ceil(0, Fraction(1))) == (
        7,
        7,
        0,
        0,
    )


def test_a_thousand_digits_of_e_agree() -> None:
    with localcontext(Context(prec=1010)):
        digits = str(Decimal(1).exp()).replace(".", "")[:1001]
    assert str(exp_floor(10**1000, Fraction(1))) == digits


@pytest.mark.parametrize("bits", [40, 200])
def test_the_sign_is_decided_however_close_the_ratio_is(bits: int) -> None:
    x, scale = Fraction(1, 3), 1 << bits
    below = exp_floor(scale, x)
    assert exp_sign(Fraction(below, scale), x) == -1
    assert exp_sign(Fraction(below + 1, scale), x) == 1
    assert [exp_sign(Fraction(ratio), Fraction(0)) for ratio in (0, 1, 2)] == [-1, 0, 1]


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**12))
def test_the_logarithm_is_right_to_double_precision(ratio: Fraction) -> None:
    with localcontext(SIXTY):
        real = float((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())
    assert math.isclose(log_float(ratio), real, rel_tol=1e-13, abs_tol=1e-300)


def test_the_logarithm_of_nothing_and_of_huge_numbers() -> None:
    assert log_float(Fraction(0)) == -math.inf
    assert math.isclose(log_float(Fraction(10**5000)), 5000 * math.log(10))
