"""A place near the true one: a disc of cells that keeps its area, also at the border."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from deniable.core.channels.nearest import NearestCellSets
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import Disc, Rectangle
from deniable.core.domains.polygon import Polygon
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.base import Mechanism
from deniable.errors import InvalidParameter

MOST_CELLS = 1 << 16
BEST_AREAS = (
    ("0.5", "0.419"),
    (1, "0.354"),
    ("1.5", "0.293"),
    (2, "0.239"),
    (4, "0.091"),
    (6, "0.029"),
    (8, "0.0086"),
    (10, "0.0024"),
)
"""The share of the unit square that minimises the average Euclidean error, for some epsilons."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NearestCells(Mechanism):
    """Answer with a cell of the region, more likely one of those nearest to the true place.

    Law: a fixed number of cells nearest to the true one weigh `high`, the rest `low`; at the border
    the disc is cut and grows, so that it keeps its number of cells. Distance is counted in cells:
    make them square for a round disc.
    The region is a rectangle, a disc or any polygon.
    `area` is the disc's share of the region; left out, it is the best one on the unit square.
    Guarantee: epsilon-LDP, exactly ln(high/low). Epsilon is not split between the coordinates.
    Average error on the unit square: .336/.192/.103/.054/.028 at epsilon 2/4/6/8/10, where splitting
    epsilon over the axes gives .392/.279/.190/.125/.079.
    Cost: one draw and a count over the disc's rows, log2(cells) bits on the wire.
    Source: this project.

    >>> NearestCells(epsilon=4).certificate().holds
    True
    """

    domain: Rectangle | Disc | Polygon = Rectangle()
    area: Number | None = None
    name: ClassVar[str] = "nearest-cells"
    tasks: ClassVar[tuple[str, ...]] = ("location",)
    family: ClassVar[str] = "spatial"
    source: ClassVar[str] = "this project"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Rectangle, Disc, Polygon)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.size > MOST_CELLS:
            raise InvalidParameter(f"domain: nearest-cells takes at most {MOST_CELLS} cells (256 by 256), got {self.domain.size}")
        object.__setattr__(self, "area", area_parameter(self.area))

    @cached_property
    def members(self) -> int:
        """How many cells are favoured."""
        share = best_area(self.privacy) if self.area is None else Fraction(self.area)
        cells = self.domain.size
        return min(max(round(share * cells), 1), cells - 1)

    if TYPE_CHECKING:  # what `build` gives

        @cached_property
        def channel(self) -> TwoLevel:
            """The channel, built once."""

    @cached_property
    def sets(self) -> NearestCellSets:
        """The favoured cells of every cell."""
        if isinstance(self.domain, Rectangle):
            return NearestCellSets(self.domain.y.cells, self.domain.x.cells, self.members)
        grid = self.domain.square if isinstance(self.domain, Disc) else self.domain.grid
        return NearestCellSets(grid.y.cells, grid.x.cells, self.members, self.domain.inside)

    def build(self) -> TwoLevel:
        """The region's cells, the nearest ones favoured."""
        return TwoLevel.at(self.sets, self.privacy)

    def decode(self, output: int) -> tuple[float, float]:
        """The middle of the reported cell."""
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A tiny grid, a disc, a polygon with a bay, a given area and the default."""
        yield cls(domain=Rectangle(Interval(0, 3, cells=6), Interval(0, 2, cells=4)), epsilon=1)
        yield cls(domain=Disc((0, 0), 1, cells=10), epsilon=2)
        yield cls(domain=Polygon([(0, 0), (6, 0), (6, 4), (3, "1.5"), (0, 4)], cells=12), epsilon=2)
        yield cls(domain=Rectangle(Interval(0, 1, cells=9), Interval(0, 1, cells=9)), epsilon=3, area="0.1")
        yield cls(epsilon=6)


def area_parameter(area: Number | None) -> Fraction | None:
    """A share of the region, exactly, or None for the best one."""
    exact = None if area is None else as_fraction(area)
    if area is not None and (exact is None or not 0 < exact < 1):
        raise InvalidParameter("area must be a share of the region between 0 and 1, or None for the best one")
    return exact


def best_area(epsilon: Epsilon) -> Fraction:
    """The best share of the region: log-linear between and beyond the known epsilons, at most 0.9.

    >>> float(best_area(Epsilon(4))), float(best_area(Epsilon(3))) < 0.239 * 0.62
    (0.091, True)
    """
    known = [(Fraction(at), Decimal(share)) for at, share in BEST_AREAS]
    left = max((i for i, (at, _) in enumerate(known[:-1]) if at <= epsilon.exact), default=0)
    (start, share), (end, next_share) = known[left], known[left + 1]
    way = (epsilon.exact - start) / (end - start)
    if way in (0, 1):
        return Fraction(share if way == 0 else next_share)
    # Decimals, not doubles: every machine must find the same area.
    with localcontext(Context(prec=30)):
        exponent = Decimal(way.numerator) / Decimal(way.denominator)
        interpolated = share * ((next_share / share).ln() * exponent).exp()
    return min(Fraction(interpolated), Fraction(9, 10))
