"""The redesigned square wave on a circle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import wrapped_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.circle import Circle
from deniable.core.mechanisms.numeric._square_wave_shape import redesigned_share
from deniable.core.mechanisms.numeric._window_shape import odd_width
from deniable.core.mechanisms.numeric_base import CircularMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class CircularRedesignedSquareWave(CircularMechanism):
    """A direction near the true one, with the arc that is most informative about it.

    Law: cells of an arc of (eps E - E + 1)/(E - 1)**2 of the circle, E = e**epsilon, centred at the true
    cell, weigh `high`, the rest `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    It maximises the mutual information of a uniform direction and its report; its errors are larger than
    those of `circular-ogpm`.
    Cost: one draw, 20 bits on the wire.
    Source: dissertation, section D.2.6.

    >>> CircularRedesignedSquareWave(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "circular-redesigned-sw"
    source: ClassVar[str] = "Zheng, Hu 2026a; dissertation, Section D.2.6"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)

    def build(self) -> TwoLevel:
        """A wrapped window on the domain's cells."""
        width = odd_width(redesigned_share(self.privacy), self.domain.cells)
        return TwoLevel.at(wrapped_window(self.domain.cells, width), self.privacy)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse circle, hours of the day and the default."""
        yield cls(domain=Circle(cells=12), epsilon=0.5)
        yield cls(domain=Circle(24, cells=240), epsilon=2)
        yield cls(epsilon=4)
