"""The optimal generalised piecewise mechanism, as published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import slid_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric._window_shape import odd_width
from deniable.core.mechanisms.numeric_base import NumericMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class OGPM(NumericMechanism):
    """A number near the true one: a window of length 1/(e**(epsilon/2) + 1) of the domain is favoured.

    Law: cells of the window, centred at the true cell and slid inward near the ends, weigh `high`, the
    rest `low`. The density is e**(epsilon/2) inside and e**(-epsilon/2) outside on [0, 1].
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Worst-case absolute error: 1/(e**(epsilon/2) + 1), the least of all mechanisms with a constant band.
    It is published as optimal for squared error too, which it is not: see `window` with loss exponent 2.
    Cost: one draw, 20 bits on the wire.
    Source: dissertation, Theorem 7.

    >>> OGPM(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "ogpm"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Theorem 7"
    published_as: ClassVar[str] = "ogpm"
    tasks: ClassVar[tuple[str, ...]] = ("distribution",)

    def build(self) -> TwoLevel:
        """A slid window on the domain's cells."""
        share = 1 / (math.exp(float(self.privacy) / 2) + 1)
        return TwoLevel.at(slid_window(self.domain.cells, odd_width(share, self.domain.cells)), self.privacy)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, a shifted domain and the default."""
        yield cls(domain=Interval(0, 1, cells=16), epsilon=0.5)
        yield cls(domain=Interval(-1, 3, cells=101), epsilon=2)
        yield cls(epsilon=4)
