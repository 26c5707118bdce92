"""What all mechanisms on an interval or a circle share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.domains.base import Domain
from deniable.core.domains.circle import Circle
from deniable.core.domains.interval import Interval
from deniable.core.exact.lattice import Grid, cells
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.reading import Reading, middles


@dataclass(frozen=True, kw_only=True, repr=False)
class LatticeMechanism(Mechanism):
    """A value becomes an index on `grid`; an output becomes a position by `reading`."""

    domain: Interval | Circle

    @property
    def grid(self) -> Grid:
        """How values become inputs: by default the cells of the domain."""
        return cells(self.domain.cells)

    @cached_property
    def reading(self) -> Reading:
        """How outputs become positions: by default the middles of as many cells as there are outputs."""
        return middles(self.channel.outputs)

    def encode(self, value: Any) -> int:
        """The grid index of a value, exactly."""
        return self.grid.index(self.domain.position(value))

    def decode(self, output: int) -> float:
        """The number or the direction an output stands for."""
        return self.domain.real(self.reading.position(output))


@dataclass(frozen=True, kw_only=True, repr=False)
class NumericMechanism(LatticeMechanism):
    """A number of an interval in, a number out."""

    domain: Interval = Interval(0, 1)
    family: ClassVar[str] = "numeric"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Interval,)


@dataclass(frozen=True, kw_only=True, repr=False)
class CircularMechanism(LatticeMechanism):
    """A direction in, a direction out."""

    domain: Circle = Circle()
    family: ClassVar[str] = "circular"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Circle,)
