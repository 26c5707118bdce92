"""The one-bit mean: a number becomes one biased coin (Ding, Kulkarni and Yekhanin, 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.chain import Interpolated
from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import Grid, points
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Values

MOST_STEPS = 1 << 32


@dataclass(frozen=True, kw_only=True, repr=False)
class OneBitMean(NumericMechanism):
    """Send 1 with a probability that grows linearly with the value; the mean of many is unbiased.

    Law: at position t of the domain, Pr[1] = 1/(E+1) + t (E-1)/(E+1) with E = high/low. The value is
    first rounded at random to one of the two ends, then that bit goes through randomized response.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance of one report: at most width**2 (E+1)**2 / (4 (E-1)**2), in the middle of the domain.
    Cost: two draws, one bit on the wire.
    Source: Ding, Kulkarni and Yekhanin, "Collecting telemetry data privately", 2017.

    >>> OneBitMean(domain=Interval(0, 24), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "one-bit-mean"
    tasks: ClassVar[tuple[str, ...]] = ("mean",)
    family: ClassVar[str] = "binary"
    source: ClassVar[str] = "Ding, Kulkarni, Yekhanin 2017"
    unbiased: ClassVar[bool] = True

    @property
    def steps(self) -> int:
        """Points between the two ends: far finer than the domain's cells, because none of them is sent."""
        return min(self.domain.cells << 12, MOST_STEPS)

    @property
    def grid(self) -> Grid:
        """The nearest of `steps + 1` points."""
        return points(self.steps)

    @cached_property
    def _coin(self) -> TwoLevel:
        return TwoLevel.at(Singleton(2), self.privacy)

    def build(self) -> Interpolated:
        """Randomized response, entered between its two inputs."""
        return Interpolated(self._coin, self.steps)

    @cached_property
    def reading(self) -> Values:
        """-low/(high-low) and high/(high-low): the two positions whose mean is the true one."""
        low, high = self._coin.low, self._coin.high
        return Values((Fraction(-low, high - low), Fraction(high, high - low)))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse grid, a shifted domain and the default."""
        yield cls(domain=Interval(0, 10, cells=2), epsilon=1)
        yield cls(domain=Interval(-3, 5, cells=100), epsilon=0.25)
        yield cls(epsilon=3)
