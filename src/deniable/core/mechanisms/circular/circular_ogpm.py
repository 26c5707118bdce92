"""The optimal generalised piecewise mechanism on a circle, as published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import wrapped_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.circle import Circle
from deniable.core.mechanisms.numeric._window_shape import odd_width
from deniable.core.mechanisms.numeric_base import CircularMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class CircularOGPM(CircularMechanism):
    """A direction near the true one: an arc of 1/(e**(epsilon/2) + 1) of the circle is favoured.

    Law: cells of the arc centred at the true cell weigh `high`, the rest `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Absolute error, the same for every direction: pi/(e**(epsilon/2) + 1), the least of all epsilon-LDP
    mechanisms on the circle. For squared error `circular-window` is better.
    Cost: one draw, 20 bits on the wire.
    Source: dissertation, Theorem 8.

    >>> CircularOGPM(domain=Circle(360, cells=360), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "circular-ogpm"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Theorem 8"
    published_as: ClassVar[str] = "circular-ogpm"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)

    def build(self) -> TwoLevel:
        """A wrapped window on the domain's cells."""
        share = 1 / (math.exp(float(self.privacy) / 2) + 1)
        return TwoLevel.at(wrapped_window(self.domain.cells, odd_width(share, self.domain.cells)), self.privacy)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse circle, hours of the day and the default."""
        yield cls(domain=Circle(cells=12), epsilon=0.5)
        yield cls(domain=Circle(24, cells=240), epsilon=2)
        yield cls(epsilon=4)
