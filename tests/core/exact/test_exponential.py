"""e**x against sixty digits of the standard library's decimal arithmetic."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.core import exp_bounds, exp_ceil, exp_floor, exp_sign, log_float
from deniable.core.exact.exponential import _series

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


@given(st.fractions(min_value=-100, max_value=100), st.integers(1, 700))
def test_the_bounds_are_as_close_as_asked_at_every_precision(x: Fraction, bits: int) -> None:
    low, high = exp_bounds(x, bits)
    finer = exp_bounds(x, bits + 80)
    assert low <= finer[0] <= finer[1] <= high
    assert high - low <= high * Fraction(1, 2**bits)


@pytest.mark.parametrize("digits", [20, 40, 90, 300])
def test_floors_are_decided_however_close_the_product_is_to_a_whole_number(digits: int) -> None:
    """x is ln 2 to so many digits, cut off or one unit more: 1000 e**x is just below or just above 2000."""
    with localcontext(Context(prec=digits + 20)):
        below = Fraction(int(Decimal(2).ln() * 10**digits), 10**digits)
    above = below + Fraction(1, 10**digits)
    assert [exp_floor(1000, x) for x in (below, above)] == [1999, 2000]
    assert [exp_ceil(1000, x) for x in (below, above)] == [2000, 2001]
    assert [exp_sign(Fraction(2), x) for x in (below, above)] == [1, -1]


@pytest.mark.parametrize("scale", range(40))
def test_the_series_bounds_hold_at_every_scale_however_coarse(scale: int) -> None:
    """The public bounds work at scales where rounding hides a missing remainder; here it cannot hide."""
    for part in range(65):
        x = Fraction(part, 1024)
        low, high = _series(x, scale)
        with localcontext(SIXTY):
            real = exp_decimal(x) * (1 << scale)
        assert low <= real <= high
        assert high - low <= 8


def test_e_to_the_zero_is_one() -> None:
    assert exp_bounds(Fraction(0)) == (Fraction(1), Fraction(1))
    assert exp_bounds(Fraction(1)) == exp_bounds(Fraction(1), 128) != exp_bounds(Fraction(1), 129)


@given(st.fractions(min_value=Fraction(-1, 10**6), max_value=Fraction(1, 10**6)))
def test_the_logarithm_near_one_keeps_its_relative_precision(distance: Fraction) -> None:
    series = distance - distance**2 / 2 + distance**3 / 3 - distance**4 / 4
    assert math.isclose(log_float(1 + distance), float(series), rel_tol=1e-15, abs_tol=0.0)


def test_weights_of_thousands_of_bits_are_decided_too() -> None:
    weight = 3**2000
    low, high = exp_bounds(Fraction(2, 3), 5000)
    assert exp_floor(weight, Fraction(2, 3)) == math.floor(weight * low) == math.floor(weight * high)
    assert exp_sign(Fraction(exp_floor(weight, Fraction(-1)), weight), Fraction(-1)) == -1
    assert exp_sign(Fraction(exp_ceil(weight, Fraction(-1)), weight), Fraction(-1)) == 1
