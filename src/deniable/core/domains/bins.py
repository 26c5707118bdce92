"""A number of which only the bin is asked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from deniable.core.domains.base import real_parameter
from deniable.core.domains.categories import Categories
from deniable.core.exact.lattice import check_count
from deniable.core.exact.numbers import Number, as_fraction, fits_a_double, show_literal
from deniable.errors import InvalidDomain

MOST_BINS = 1 << 12
DECIMALS = 12


@dataclass(frozen=True, init=False, repr=False)
class Bins(Categories):
    """The numbers from the first edge to the last, of which only the bin counts: categories in order, named by their ends.

    A bin holds its lower edge, the last bin both. A value is a number or the name of a bin. Every mechanism for categories
    takes bins; if a histogram is what you will show, its intervals are shorter than those of a mechanism for numbers.

    >>> ages = Bins([18, 30, 45, 65])
    >>> ages.labels, ages.encode(30), ages.encode(65), ages.encode("18 to 30")
    (('18 to 30', '30 to 45', '45 to 65'), 1, 2, 0)
    >>> Bins.equal(0, 60, 12).edges[1]
    Fraction(5, 1)
    """

    edges: tuple[Fraction, ...]
    labels: tuple[str, ...] = field(init=False)
    kind: ClassVar[str] = "bins"

    def __init__(self, edges: Iterable[Number]) -> None:
        if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
            raise InvalidDomain("the edges of bins must be a list of at least three numbers")
        exact = tuple(real_parameter("an edge", edge) for edge in edges)
        if not 3 <= len(exact) <= MOST_BINS + 1:
            raise InvalidDomain(f"bins need 3 to {MOST_BINS + 1} edges, got {len(exact)}: two bins have three edges")
        if not all(fits_a_double(edge) for edge in exact):
            raise InvalidDomain("the edges of bins must be below 1e300")
        for low, high in pairwise(exact):
            if not float(low) < float(high):
                raise InvalidDomain(
                    f"the edges of bins must increase, as doubles too: {show_literal(high)} follows {show_literal(low)}"
                )
        object.__setattr__(self, "edges", exact)
        object.__setattr__(self, "what", tuple(f"{written(low)} to {written(high)}" for low, high in pairwise(exact)))
        object.__setattr__(self, "_doubles", tuple(map(float, exact)))
        self.__post_init__()

    @classmethod
    def equal(cls, low: Number, high: Number, count: int) -> Bins:
        """So many bins of one width."""
        bottom, top = real_parameter("low", low), real_parameter("high", high)
        bins = check_count("the number of bins", count)
        if not 2 <= bins <= MOST_BINS:
            raise InvalidDomain(f"there must be 2 to {MOST_BINS} bins, got {bins}")
        return cls(bottom + (top - bottom) * Fraction(place, bins) for place in range(bins + 1))

    def encode(self, value: Any) -> int:
        """The number of the bin that holds a number or has a name."""
        if isinstance(value, str):
            return super().encode(value)
        exact = as_fraction(value)
        if exact is None:
            raise self.refuse("the value must be a finite number, or the name of a bin, to belong to")
        doubles: tuple[float, ...] = self.__dict__["_doubles"]
        # As doubles, as in arrays and in browsers: 0.3 belongs to the bin that begins at 3/10.
        if not (fits_a_double(exact) and doubles[0] <= float(exact) <= doubles[-1]):
            raise self.refuse()
        return min(bisect_right(doubles, float(exact)), self.count) - 1

    def clip(self, value: Any) -> Any:
        """The nearest number that belongs to a bin; names are kept, nan is refused."""
        if isinstance(value, str):
            return super().clip(value)
        if isinstance(value, float) and abs(value) == float("inf"):
            return self.edges[-1 if value > 0 else 0]
        exact = as_fraction(value)
        if exact is None:
            raise self.refuse("only numbers can be clipped to")
        return min(max(exact, self.edges[0]), self.edges[-1])

    @property
    def remedy(self) -> str:
        """A number has a nearest one that belongs; the ends are public."""
        first, last = written(self.edges[0]), written(self.edges[-1])
        return f"It must be a number from {first} to {last}; clip first: domain.clip(value)"

    def recipe(self) -> dict[str, Any]:
        """The exact edges."""
        return {"kind": self.kind, "edges": [str(edge) for edge in self.edges]}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Bins:
        if set(fields) != {"edges"} or not isinstance(fields["edges"], list):
            raise InvalidDomain("a bins recipe has 'edges', a list")
        return cls(fields["edges"])

    def __repr__(self) -> str:
        if self.count <= 8:
            return f"Bins([{', '.join(map(show_literal, self.edges))}])"
        return f"Bins([{', '.join(map(show_literal, self.edges[:3]))}, … {self.count} bins up to {show_literal(self.edges[-1])}])"


def written(edge: Fraction) -> str:
    """An edge as people write it: a decimal if a short one is exact, else a ratio. The browser client writes the same.

    >>> written(Fraction(5, 2)), written(Fraction(-1, 10)), written(Fraction(1, 3)), written(Fraction(30))
    ('2.5', '-0.1', '1/3', '30')
    """
    scaled = edge * 10**DECIMALS
    if edge.denominator == 1 or scaled.denominator != 1:
        return str(edge)
    digits = str(abs(scaled.numerator)).rjust(DECIMALS + 1, "0")
    sign = "-" if edge < 0 else ""
    return f"{sign}{digits[:-DECIMALS]}.{digits[-DECIMALS:].rstrip('0')}"
