"""Small channels of every kind: small enough to try every answer of the coins."""

from __future__ import annotations

from fractions import Fraction

from deniable.channels import (
    Bits,
    Chain,
    Channel,
    Identity,
    Interpolated,
    Mixture,
    Nested,
    Pair,
    Product,
    Profile,
    Reference,
    SetSystem,
    Singleton,
    Table,
    TwoLevel,
    linear_window,
    slid_window,
    wrapped_window,
)
from deniable.channels.direction_distance import DirectionDistance, DiscView, RectangleView
from deniable.channels.directions import Directions
from deniable.channels.fake_data import FakeData, Field, one_of
from deniable.channels.hadamard import Hadamard
from deniable.channels.nearest import NearestCells
from deniable.channels.nearest_places import NearestPlaces
from deniable.channels.profile import symmetric, wrapped
from deniable.channels.projective import Projective
from deniable.channels.ranked import Ranked
from deniable.channels.sectors import Sectors, as_window
from deniable.channels.sketch_signs import SketchSigns
from deniable.channels.steps import Steps
from deniable.channels.subsets import Subsets

SETS: list[SetSystem] = [
    Singleton(2),
    Singleton(5),
    slid_window(7, 3),
    slid_window(6, 2),
    wrapped_window(7, 3),
    wrapped_window(6, 5),
    linear_window(4, 3),
    linear_window(3, 2, margin=2),
    Hadamard(2),
    Hadamard(5),
    Subsets(5, 2),
    Subsets(4, 3),
    Projective(7, 2, 3),
    Projective(4, 3, 2),
    NearestCells(3, 4, 5),
    NearestCells(3, 3, 2, [1, 3, 4, 5, 7]),
    NearestPlaces([0, 3, 0, 4, 9], [0, 0, 4, 3, 9], 2),
    NearestPlaces([1, 1, 1, 5], [2, 2, 2, 2], 3),
    Sectors(6, 3),
    Sectors(6, 2),
    SketchSigns(3, 2, 1, 2, 5),
]
VIEWS: list[RectangleView | DiscView] = [
    RectangleView(3, 2, (3, 2)),
    RectangleView(2, 3, (0, 6)),
    RectangleView(3, 3, (3, 3)),
    RectangleView(1, 1, (1, 1)),
    DiscView(3, [1, 3, 4, 5, 7]),
]
SEEN_FROM = [
    DirectionDistance(
        view, Directions.at(8, Fraction(3, 2)), TwoLevel(wrapped_window(8, 3), 1, 3), TwoLevel(slid_window(4, 1), 2, 5)
    )
    for view in VIEWS
]
FAIR, SKEWED = TwoLevel(Singleton(3), 1, 2), TwoLevel(Singleton(2), 2, 7)
CHANNELS: list[Channel] = [
    *(TwoLevel(sets, low, high) for sets in SETS for low, high in ((1, 2), (3, 7))),
    Table([[3, 1, 2], [2, 2, 2], [1, 3, 2]]),
    Table([[5, 0, 1], [0, 5, 1]]),
    Nested(7, widths=[1, 3], weights=[9, 3, 1]),
    Nested(8, widths=[3, 5], weights=[2, 7, 1]),
    Nested(5, widths=[1], weights=[4, 1]),
    symmetric([8, 4, 2, 1], inputs=3),
    symmetric([8, 4, 2, 1], inputs=2, margin=2),
    symmetric([5, 0, 2, 0, 1], inputs=4, margin=1),
    wrapped([7, 5, 2], cells=5),
    wrapped([7, 5, 2], cells=4),
    Profile([1, 2, 3, 1, 9], first=-2, inputs=2, margin=1),
    Profile([1, 2, 3, 4], first=2, inputs=4, wrap=True),
    Profile([1, 2, 3, 4, 9], first=1, inputs=5, wrap=True),
    Reference(low=[2, 1, 1, 2], high=[4, 2, 2, 4], output_at=[0, 1, 3, 4], input_at=[1, 3], total=9),
    Reference(low=[3, 1, 1, 1, 3], high=[8, 2, 2, 2, 8], output_at=[0, 2, 4, 6, 8], input_at=[0, 1, 2, 3, 4, 7, 8], total=14),
    Reference(low=[3, 1, 1, 1, 3], high=[8, 2, 2, 2, 8], output_at=[-9, -4, 0, 1, 2], input_at=[-20, -1, 30], total=20),
    Bits(2, own=2, other=1, scale=4),
    Bits(4, own=1, other=1, scale=3),
    Bits(3, own=4, other=1, scale=5),
    Product([TwoLevel(Singleton(3), 1, 2), Table([[1, 2], [2, 1]])]),
    Product([Bits(2, own=2, other=1, scale=3), TwoLevel(slid_window(4, 1), 1, 3), Table([[1, 1]])]),
    Interpolated(Table([[3, 1], [1, 3]]), steps=3),
    Interpolated(TwoLevel(linear_window(3, 2), 1, 2), steps=4),
    Interpolated(Table([[4, 1], [1, 4], [2, 3]]), steps=1),
    Mixture([Table([[3, 1], [1, 3]]), TwoLevel(Singleton(2), 1, 2)], shares=[2, 3]),
    Mixture([TwoLevel(slid_window(4, 1), 1, 2), Table([[1]] * 4), Identity(4)], shares=[1, 2, 1]),
    Mixture([Table([[3, 1], [1, 3]])], shares=[2]),
    Chain(Table([[3, 1], [1, 3]]), TwoLevel(Singleton(2), 1, 2)),
    Chain(TwoLevel(Singleton(3), 1, 2), Table([[2, 1], [1, 2], [3, 0]])),
    Identity(3),
    Pair(5, 2, 1),
    Pair(1, 2, 5),
    Pair(3, 1, 0),
    Ranked([0, 3, 0, 4, 9], [0, 0, 4, 3, 9], sizes=[1, 3, 1], weights=[7, 4, 2]),
    Ranked([2, 2, 2], [1, 1, 0], sizes=[2, 1], weights=[3, 3]),
    as_window(TwoLevel(Sectors(6, 3), 1, 4))[1],
    Field((2, 3, 2), 1, FAIR),
    Field((2, 3, 2), 2, SKEWED),
    one_of([FAIR, SKEWED, Table([[3, 1], [2, 2]])]),
    FakeData([FAIR, SKEWED]),
    FakeData([SKEWED, TwoLevel(Singleton(2), 1, 1), FAIR]),
    FakeData([SKEWED]),
    *SEEN_FROM,
    Steps(Table([[3, 1], [1, 3]]), 3),
    Steps(Identity(2), 2),
    Steps(TwoLevel(Singleton(3), 1, 2), 1),
    Steps(
        DirectionDistance(
            RectangleView(2, 1, (1, 1)),
            Directions.at(4, Fraction(1)),
            TwoLevel(wrapped_window(4, 1), 1, 2),
            TwoLevel(slid_window(2, 1), 1, 2),
        ),
        2,
    ),
]
