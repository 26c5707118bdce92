"""The piecewise mechanism, squeezed into the domain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import linear_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric_base import NumericMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class CompressedPiecewiseMechanism(NumericMechanism):
    """PM's outputs squeezed linearly onto the domain: OGPM's window length, moving instead of sliding.

    Law: a window of K = cells/e**(epsilon/2) cells moves one cell per input cell over cells - 1 + K
    outputs; its cells weigh `high`, the others `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Its worst absolute and squared errors, at the ends, equal OGPM's; in between OGPM is better.
    Cost: one draw, 21 bits on the wire.
    Source: dissertation, section 5.6 (PM-C).

    >>> CompressedPiecewiseMechanism(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "pm-c"
    source: ClassVar[str] = "Zheng, Mishra, Hu 2025; dissertation, Section 5.6; PM is Wang et al. 2019"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution")

    def build(self) -> TwoLevel:
        """A window that moves one cell per input."""
        members = max(round(self.domain.cells / math.exp(float(self.privacy) / 2)), 1)
        return TwoLevel.at(linear_window(self.domain.cells, members), self.privacy)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, a shifted domain and the default."""
        yield cls(domain=Interval(0, 1, cells=8), epsilon=1)
        yield cls(domain=Interval(-1, 1, cells=100), epsilon=2)
        yield cls(epsilon=4)
