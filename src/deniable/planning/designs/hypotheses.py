"""Two hypotheses about categories: the pair of distributions a test must tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.core import Number, as_fraction
from deniable.errors import InvalidParameter

TOLERANCE = Fraction(1, 10**6)
MOST_CATEGORIES = 2048


@dataclass(frozen=True)
class Hypotheses:
    """P0 and P1 on the same k categories, as exact numbers that sum to one.

    >>> Hypotheses.of(["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]).p0[1]
    Fraction(3, 10)
    """

    p0: tuple[Fraction, ...]
    p1: tuple[Fraction, ...]

    @classmethod
    def of(cls, p0: Sequence[Number], p1: Sequence[Number]) -> Hypotheses:
        """Check two lists of probabilities; sums within a millionth of one are brought to one."""
        first, second = _distribution("P0", p0), _distribution("P1", p1)
        if len(first) != len(second):
            raise InvalidParameter(f"P0 and P1 must have one probability per category each, got {len(first)} and {len(second)}")
        if first == second:
            raise InvalidParameter("P0 and P1 are equal: no report can tell them apart, private or not")
        pair = cls(first, second)
        if float(np.abs(pair.difference).max()) < 1e-9:
            raise InvalidParameter("P0 and P1 differ by less than 1e-9: no test can tell them apart in practice")
        return pair

    @property
    def size(self) -> int:
        """How many categories there are."""
        return len(self.p0)

    @cached_property
    def difference(self) -> Floats:
        """P0 - P1, rounded once."""
        return np.array([float(a - b) for a, b in zip(self.p0, self.p1, strict=True)])

    @cached_property
    def second(self) -> Floats:
        """The probabilities of P1 as floats."""
        return np.array([float(b) for b in self.p1])

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The categories by growing likelihood ratio P0/P1; those with neither come last."""
        # P0/(P0 + P1) grows with the ratio, needs no infinity, and is compared exactly.
        shares = [Fraction(2) if a + b == 0 else a / (a + b) for a, b in zip(self.p0, self.p1, strict=True)]
        return np.array(sorted(range(self.size), key=lambda x: (shares[x], x)), dtype=np.int64)

    @cached_property
    def log_ratio(self) -> Floats:
        """ln(P0/P1) of every category, infinite where one of them is zero (0 where both are)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(self.second + self.difference) - np.log(self.second)
        return np.asarray(np.where(np.isnan(ratio), 0.0, ratio))


def _distribution(name: str, values: Any) -> tuple[Fraction, ...]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InvalidParameter(f"{name} must be a list of probabilities")
    exact = [as_fraction(value) for value in values]
    if len(exact) < 2:
        raise InvalidParameter(f"{name} must have at least 2 categories: with one there is nothing to test")
    if len(exact) > MOST_CATEGORIES:
        raise InvalidParameter(f"{name} must have at most {MOST_CATEGORIES} categories")
    numbers = [value for value in exact if value is not None]
    if len(numbers) != len(exact) or min(numbers) < 0:
        raise InvalidParameter(f"{name} must hold probabilities: finite numbers, none negative")
    total = sum(numbers, start=Fraction(0))
    if abs(total - 1) > TOLERANCE:
        raise InvalidParameter(f"{name} must sum to 1, got {float(total):.6g}; divide by the sum first")
    return tuple(value / total for value in numbers)
