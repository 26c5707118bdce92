"""The piecewise mechanism: an unbiased number from a moving window."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.chain import Interpolated
from deniable.core.channels.sets import linear_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import Grid, points
from deniable.core.mechanisms.numeric._unbiased_window import fine_steps, unbiased_reading
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Affine


@dataclass(frozen=True, kw_only=True, repr=False)
class PiecewiseMechanism(NumericMechanism):
    """A number whose mean is exactly the true one, from a window 1/e**(epsilon/2) as long as the path it moves along.

    Law: the domain has cells + 1 rows; a value between two rows goes to one of them at random, so that
    the mean stays exact. The window of K = cells/e**(epsilon/2) cells moves one cell per row over
    cells + K outputs; its cells weigh `high`, the others `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance on [-1, 1], h = e**(epsilon/2): x**2/(h - 1) + (h + 3)/(3 (h - 1)**2). Reports lie in
    [-C, C], C = (h + 1)/(h - 1), so one of them may lie outside the domain.
    Cost: two draws, 21 bits on the wire.
    Source: Wang et al., "Collecting and analyzing multidimensional data with LDP", ICDE 2019.

    >>> PiecewiseMechanism(domain=Interval(-1, 1), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "pm"
    source: ClassVar[str] = "Wang et al. 2019"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution", "field")
    unbiased: ClassVar[bool] = True

    @property
    def path(self) -> float:
        """How many window lengths the window moves from one end of the domain to the other."""
        return math.exp(float(self.privacy) / 2)

    @property
    def grid(self) -> Grid:
        """A fine lattice of points: several steps between two rows."""
        return points(self.domain.cells * fine_steps(self.domain.cells))

    @cached_property
    def window(self) -> TwoLevel:
        """The channel of the rows."""
        rows = self.domain.cells
        return TwoLevel.at(linear_window(rows + 1, max(round(rows / self.path), 1)), self.privacy)

    def build(self) -> Interpolated:
        """The window, entered between two rows."""
        return Interpolated(self.window, fine_steps(self.domain.cells))

    @cached_property
    def reading(self) -> Affine:
        """The straight line that makes the mean exact."""
        return unbiased_reading(self.window)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, the published domain and the default."""
        yield cls(domain=Interval(0, 1, cells=4), epsilon=1)
        yield cls(domain=Interval(-1, 1, cells=100), epsilon=2)
        yield cls(epsilon=4)
