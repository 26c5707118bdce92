"""Numbers at face value: what is read, what is refused, and how exact numbers are shown."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.core import as_fraction, as_index, show_fraction, show_literal
from deniable.core.exact.numbers import fits_a_double

LONG = "0." + "0" * 397 + "1"
"""400 characters."""
NOT_NUMBERS: list[Any] = [True, False, np.bool_(True), None, 1j, b"1", [1], object(), np.array([1.0]), np.complex64(1)]
NOT_NUMBERS += ["", "   ", "x", "1e", "1e1000", "1e-1000", "1e0001", "1e3.5", "1/0", LONG + "0"]
NOT_NUMBERS += [Decimal("1e1000"), Decimal("1e-1000"), Decimal("nan"), Decimal("inf")]
NOT_NUMBERS += [float("nan"), float("-inf"), np.float32("nan")]


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (7, Fraction(7)),
        (-3, Fraction(-3)),
        (np.int8(-5), Fraction(-5)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Fraction(2, 6), Fraction(1, 3)),
        (0.1, Fraction(0.1)),
        (-0.0, Fraction(0)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.float16(0.1), Fraction(float(np.float16(0.1)))),
        (np.float64(0.1), Fraction(0.1)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("1e999"), Fraction(10**999)),
        (Decimal("1e-999"), Fraction(1, 10**999)),
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("-2", Fraction(-2)),
        ("1e999", Fraction(10**999)),
        ("1E+3", Fraction(1000)),
        ("25e-2", Fraction(1, 4)),
        ("7", Fraction(7)),
        (LONG, Fraction(1, 10**398)),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_numbers_are_read_as_exactly_what_was_written(value: Any, exact: Fraction) -> None:
    assert as_fraction(value) == exact


@pytest.mark.parametrize(
    "value",
    NOT_NUMBERS,
    ids=lambda value: repr(value)[:20],
)
def test_what_is_not_a_finite_number_of_reasonable_length_is_none(value: Any) -> None:
    assert as_fraction(value) is None


@pytest.mark.parametrize("value", [3, 0, -4, np.int32(3), np.uint8(200), 10**30])
def test_whole_numbers_are_indices(value: Any) -> None:
    assert as_index(value) == int(value)
    assert type(as_index(value)) is int


@pytest.mark.parametrize("value", [True, False, np.bool_(True), 3.0, np.float64(3), "3", Fraction(3), None, np.array([3])])
def test_nothing_else_is_an_index(value: Any) -> None:
    assert as_index(value) is None


def test_a_double_has_room_below_ten_to_the_three_hundred() -> None:
    assert fits_a_double(Fraction(10**300 - 1))
    assert fits_a_double(Fraction(1 - 10**300))
    assert not fits_a_double(Fraction(10**300))
    assert not fits_a_double(Fraction(-(10**300)))


@pytest.mark.parametrize(
    ("value", "shown", "literal"),
    [
        (Fraction(3), "3", "3"),
        (Fraction(0.1), "0.1", "0.1"),
        (Fraction(1, 10), "1/10", "'1/10'"),
        (Fraction(-1, 2), "-0.5", "-0.5"),
        (Fraction(10**400, 3), f"{10**400}/3", f"'{10**400}/3'"),
        (Fraction(2**4096 - 1), str(2**4096 - 1), str(2**4096 - 1)),
        (Fraction(1, 2**4096 - 1), f"1/{2**4096 - 1}", f"'1/{2**4096 - 1}'"),
        (Fraction(2**4096), "a ratio of 4097 to 1 bits", "a ratio of 4097 to 1 bits"),
        (Fraction(1, 2**4096), "a ratio of 1 to 4097 bits", "a ratio of 1 to 4097 bits"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_numbers_are_shown_by_the_shortest_text_that_is_exactly_them(value: Fraction, shown: str, literal: str) -> None:
    assert show_fraction(value) == shown
    assert show_literal(value) == literal
