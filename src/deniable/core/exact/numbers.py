"""Numbers at face value: whatever the caller wrote becomes exactly that rational."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational

Number = int | float | Fraction | Decimal | str
"""What is accepted wherever a public real parameter is asked for."""


def as_fraction(value: object) -> Fraction | None:
    """The exact value of `value`, or None when it is not a finite number.

    Floats count at face value (0.1 is the double nearest to 0.1); strings are read as decimals or
    ratios ("0.1" is one tenth); booleans are not numbers. Returning None instead of raising keeps
    private values out of exception contexts.

    >>> as_fraction("1/3"), as_fraction(0.5), as_fraction(True), as_fraction(float("nan"))
    (Fraction(1, 3), Fraction(1, 2), None, None)
    """
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return None
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        # Bounded before converting: Decimal("1e999999999") would build a number of a billion digits.
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) < 1000 else None
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, float) or _is_numpy_float(value):
        real = float(value)  # type: ignore[arg-type]
        return Fraction(real) if math.isfinite(real) else None
    return None


def _is_numpy_float(value: object) -> bool:
    # numpy.float32 and float16 are not subclasses of float, and numpy must not be imported here.
    return type(value).__module__ == "numpy" and type(value).__name__ in ("float16", "float32")


def as_index(value: object) -> int | None:
    """The whole number `value` is, or None: for ints and numpy integers, not for booleans, floats or arrays.

    >>> as_index(3), as_index(True), as_index(3.0)
    (3, None, None)
    """
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return None
    return int(value) if isinstance(value, Integral) else None


def fits_a_double(value: Fraction) -> bool:
    """Is the number small enough, below 1e300, to be read as a double with room to spare?"""
    return abs(value) < 10**300


def _from_text(text: str) -> Fraction | None:
    # Bounded before parsing: "1e999999999" would build a number of a billion digits.
    stripped = text.strip()
    if not 0 < len(stripped) <= 400:
        return None
    exponent = stripped.lower().partition("e")[2].lstrip("+-")
    if exponent and (not exponent.isdigit() or len(exponent) > 3):
        return None
    try:
        return Fraction(stripped)
    except (ValueError, ZeroDivisionError):
        return None


def show_fraction(value: Fraction) -> str:
    """The shortest literal for exactly `value`: an integer, a float at face value, or else a ratio.

    >>> show_fraction(Fraction(3)), show_fraction(Fraction(0.1)), show_fraction(Fraction(1, 10))
    ('3', '0.1', '1/10')
    """
    if value.numerator.bit_length() > 4096 or value.denominator.bit_length() > 4096:
        return f"a ratio of {value.numerator.bit_length()} to {value.denominator.bit_length()} bits"
    if value.denominator == 1:
        return str(value.numerator)
    try:
        real = float(value)
    except OverflowError:
        return str(value)
    return repr(real) if Fraction(real) == value else str(value)


def show_literal(value: Fraction) -> str:
    """The same as Python source: a ratio needs quotes.

    >>> show_literal(Fraction(1, 3)), show_literal(Fraction(1, 2))
    ("'1/3'", '0.5')
    """
    text = show_fraction(value)
    return f"'{text}'" if "/" in text else text
