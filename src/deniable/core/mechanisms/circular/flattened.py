"""A mechanism for intervals on a circle cut open: only for comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.base import Channel
from deniable.core.domains.circle import Circle
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric_base import CircularMechanism, NumericMechanism
from deniable.core.mechanisms.reading import Reading
from deniable.core.mechanisms.registry import mechanism_class
from deniable.errors import InvalidParameter

INNER = ("pm-c", "sw-c", "ogpm")


@dataclass(frozen=True, kw_only=True, repr=False)
class Flattened(CircularMechanism):
    """A linear mechanism that ignores that the circle closes: the baseline for the circular ones.

    Law: that of `inner` (pm-c, sw-c or ogpm) on the interval from 0 to the period.
    Guarantee: epsilon-LDP, exactly that of `inner`.
    Directions near the cut are answered worse than others. Use `circular-ogpm` or `circular-window`.
    Cost: that of `inner`.
    Source: dissertation, section 5.6 (the circular comparison).

    >>> Flattened(epsilon=1, inner="ogpm").certificate().holds
    True
    """

    inner: str = "pm-c"
    name: ClassVar[str] = "flattened"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Section 5.6"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner not in INNER:
            raise InvalidParameter(f"inner must be one of {', '.join(INNER)}")

    @cached_property
    def linear(self) -> NumericMechanism:
        """The mechanism on the circle cut open at 0."""
        interval = Interval(0, self.domain.period, cells=self.domain.cells)
        mechanism = mechanism_class(self.inner)(domain=interval, epsilon=self.privacy)
        assert isinstance(mechanism, NumericMechanism)
        return mechanism

    def build(self) -> Channel:
        """The inner mechanism's channel."""
        return self.linear.channel

    @cached_property
    def reading(self) -> Reading:
        """The inner mechanism's reading."""
        return self.linear.reading

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse circle, hours of the day and the default."""
        yield cls(domain=Circle(cells=12), epsilon=1, inner="ogpm")
        yield cls(domain=Circle(24, cells=240), epsilon=2, inner="sw-c")
        yield cls(epsilon=4)
