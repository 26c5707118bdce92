"""The best arc for a given loss on a circle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import wrapped_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.circle import Circle
from deniable.core.mechanisms.numeric._best_window import BestWindow
from deniable.core.mechanisms.numeric_base import CircularMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class CircularWindow(CircularMechanism, BestWindow):
    """A direction near the true one, with the arc that minimises the mean of distance**k.

    Law: cells of the arc centred at the true cell weigh `high`, the rest `low`. The arc is the root s of
    k (E-1) s**(k+1) + (k+1) s**k = 1 of the circle, E = e**epsilon.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Error, the same for every direction: (pi s)**k in radians, the least of all epsilon-LDP mechanisms.
    Cost: one draw, 20 bits on the wire.

    >>> CircularWindow(epsilon=2, loss_exponent=2).certificate().holds
    True
    """

    name: ClassVar[str] = "circular-window"
    source: ClassVar[str] = "this project; corrects the dissertation's Theorem 8 for squared error"
    published_as: ClassVar[str] = "circular-ogpm"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)

    def build(self) -> TwoLevel:
        """A wrapped window on the domain's cells."""
        return TwoLevel.at(wrapped_window(self.domain.cells, self.width_of(self.domain.cells)), self.privacy)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse circle, absolute error in degrees, and the default."""
        yield cls(domain=Circle(cells=12), epsilon=1, loss_exponent=3)
        yield cls(domain=Circle(360, cells=360), epsilon=2, loss_exponent=1)
        yield cls(epsilon=4)
