"""A place as direction and distance from a public reference, as published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from deniable.core.channels.direction_distance import MOST_DISTANCES, MOST_SIDE, DirectionDistance, RectangleView
from deniable.core.channels.directions import Directions
from deniable.core.channels.sets import Windows
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.base import Domain
from deniable.core.domains.circle import Circle
from deniable.core.domains.interval import Interval
from deniable.core.domains.parallelogram import Parallelogram
from deniable.core.domains.plane import Place, Rectangle
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.lattice import check_count
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.numeric._best_window import loss_exponent
from deniable.core.mechanisms.spatial._coordinates import FINE, coordinate_part
from deniable.core.mechanisms.spatial._split import divided, split_parameter
from deniable.errors import InvalidParameter, OutOfDomain


@dataclass(frozen=True, kw_only=True, repr=False)
class DirectionDistanceMechanism(Mechanism):
    """What TraCS-D has in common on rectangles and discs: two windows and a split of epsilon between them."""

    split: Number | str = "auto"
    direction: str = "circular-window"
    distance: str = "window"
    loss_exponent: Number = 1
    direction_cells: int = 1 << 12
    distance_cells: int = 1 << 12
    family: ClassVar[str] = "spatial"

    if TYPE_CHECKING:  # what `build` gives

        @cached_property
        def channel(self) -> DirectionDistance:
            """The channel, built once."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "split", split_parameter(self.split))
        object.__setattr__(self, "loss_exponent", loss_exponent(self.loss_exponent))
        for name in ("direction_cells", "distance_cells"):
            if check_count(name, getattr(self, name)) > MOST_DISTANCES:
                raise InvalidParameter(f"{name} must be at most {MOST_DISTANCES}")
        if self.direction_cells % 4:
            raise InvalidParameter("direction_cells must be a multiple of 4")
        assert self.windows  # made now: names that are no window mechanisms are refused

    @cached_property
    def epsilons(self) -> tuple[Epsilon, Epsilon]:
        """The epsilons of direction and distance, which add up exactly."""
        split = self.split
        assert isinstance(split, str | Fraction)
        return divided(self.privacy, split)

    @cached_property
    def windows(self) -> tuple[TwoLevel, TwoLevel]:
        """The channels of direction and distance."""
        first, second = self.epsilons
        circle, interval = Circle(cells=self.direction_cells), Interval(cells=self.distance_cells)
        turn = coordinate_part("direction", self.direction, circle, first, self.loss_exponent)
        share = coordinate_part("distance", self.distance, interval, second, self.loss_exponent)
        return window_of("direction", turn), window_of("distance", share)


@dataclass(frozen=True, kw_only=True, repr=False)
class TraCSD(DirectionDistanceMechanism):
    """A place near the true one: a direction from a public reference, and a share of the way to the border.

    Law: the direction by a wrapped window, the distance relative to the border by a slid one, drawn independently; the
    reported share is then read along the reported direction. All by integers: the direction by cross products with a public
    table, the share by the slab rule. A place equal to the reference is drawn from a fixed direction.
    `reference` is a point of the region, rounded to half cells; left out, it is the center. In a trajectory it is the
    report before (see `trajectory`).
    `split` is the direction's share of epsilon: "auto" is the best on the unit square, "published" is pi / (pi + 1).
    Guarantee: epsilon-LDP, by exact addition of the two parts.
    Cost: two draws, 24 bits on the wire.
    Source: dissertation, Section 6.2.2, with the slab rule in place of its four cases.

    >>> TraCSD(epsilon=4).certificate().holds
    True
    """

    domain: Rectangle | Parallelogram = Rectangle(Interval(0, 1, cells=FINE), Interval(0, 1, cells=FINE))
    reference: Sequence[Number] | None = None
    name: ClassVar[str] = "tracs-d"
    source: ClassVar[str] = "Zheng, Hu 2026a; dissertation, Section 6.2.2"
    tasks: ClassVar[tuple[str, ...]] = ("location",)
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Rectangle, Parallelogram)

    def __post_init__(self) -> None:
        super().__post_init__()
        if max(self.domain.sides.x.cells, self.domain.sides.y.cells) > MOST_SIDE:
            raise InvalidParameter(f"domain: tracs-d takes at most {MOST_SIDE} cells a side")
        if self.reference is not None:
            object.__setattr__(self, "reference", _reference(self.domain, self.reference))
        assert self.directions.cells  # made now: cells that are far from square are refused

    @cached_property
    def directions(self) -> Directions:
        """The public table of directions for the region's cells."""
        sides = self.domain.sides
        return Directions.at(self.direction_cells, (sides.x.width / sides.x.cells) / (sides.y.width / sides.y.cells))

    @cached_property
    def lattice_reference(self) -> tuple[int, int]:
        """The reference in half cells from the lower left corner."""
        sides = self.domain.sides
        if self.reference is None:
            return sides.x.cells, sides.y.cells
        coordinates = self.domain.coordinates(self.reference)
        pairs = zip(coordinates, (sides.x, sides.y), strict=True)
        # Half a cell more, rounded down: the nearest lattice point, the upper one on a tie.
        x, y = (((at - side.low) * 4 * side.cells / side.width + 1) // 2 for at, side in pairs)
        return int(x), int(y)

    def build(self) -> DirectionDistance:
        """The two windows, seen from the reference."""
        sides = self.domain.sides
        view = RectangleView(sides.x.cells, sides.y.cells, self.lattice_reference)
        return DirectionDistance(view, self.directions, *self.windows)

    def decode(self, output: int) -> Place:
        """The point that far along the reported direction."""
        self.channel.check(0, output)
        return self._read(self.channel, output)

    def decode_walk(self, outputs: Sequence[int]) -> list[Place]:
        """Every place seen from the report before it."""
        channel, places = self.channel, []
        for output in outputs:
            places.append(self._read(channel, output))
            channel = channel.after(output)
        return places

    def _read(self, channel: DirectionDistance, output: int) -> Place:
        """An output of a channel with any reference (post-processing, so real numbers are welcome)."""
        across, up, unit = channel.step(output)
        x, y = (
            min(
                max(float(side.low) + float(over) / float(unit) * (float(side.width) / (2 * side.cells)), float(side.low)),
                float(side.high),
            )
            for over, side in ((across, self.domain.sides.x), (up, self.domain.sides.y))
        )
        return self.domain.place(x, y)

    def after(self, output: int) -> Self:
        """The mechanism of the next place: its reference is the lattice point nearest to this output."""
        return replace(self, reference=half_cell_point(self.domain, self.channel.after(output).view.reference))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A tiny lattice, a reference in a corner, one on an edge of a leaning region, redesigned windows, and the default."""
        tiny = Rectangle(Interval(0, 3, cells=3), Interval(0, 2, cells=4))
        yield cls(domain=tiny, epsilon=1, direction_cells=8, distance_cells=4)
        wide = Rectangle(Interval(-1, 3, cells=40), Interval(0, 1, cells=10))
        yield cls(domain=wide, epsilon=4, reference=(-1, 0), split="published", direction_cells=64, distance_cells=32)
        lean = Parallelogram((0, 0), (4, 1), (1, 2), cells=(12, 6))
        yield cls(domain=lean, epsilon=3, reference=(2, "0.5"), split="0.7", direction_cells=32, distance_cells=16)
        names: dict[str, Any] = {"direction": "circular-redesigned-sw", "distance": "redesigned-sw"}
        yield cls(domain=wide, epsilon=6, direction_cells=128, distance_cells=64, **names)
        yield cls(epsilon=8)


def half_cell_point(domain: Rectangle | Parallelogram, point: tuple[int, int]) -> tuple[Fraction, Fraction]:
    """A lattice point as exact coordinates of the plane."""
    sides = domain.sides
    shares = Fraction(point[0], 2 * sides.x.cells), Fraction(point[1], 2 * sides.y.cells)
    if isinstance(domain, Parallelogram):
        (x, y), (a, b), (c, d) = domain.origin, domain.across, domain.up
        return x + a * shares[0] + c * shares[1], y + b * shares[0] + d * shares[1]
    return sides.x.low + shares[0] * sides.x.width, sides.y.low + shares[1] * sides.y.width


def window_of(parameter: str, part: Mechanism) -> TwoLevel:
    """The window channel of one coordinate; other channels are refused, because the walks' kernels know windows only."""
    channel = part.channel
    if not isinstance(channel, TwoLevel) or not isinstance(channel.sets, Windows) or channel.inputs != channel.outputs:
        raise InvalidParameter(f"{parameter} must name a window mechanism with as many outputs as cells; {part.name} is not one")
    return channel


def _reference(domain: Rectangle | Parallelogram, reference: Any) -> tuple[Fraction, Fraction]:
    """The reference, exactly; it is public, but must lie in the region."""
    exact = [as_fraction(part) for part in reference] if isinstance(reference, list | tuple) else []
    point = [part for part in exact if part is not None]
    if len(point) == len(exact) == 2:
        try:
            domain.coordinates(point)
        except OutOfDomain:
            point = []
        if point:
            return point[0], point[1]
    raise InvalidParameter(f"reference must be a pair of numbers in {domain!r}, or None for the center")
