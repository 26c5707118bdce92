"""The best window for a given loss: what the published mechanism should have been for squared error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import slid_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric._best_window import BestWindow
from deniable.core.mechanisms.numeric_base import NumericMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class Window(NumericMechanism, BestWindow):
    """A number near the true one, with the window length that minimises the worst-case |y - x|**k.

    Law: cells of the window, centred at the true cell and slid inward near the ends, weigh `high`, the
    rest `low`. The window is the root s of k (E-1) s**(k+1) + (k+1) s**k = 1, E = e**epsilon.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Worst-case error: s**k of the domain. With k = 1 this is OGPM; with k = 2 it halves OGPM's worst
    squared error at epsilon = 8 (0.003024 against 0.006211).
    Cost: one draw, 20 bits on the wire.

    >>> Window(epsilon=8, loss_exponent=2).certificate().holds
    True
    """

    name: ClassVar[str] = "window"
    source: ClassVar[str] = "this project; corrects the dissertation's Theorem 7 for squared error"
    published_as: ClassVar[str] = "ogpm"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)

    def build(self) -> TwoLevel:
        """A slid window on the domain's cells."""
        return TwoLevel.at(slid_window(self.domain.cells, self.width_of(self.domain.cells)), self.privacy)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, absolute error, and the default."""
        yield cls(domain=Interval(0, 1, cells=16), epsilon=1, loss_exponent=3)
        yield cls(domain=Interval(0, 10, cells=1000), epsilon=2, loss_exponent=1)
        yield cls(epsilon=8)
