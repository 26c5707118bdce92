"""Bounded real numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, real_parameter
from deniable.core.exact.lattice import DEFAULT_CELLS, cells, check_count
from deniable.core.exact.numbers import Number, as_fraction, fits_a_double, show_literal
from deniable.errors import InvalidDomain


@dataclass(frozen=True, init=False, repr=False)
class Interval(Domain):
    """The numbers from `low` to `high`, both included, on a lattice of `cells` cells.

    >>> Interval(0, 1, cells=4).encode(0.5), Interval(18, 90).decode(0) < 18.001
    (2, True)
    """

    low: Fraction
    high: Fraction
    cells: int
    kind: ClassVar[str] = "interval"

    def __init__(self, low: Number = 0, high: Number = 1, *, cells: int = DEFAULT_CELLS) -> None:
        bottom, top = real_parameter("low", low), real_parameter("high", high)
        if not bottom < top:
            raise InvalidDomain(f"low must lie below high, got {show_literal(bottom)} and {show_literal(top)}")
        if not (fits_a_double(bottom) and fits_a_double(top) and float(bottom) < float(top)):
            raise InvalidDomain("low and high must be apart as doubles and below 1e300")
        object.__setattr__(self, "low", bottom)
        object.__setattr__(self, "high", top)
        object.__setattr__(self, "cells", check_count("cells", cells))

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.cells

    @property
    def width(self) -> Fraction:
        """high - low."""
        return self.high - self.low

    def position(self, value: Any) -> Fraction:
        """How far through the interval the value lies, exactly, from 0 to 1."""
        exact = None if isinstance(value, str) else as_fraction(value)
        if exact is None:
            raise self.refuse("the value must be a finite number to belong to")
        if not self.low <= exact <= self.high:
            raise self.refuse()
        return (exact - self.low) / self.width

    def encode(self, value: Any) -> int:
        """The cell the value lies in."""
        return cells(self.cells).index(self.position(value))

    def real(self, position: Fraction) -> float:
        """The number at a position (positions outside [0, 1] lie outside the interval)."""
        return float(self.low + self.width * position)

    def decode(self, index: int) -> float:
        """The middle of a cell."""
        return self.real(cells(self.cells).position(self.check_index(index)))

    def clip(self, value: Any) -> Any:
        """The nearest number in the interval; nan and text are refused."""
        if type(value) is float and value in (float("inf"), float("-inf")):
            return float(self.high if value > 0 else self.low)
        exact = None if isinstance(value, str) else as_fraction(value)
        if exact is None:
            raise self.refuse("only numbers can be clipped to")
        if self.low <= exact <= self.high:
            return value
        return _inside(self.low if exact < self.low else self.high, self)

    def recipe(self) -> dict[str, Any]:
        """Exact ends and the number of cells."""
        return {"kind": self.kind, "low": str(self.low), "high": str(self.high), "cells": self.cells}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Interval:
        if set(fields) != {"low", "high", "cells"}:
            raise InvalidDomain("an interval recipe has 'low', 'high' and 'cells'")
        return cls(**fields)

    def __repr__(self) -> str:
        lattice = "" if self.cells == DEFAULT_CELLS else f", cells={self.cells}"
        return f"Interval({show_literal(self.low)}, {show_literal(self.high)}{lattice})"


def _inside(end: Fraction, interval: Interval) -> int | float | Fraction:
    """An end as the friendliest number that is still inside."""
    if end.denominator == 1:
        return int(end)
    real = float(end)
    return real if interval.low <= Fraction(real) <= interval.high else end
