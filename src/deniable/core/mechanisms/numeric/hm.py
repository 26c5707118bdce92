"""The hybrid mechanism: a coin chooses between PM and Duchi's two numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.chain import Interpolated, Mixture
from deniable.core.channels.sets import linear_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric._two_ends import TwoEnds
from deniable.core.mechanisms.numeric._unbiased_window import fine_steps, unbiased_pair, unbiased_reading
from deniable.core.mechanisms.reading import Joined, Reading

THRESHOLD = math.log((-5 + 2 * (6353 - 405 * 241**0.5) ** (1 / 3) + 2 * (6353 + 405 * 241**0.5) ** (1 / 3)) / 27)
"""About 0.61: up to here Duchi's two numbers alone have the least worst variance."""

SHARES = 1 << 24


@dataclass(frozen=True, kw_only=True, repr=False)
class HybridMechanism(TwoEnds):
    """PM with probability 1 - e**(-epsilon/2), else Duchi's; up to epsilon = 0.61 always Duchi's.

    Law: the mixture of two unbiased channels; the output says which one it came from.
    Guarantee: epsilon-LDP, exactly the larger of the two parts' ln(high/low).
    Worst variance on [0, 1]: 1.0722 at epsilon = 1, 0.2606 at 2, 0.0547 at 4. Above 0.61 it is the same
    for every value.
    Cost: up to four draws, 22 bits on the wire.
    Source: Wang et al., "Collecting and analyzing multidimensional data with LDP", ICDE 2019.

    >>> HybridMechanism(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "hm"
    source: ClassVar[str] = "Wang et al. 2019"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution", "field")

    @cached_property
    def window(self) -> TwoLevel:
        """The piecewise mechanism, for those whom the coin sends there."""
        rows = self.domain.cells
        members = max(round(rows / math.exp(float(self.privacy) / 2)), 1)
        return TwoLevel.at(linear_window(rows + 1, members), self.privacy)

    @property
    def mixed(self) -> bool:
        """Is epsilon large enough for PM to help?"""
        return float(self.privacy) > THRESHOLD

    def build(self) -> Interpolated:
        """Both parts on the same rows, entered between two rows."""
        rows, steps = self.domain.cells, fine_steps(self.domain.cells)
        if not self.mixed:
            return Interpolated(self.ends, rows * steps)
        share = min(max(round(-math.expm1(-float(self.privacy) / 2) * SHARES), 1), SHARES - 1)
        return Interpolated(Mixture([self.window, Interpolated(self.ends, rows)], [share, SHARES - share]), steps)

    @cached_property
    def reading(self) -> Reading:
        """Each part read without bias."""
        pair = unbiased_pair(self.ends)
        return Joined(((self.window.outputs, unbiased_reading(self.window)), (2, pair))) if self.mixed else pair

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, one with Duchi's part only, and the default."""
        yield cls(domain=Interval(0, 1, cells=4), epsilon=1)
        yield cls(domain=Interval(-1, 1, cells=100), epsilon=0.5)
        yield cls(epsilon=4)
