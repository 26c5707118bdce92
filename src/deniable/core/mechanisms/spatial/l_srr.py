"""Staircase randomized response: groups of places by distance, each less likely than the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.ranked import Ranked
from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import Disc, Points, Rectangle
from deniable.core.exact.weights import two_level_weights
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.spatial._place_lattice import SIDE, lattice
from deniable.errors import InvalidParameter

MOST_L_SRR = 1 << 14
REACHES = (Fraction(3, 10), Fraction(6, 10))
"""The published groups end at these shares of the region's longer side."""

ASKED = 64
"""The usual group sizes are averages over so many places."""


@dataclass(frozen=True, kw_only=True, repr=False)
class LSRR(Mechanism):
    """Answer with a place of the nearest group most likely, less likely with one of the next, and so on.

    Law: the places in the order of their distance form groups of fixed sizes `groups`; the first weighs
    e**epsilon times the last, and the groups between take equal steps.
    As published, the groups are those within 0.3 and 0.6 of the region's side: their sizes depend on the true
    place, hence so does the normaliser, and levels of ratio e**epsilon exceed epsilon (a released program takes
    the ratio epsilon itself, which is another law again). Here the sizes are fixed, by default to what those
    distances hold on average: then the level is exactly epsilon.
    Guarantee: epsilon-LDP, exactly ln(first weight / last weight).
    Cost: a sort of all places per report.
    Source: Wang, Hong, Xiong, Qin and Hong, "L-SRR", 2022, with groups of fixed sizes.

    >>> LSRR(domain=Points([(0, 0), (0, 1), (3, 4), (5, 5)]), epsilon=1, groups=[1, 1, 2]).certificate().holds
    True
    """

    domain: Rectangle | Disc | Points = Rectangle(Interval(0, 1, cells=16), Interval(0, 1, cells=16))
    groups: Sequence[int] | None = None
    name: ClassVar[str] = "l-srr"
    tasks: ClassVar[tuple[str, ...]] = ("location",)
    slow: ClassVar[bool] = True
    family: ClassVar[str] = "spatial"
    source: ClassVar[str] = "Wang et al. 2022, calibrated"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Rectangle, Disc, Points)

    def __post_init__(self) -> None:
        super().__post_init__()
        places = self.domain.size
        if places > MOST_L_SRR:
            raise InvalidParameter(f"domain: l-srr takes at most {MOST_L_SRR} places, got {places}")
        if self.groups is None:
            return
        if isinstance(self.groups, str | bytes) or not isinstance(self.groups, Sequence):
            raise InvalidParameter("groups must be a list of sizes, nearest first, or None for the usual ones")
        sizes = tuple(self.groups)
        if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes):
            raise InvalidParameter("groups must be whole numbers of places, each at least 1")
        if len(sizes) < 2 or sum(sizes) != places:
            raise InvalidParameter(f"groups must be at least two sizes that add up to the {places} places")
        object.__setattr__(self, "groups", sizes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the groups, nearest first."""
        return tuple(self.groups) if self.groups is not None else self._usual

    @cached_property
    def _usual(self) -> tuple[int, ...]:
        columns, rows = lattice(self.domain)
        places = list(zip(columns, rows, strict=True))
        asked = [places[j * len(places) // ASKED] for j in range(ASKED)] if len(places) > ASKED else places
        squares = [int(SIDE * reach) ** 2 for reach in REACHES]
        within = [
            sum((a - c) ** 2 + (b - d) ** 2 <= square for a, b in asked for c, d in places) // len(asked) for square in squares
        ]
        # Three groups where there is room for them: every group keeps at least one place.
        first = min(max(within[0], 1), len(places) - 1)
        if len(places) < 3:
            return first, len(places) - first
        first = min(first, len(places) - 2)
        second = min(max(within[1], first + 1), len(places) - 1)
        return first, second - first, len(places) - second

    def build(self) -> Ranked:
        """Equal steps from the highest to the lowest weight."""
        low, high = two_level_weights(sum(self.sizes[:-1]), self.domain.size, self.privacy)
        last = len(self.sizes) - 1
        weights = [high - (high - low) * group // last for group in range(last + 1)]
        columns, rows = lattice(self.domain)
        return Ranked(columns=columns, rows=rows, sizes=self.sizes, weights=weights)

    def decode(self, output: int) -> tuple[float, float]:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Few places, a tiny grid, a disc with four groups, and the default."""
        yield cls(domain=Points([(0, 0), (1, 0), (1, "0.5"), (4, 4), (2, 3)]), epsilon=1)
        yield cls(domain=Rectangle(Interval(0, 3, cells=6), Interval(0, 2, cells=4)), epsilon=2)
        yield cls(domain=Disc((0, 0), 1, cells=8), epsilon=3, groups=[4, 8, 20, 20])
        yield cls(epsilon=4)
