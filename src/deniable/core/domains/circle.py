"""Directions, hours of the day, days of the year: numbers that wrap around."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, real_parameter
from deniable.core.exact.lattice import DEFAULT_CELLS, cells, check_count
from deniable.core.exact.numbers import Number, as_fraction, fits_a_double, show_literal
from deniable.errors import InvalidDomain


@dataclass(frozen=True, init=False, repr=False)
class Circle(Domain):
    """The numbers from 0 to `period`, where `period` is 0 again; by default an angle in radians.

    >>> Circle(360, cells=36).encode(360), Circle(24).clip(25)
    (0, 1)
    """

    period: Fraction
    cells: int
    kind: ClassVar[str] = "circle"

    def __init__(self, period: Number = 2 * math.pi, *, cells: int = DEFAULT_CELLS) -> None:
        exact = real_parameter("period", period)
        if not fits_a_double(exact) or not float(exact) > 1e-300:
            raise InvalidDomain("period must be positive, above 1e-300 and below 1e300")
        object.__setattr__(self, "period", exact)
        object.__setattr__(self, "cells", check_count("cells", cells))

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.cells

    @property
    def low(self) -> Fraction:
        """Where the circle is cut open."""
        return Fraction(0)

    @property
    def width(self) -> Fraction:
        """The length of a whole turn."""
        return self.period

    def position(self, value: Any) -> Fraction:
        """How far around the value lies, exactly, from 0 up to but not including 1."""
        exact = None if isinstance(value, str) else as_fraction(value)
        if exact is None:
            raise self.refuse("the value must be a finite number to belong to")
        if not 0 <= exact <= self.period:
            raise self.refuse()
        return exact / self.period if exact < self.period else Fraction(0)

    def encode(self, value: Any) -> int:
        """The cell the value lies in."""
        return cells(self.cells).index(self.position(value))

    def real(self, position: Fraction) -> float:
        """The number at a position, once around at most."""
        return float(self.period * (position - math.floor(position)))

    def decode(self, index: int) -> float:
        """The middle of a cell."""
        return self.real(cells(self.cells).position(self.check_index(index)))

    def clip(self, value: Any) -> Any:
        """The same direction, wrapped into the period."""
        exact = None if isinstance(value, str) else as_fraction(value)
        if exact is None:
            raise self.refuse("only finite numbers can be wrapped into")
        if 0 <= exact <= self.period:
            return value
        wrapped = exact % self.period
        if wrapped.denominator == 1:
            return int(wrapped)
        real = float(wrapped)
        return real if 0 <= Fraction(real) <= self.period else wrapped

    def recipe(self) -> dict[str, Any]:
        """The exact period and the number of cells."""
        return {"kind": self.kind, "period": str(self.period), "cells": self.cells}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Circle:
        if set(fields) != {"period", "cells"}:
            raise InvalidDomain("a circle recipe has 'period' and 'cells'")
        return cls(**fields)

    def __repr__(self) -> str:
        parts = [] if self.period == Fraction(2 * math.pi) else [show_literal(self.period)]
        parts += [] if self.cells == DEFAULT_CELLS else [f"cells={self.cells}"]
        return f"Circle({', '.join(parts)})"
