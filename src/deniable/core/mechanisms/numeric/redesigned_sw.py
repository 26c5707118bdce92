"""The square wave's criterion with a window that slides inside the domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import slid_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric._square_wave_shape import redesigned_share
from deniable.core.mechanisms.numeric._window_shape import odd_width
from deniable.core.mechanisms.numeric_base import NumericMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class RedesignedSquareWave(NumericMechanism):
    """A number near the true one, inside the domain, with the length that is most informative about a direction.

    Law: cells of a window of (eps E - E + 1)/(E - 1)**2 of the domain, E = e**epsilon, centred at the
    true cell and slid inward near the ends, weigh `high`, the rest `low`. The density inside is (E - 1)/eps.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: one draw, 20 bits on the wire.
    Source: dissertation, sections D.2.6 and E.2.3 (the case split tests the input, not the output).

    >>> RedesignedSquareWave(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "redesigned-sw"
    source: ClassVar[str] = "Zheng, Hu 2026a; dissertation, Sections D.2.6 and E.2.3"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)

    def build(self) -> TwoLevel:
        """A slid window on the domain's cells."""
        width = odd_width(redesigned_share(self.privacy), self.domain.cells)
        return TwoLevel.at(slid_window(self.domain.cells, width), self.privacy)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, a shifted domain and the default."""
        yield cls(domain=Interval(0, 1, cells=16), epsilon=1)
        yield cls(domain=Interval(-1, 3, cells=101), epsilon=2)
        yield cls(epsilon=4)
