"""One of two numbers, unbiased: the mechanism of Duchi, Jordan and Wainwright in one dimension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.chain import Interpolated
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric._two_ends import TwoEnds
from deniable.core.mechanisms.numeric._unbiased_window import unbiased_pair
from deniable.core.mechanisms.reading import Values


@dataclass(frozen=True, kw_only=True, repr=False)
class Duchi(TwoEnds):
    """One bit whose mean is exactly the true value: best for means at small epsilon.

    Law: round to an end of the domain at random so that the mean is kept, then randomized response. On
    [-1, 1] the report is C or -C, C = (E + 1)/(E - 1), E = e**epsilon.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance on [-1, 1]: C**2 - x**2. It never falls below 1 in the middle: use HM or PM above epsilon = 1.
    Cost: two draws, one bit on the wire.
    Source: Duchi, Jordan and Wainwright, "Minimax optimal procedures for locally private estimation", 2018.

    >>> Duchi(domain=Interval(-1, 1), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "duchi"
    source: ClassVar[str] = "Duchi, Jordan, Wainwright 2018"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "field")

    def build(self) -> Interpolated:
        """Randomized response, entered between the two ends."""
        return Interpolated(self.ends, self.grid.last)

    @cached_property
    def reading(self) -> Values:
        """The two positions that make the mean exact."""
        return unbiased_pair(self.ends)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, the published domain and the default."""
        yield cls(domain=Interval(0, 1, cells=4), epsilon=1)
        yield cls(domain=Interval(-1, 1, cells=100), epsilon=0.5)
        yield cls(epsilon=4)
