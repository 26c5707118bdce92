"""Epsilon: the privacy level as an exact rational."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import total_ordering
from typing import Any

from deniable.core.exact.exponential import exp_bounds, exp_ceil, exp_floor, exp_sign
from deniable.core.exact.numbers import as_fraction, show_fraction, show_literal
from deniable.errors import InvalidEpsilon

LARGE = 20
LARGEST = 100
SMALLEST = Fraction(1, 10**9)
MINUS = ("\N{MINUS SIGN}", "\N{EN DASH}")


@total_ordering
class Epsilon:
    """A privacy level, kept as the exact number that was written.

    Floats are taken at face value; strings are decimals or ratios. Above 20 a mechanism protects
    nothing (odds change by more than 10**8), so such a value must be asked for explicitly.

    >>> Epsilon("0.1").exact, Epsilon(0.5)
    (Fraction(1, 10), Epsilon(0.5))
    >>> Epsilon(1).floor(1000)   # the largest integer weight allowed beside 1000
    2718
    """

    __slots__ = ("exact",)
    exact: Fraction

    def __init__(self, value: EpsilonLike, *, allow_large: bool = False) -> None:
        if isinstance(value, Epsilon):
            object.__setattr__(self, "exact", value.exact)
            return
        exact = as_fraction(value)
        if exact is None:
            # Some keyboards and most documents write a minus that is not a hyphen.
            rule = "positive" if isinstance(value, str) and value.strip()[:1] in MINUS else "a finite number such as 1, 0.5 or 1/3"
            raise InvalidEpsilon(f"epsilon must be {rule}, got {_shown(value)}")
        if exact <= 0:
            raise InvalidEpsilon(f"epsilon must be positive, got {show_fraction(exact)}")
        if exact < SMALLEST:
            raise InvalidEpsilon("epsilon must be at least 1e-9: below that a report carries no information")
        if exact > LARGEST:
            raise InvalidEpsilon(f"epsilon must be at most {LARGEST}: beyond that a report is the value itself")
        if exact > LARGE and not allow_large:
            raise InvalidEpsilon(
                f"epsilon above {LARGE} gives practically no privacy; "
                f"write Epsilon({show_literal(exact)}, allow_large=True) if you mean it"
            )
        object.__setattr__(self, "exact", exact)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Epsilon cannot be changed")

    def floor(self, weight: int) -> int:
        """The largest integer `<= weight * e**epsilon`: what a high weight may be beside a low one."""
        return exp_floor(weight, self.exact)

    def ceil(self, weight: int) -> int:
        """The smallest integer `>= weight * e**epsilon`."""
        return exp_ceil(weight, self.exact)

    def allows(self, ratio: Fraction) -> bool:
        """Is `ratio <= e**epsilon`? Decided exactly."""
        return exp_sign(ratio, self.exact) <= 0

    def bounds(self, bits: int = 128) -> tuple[Fraction, Fraction]:
        """Rationals around e**epsilon."""
        return exp_bounds(self.exact, bits)

    def times(self, share: Fraction) -> Epsilon:
        """This epsilon multiplied by an exact share, for example one half."""
        return Epsilon(self.exact * share, allow_large=True)

    def __float__(self) -> float:
        return float(self.exact)

    def __str__(self) -> str:
        return show_fraction(self.exact)

    def __repr__(self) -> str:
        suffix = ", allow_large=True" if self.exact > LARGE else ""
        return f"Epsilon({show_literal(self.exact)}{suffix})"

    def __eq__(self, other: object) -> bool:
        exact = _number(other)
        return NotImplemented if exact is None else self.exact == exact

    def __lt__(self, other: object) -> bool:
        exact = _number(other)
        return NotImplemented if exact is None else self.exact < exact

    def __hash__(self) -> int:
        return hash(self.exact)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (str(self.exact),))


def _number(other: object) -> Fraction | None:
    """What an epsilon may be compared with: another one, or a number. Text only makes one."""
    if isinstance(other, Epsilon):
        return other.exact
    return None if isinstance(other, str) else as_fraction(other)


def _rebuild(text: str) -> Epsilon:
    return Epsilon(text, allow_large=True)


def _shown(value: object) -> str:
    """Epsilon is public, so its bad value may be shown, shortened; of anything but text and numbers, the type."""
    if value is not None and not isinstance(value, str | bool | float | Decimal):
        return type(value).__name__
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


EpsilonLike = Epsilon | int | float | Fraction | Decimal | str
