"""One bit is best for squared error at small epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import Grid, cells
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Values


@dataclass(frozen=True, kw_only=True, repr=False)
class OneBitSquared(NumericMechanism):
    """Is the value in the upper half? Randomized response, read as 1/(1 + E) or E/(1 + E), E = e**epsilon.

    Law: the true half weighs `high`, the other `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Worst squared error on [0, 1]: E/(1 + E)**2, the least of all epsilon-LDP mechanisms, up to
    epsilon = 2 asinh(1) = 1.7627. Above that it is (E - 1)**2/(4 (E + 1)**2), which grows: use `window`.
    Cost: one draw, one bit on the wire.

    >>> OneBitSquared(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "one-bit-squared"
    source: ClassVar[str] = "this project"

    @property
    def grid(self) -> Grid:
        """The two halves of the domain."""
        return cells(2)

    @cached_property
    def halves(self) -> TwoLevel:
        """Randomized response between the halves."""
        return TwoLevel.at(Singleton(2), self.privacy)

    def build(self) -> TwoLevel:
        """Randomized response between the halves."""
        return self.halves

    @cached_property
    def reading(self) -> Values:
        """The best guess for either answer: not an end of the domain, but a little inside."""
        low, high, total = self.halves.low, self.halves.high, self.halves.total
        return Values((Fraction(low, total), Fraction(high, total)))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Small, usual and larger than the proof covers."""
        yield cls(epsilon=0.5)
        yield cls(domain=Interval(18, 90), epsilon=1)
        yield cls(epsilon=3)
