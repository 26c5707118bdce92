"""The square wave: a number within b of the true one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.sets import linear_window
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.mechanisms.numeric._square_wave_shape import square_wave_share
from deniable.core.mechanisms.numeric._window_shape import odd_width
from deniable.core.mechanisms.numeric_base import NumericMechanism
from deniable.core.mechanisms.reading import Affine


@dataclass(frozen=True, kw_only=True, repr=False)
class SquareWave(NumericMechanism):
    """A number near the true one or anywhere up to b beyond the domain: made for estimating distributions.

    Law: a window of K = 2b cells, centred at the true cell, over the domain and b on either side of it;
    its cells weigh `high`, the others `low`. b = (eps E - E + 1)/(2E (E - 1 - eps)), E = e**epsilon.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: one draw, 21 bits on the wire.
    Source: Li et al., "Estimating numerical distributions under LDP", SIGMOD 2020.

    >>> SquareWave(epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "sw"
    source: ClassVar[str] = "Li et al. 2020"
    tasks: ClassVar[tuple[str, ...]] = ("mean", "distribution")

    @property
    def members(self) -> int:
        """K, the cells of the window: odd, so that it has a middle."""
        return odd_width(square_wave_share(self.privacy), self.domain.cells)

    def build(self) -> TwoLevel:
        """A window that moves one cell per input."""
        return TwoLevel.at(linear_window(self.domain.cells, self.members), self.privacy)

    @cached_property
    def line(self) -> Affine:
        """The line on which the window's middle cell is the input's own cell."""
        cells = self.domain.cells
        return Affine(Fraction(2 - self.members, 2 * cells), Fraction(1, cells))

    @cached_property
    def reading(self) -> Affine:
        """Outputs where they are, some of them beyond the domain."""
        return self.line

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A coarse lattice, a shifted domain and the default."""
        yield cls(domain=Interval(0, 1, cells=8), epsilon=1)
        yield cls(domain=Interval(-1, 1, cells=100), epsilon=2)
        yield cls(epsilon=4)
