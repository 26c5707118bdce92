"""The strawman of direction perturbation: randomized response on a few sectors, then any direction of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.sectors import Sectors
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import Rectangle
from deniable.core.exact.numbers import Number
from deniable.core.mechanisms.spatial._coordinates import coordinate_part
from deniable.core.mechanisms.spatial.tracs_d import TraCSD, window_of
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class Strawman(TraCSD):
    """TraCS-D with k-ary randomized response on `sectors` directions, and a uniform direction in the answered sector.

    Law: the cells of the true direction's sector weigh `high`, all others `low`; the distance as in TraCS-D.
    However large epsilon is, the direction is known to a sector only: use `tracs-d` or `nearest-cells`.
    The released program lies with probability 1 / (k - 1 + e**epsilon) in all, not for each lie: its level is much
    above epsilon. This one has k - 1 such lies.
    Guarantee: epsilon-LDP, by exact addition of direction and distance.
    Cost: two draws, 24 bits on the wire.
    Source: dissertation, Sections 6.2.2 and 6.3.1 (k = 6, published split).

    >>> Strawman(epsilon=4).certificate().holds
    True
    """

    split: Number | str = "published"
    direction: str = "sectors"
    direction_cells: int = 4092
    sectors: int = 6
    name: ClassVar[str] = "strawman"
    tasks: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[str] = "Zheng, Hu 2026a; dissertation, Section 6.3.1, calibrated"

    def __post_init__(self) -> None:
        if self.direction != "sectors":
            raise InvalidParameter("direction must be 'sectors'; tracs-d takes others")
        if isinstance(self.sectors, bool) or not isinstance(self.sectors, int) or not 2 <= self.sectors < self.direction_cells:
            raise InvalidParameter("sectors must be a whole number, at least 2 and below direction_cells")
        if self.direction_cells % self.sectors:
            raise InvalidParameter(f"direction_cells must be a multiple of the {self.sectors} sectors")
        super().__post_init__()

    @cached_property
    def windows(self) -> tuple[TwoLevel, TwoLevel]:
        """The channels of direction and distance."""
        first, second = self.epsilons
        share = coordinate_part("distance", self.distance, Interval(cells=self.distance_cells), second, self.loss_exponent)
        return TwoLevel.at(Sectors(self.direction_cells, self.sectors), first), window_of("distance", share)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A tiny lattice, a reference in a corner, and the default."""
        tiny = Rectangle(Interval(0, 3, cells=3), Interval(0, 2, cells=4))
        yield cls(domain=tiny, epsilon=1, sectors=3, direction_cells=12, distance_cells=4)
        wide = Rectangle(Interval(-1, 3, cells=40), Interval(0, 1, cells=10))
        yield cls(domain=wide, epsilon=4, reference=(-1, 0), split="0.7", direction_cells=60, distance_cells=32)
        yield cls(epsilon=8)
