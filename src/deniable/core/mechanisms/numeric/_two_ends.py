"""What Duchi's mechanism and those built on it share: randomized response between the ends of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.exact.lattice import Grid, points
from deniable.core.mechanisms.numeric._unbiased_window import fine_steps
from deniable.core.mechanisms.numeric_base import NumericMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoEnds(NumericMechanism):
    """A value is rounded to an end of the domain at random, so that the mean is kept; then randomized response."""

    unbiased: ClassVar[bool] = True

    @property
    def grid(self) -> Grid:
        """A fine lattice of points: the input is kept to 32 bits of the domain."""
        return points(self.domain.cells * fine_steps(self.domain.cells))

    @cached_property
    def ends(self) -> TwoLevel:
        """Randomized response between the two ends."""
        return TwoLevel.at(Singleton(2), self.privacy)
