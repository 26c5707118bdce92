"""One of many public places, more likely one near the true one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.nearest_places import MOST_COORDINATE, NearestPlaceSets
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.base import Domain
from deniable.core.domains.plane import Place, Points
from deniable.core.exact.numbers import Number
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.spatial.nearest_cells import area_parameter, best_area
from deniable.errors import InvalidParameter

MOST_NEAREST_PLACES = 1 << 12


@dataclass(frozen=True, kw_only=True, repr=False)
class NearestPlaces(Mechanism):
    """Answer with one of the listed places, more likely one of those nearest to the true place.

    Law: a fixed number of places nearest to the true one, itself among them, weigh `high`, the rest `low`.
    `area` is the favoured share of all places; left out, it is the best share of a unit square's area.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: a draw looks at every place, log2(places) bits on the wire. Distances are measured on a grid of 2**24 steps.
    Source: this project.

    >>> NearestPlaces(domain=Points([(0, 0), (1, 0), (5, 5)]), epsilon=2).certificate().holds
    True
    """

    domain: Points
    area: Number | None = None
    name: ClassVar[str] = "nearest-places"
    tasks: ClassVar[tuple[str, ...]] = ("location",)
    family: ClassVar[str] = "spatial"
    source: ClassVar[str] = "this project"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Points,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.size > MOST_NEAREST_PLACES:
            raise InvalidParameter(f"domain: nearest-places takes at most {MOST_NEAREST_PLACES} places, got {self.domain.size}")
        object.__setattr__(self, "area", area_parameter(self.area))

    @cached_property
    def members(self) -> int:
        """How many places are favoured."""
        share = best_area(self.privacy) if self.area is None else Fraction(self.area)
        return min(max(round(share * self.domain.size), 1), self.domain.size - 1)

    def build(self) -> TwoLevel:
        """The places on a fine grid, the nearest ones favoured."""
        xs, ys = ([Fraction(place[axis]) for place in self.domain.places] for axis in (0, 1))
        extent = max(max(xs) - min(xs), max(ys) - min(ys))
        columns, rows = ([round((at - min(axis)) * MOST_COORDINATE / extent) for at in axis] for axis in (xs, ys))
        return TwoLevel.at(NearestPlaceSets(columns, rows, self.members), self.privacy)

    def decode(self, output: int) -> Place:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A few places, and a street grid with a share of its own."""
        yield cls(domain=Points([(0, 0), (1, 0), (3, 4), ("0.1", 7), (9, 9)]), epsilon=1)
        yield cls(domain=Points([(3 * i + j % 2, 2 * j) for j in range(8) for i in range(9)]), epsilon=4, area="0.1")
