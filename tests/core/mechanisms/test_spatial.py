"""Claims about the mechanism on places."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.batch.nearest import NearestSampler
from deniable.batch.nearest_places import nearest_first
from deniable.core import (
    Disc,
    Epsilon,
    Interval,
    NearestCells,
    NearestCellSets,
    NearestPlaces,
    NearestPlaceSets,
    Points,
    Polygon,
    Rectangle,
    TwoLevel,
)
from deniable.core.mechanisms.spatial.nearest_cells import BEST_AREAS, best_area
from deniable.core.mechanisms.spatial.trajectory import TrajectoryMechanism
from deniable.errors import InvalidParameter, NotSupported

GOLDEN: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())
}


def square(cells: int) -> Rectangle:
    return Rectangle(Interval(0, 1, cells=cells), Interval(0, 1, cells=cells))


def favoured(mechanism: NearestCells, index: int) -> set[int]:
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    return {y for y, weight in enumerate(channel.row(index)) if weight == channel.high}


@pytest.mark.parametrize("mechanism", list(NearestCells.examples())[:4], ids=["rectangle", "disc", "polygon", "area"])
def test_the_favoured_cells_are_as_many_everywhere_and_none_outside_is_nearer(mechanism: NearestCells) -> None:
    places = np.array([mechanism.decode(y) for y in range(mechanism.domain.size)])
    for x in range(mechanism.domain.size):
        near = sorted(favoured(mechanism, x))
        assert len(near) == mechanism.members
        assert x in near
        distances = np.hypot(*(places - places[x]).T)
        assert distances[near].max() <= np.delete(distances, near).min() + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "published"), [(2, 0.336), (4, 0.192), (6, 0.103)])
def test_the_average_error_on_the_unit_square_is_the_one_stated(epsilon: int, published: float) -> None:
    mechanism = NearestCells(domain=square(32), epsilon=epsilon)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    places = np.array([mechanism.decode(y) for y in range(1024)])
    total = 0.0
    for x in range(1024):
        distances = np.hypot(*(places - places[x]).T)
        near = sorted(favoured(mechanism, x))
        total += channel.low * distances.sum() + (channel.high - channel.low) * distances[near].sum()
    assert total / channel.total / 1024 == pytest.approx(published, abs=0.004)
    if epsilon == 2:
        assert total / channel.total / 1024 == pytest.approx(GOLDEN["TraCS.AE.eps2"]["value"]["disc"], abs=0.004)


@pytest.mark.parametrize(("epsilon", "area"), BEST_AREAS)
def test_the_best_area_is_the_known_one_at_the_known_epsilons(epsilon: int, area: str) -> None:
    assert best_area(Epsilon(epsilon)) == Fraction(area)


def test_the_best_area_shrinks_with_epsilon_and_stays_within_bounds() -> None:
    areas = [best_area(Epsilon(Fraction(i, 4))) for i in range(1, 81)]
    assert areas == sorted(areas, reverse=True)
    assert all(0 < area <= Fraction(9, 10) for area in areas)
    assert float(best_area(Epsilon(3))) == pytest.approx((0.239 * 0.091) ** 0.5, rel=1e-12)


def test_even_an_extreme_area_leaves_a_cell_on_either_side() -> None:
    assert NearestCells(domain=square(4), epsilon=15).members == 1
    assert NearestCells(domain=square(4), epsilon=1, area="0.999").members == 15


def test_a_place_comes_back_as_the_middle_of_its_cell() -> None:
    mechanism = NearestCells(domain=Disc((10, 20), 2, cells=8), epsilon=1)
    assert mechanism.decode(mechanism.encode((10.1, 20.1))) == pytest.approx((10.25, 20.25))


@pytest.mark.parametrize("area", [0, 1, -0.1, "much", float("nan")])
def test_a_bad_area_is_refused_by_name(area: Any) -> None:
    with pytest.raises(InvalidParameter, match="area"):
        NearestCells(epsilon=1, area=area)


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="domain"):
        NearestCells(domain=square(257), epsilon=1)


BAY = Polygon([(0, 0), (6, 0), (6, 4), (3, "1.5"), (0, 4)], cells=12)
REGIONS = [
    NearestCellSets(7, 9, 1),
    NearestCellSets(7, 9, 20),
    NearestCellSets(8, 8, 63),
    NearestCellSets(1, 40, 9),
    NearestCellSets(BAY.grid.y.cells, BAY.grid.x.cells, 25, BAY.inside),
    NearestCellSets(3, 3, 2, [0, 2, 6, 8]),
]


def by_hand(sets: NearestCellSets, index: int) -> list[int]:
    """All cells by squared distance, ties by position: the definition, one by one."""
    row, column = sets.place(index)

    def key(cell: int) -> tuple[int, int, int]:
        r, c = sets.place(cell)
        return (r - row) ** 2 + (c - column) ** 2, r, c

    return sorted(range(sets.outputs), key=key)[: sets.members]


@pytest.mark.parametrize("sets", REGIONS, ids=lambda sets: f"{sets.rows}x{sets.columns}-{sets.members}")
def test_neighbours_are_those_of_the_definition(sets: NearestCellSets) -> None:
    for index in range(sets.inputs):
        near = sorted(by_hand(sets, index))
        assert sets.neighbours(index) == near
        assert [sets.inside(index, j) for j in range(sets.members)] == near
        far = [sets.outside(index, j) for j in range(sets.others)]
        assert sorted(near + far) == list(range(sets.outputs))


@pytest.mark.parametrize("sets", REGIONS, ids=lambda sets: f"{sets.rows}x{sets.columns}-{sets.members}")
def test_a_batch_reaches_exactly_as_far(sets: NearestCellSets) -> None:
    sampler = NearestSampler(TwoLevel(sets, 4, 11), sets)
    numbers, rows, columns, row_offsets, column_offsets = sampler._grid
    for index in range(sets.inputs):
        row, column = sets.place(index)
        met = set()
        for j in range(int(sampler._reach[index])):
            r, c = row + row_offsets[j], column + column_offsets[j]
            if 0 <= r < rows and 0 <= c < columns and numbers[r * columns + c] >= 0:
                met.add(int(numbers[r * columns + c]))
        assert sorted(met) == sets.neighbours(index)


def test_a_large_grid_agrees_with_the_definition_here_and_there() -> None:
    sets = NearestCellSets(256, 256, 1901)
    for index in (0, 255, 256 * 128 + 3, 256 * 255 + 17, 256 * 131 + 120):
        assert sets.neighbours(index) == sorted(by_hand(sets, index))


def test_a_polygon_that_is_a_square_is_the_square() -> None:
    polygon = Polygon([(0, 0), (1, 0), (1, 1), (0, 1)], cells=9)
    first = NearestCells(domain=polygon, epsilon=3, area="0.1").channel
    second = NearestCells(domain=square(9), epsilon=3, area="0.1").channel
    assert all(list(first.row(x)) == list(second.row(x)) for x in range(81))


# --- listed places

STREETS = Points([(3 * i + j % 2, 2 * j) for j in range(8) for i in range(9)])


def test_the_nearest_places_are_favoured_and_every_place_favours_itself() -> None:
    mechanism = NearestPlaces(domain=STREETS, epsilon=4, area="0.1")
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    places = np.array([mechanism.decode(y) for y in range(72)])
    for x in range(72):
        near = [y for y in range(72) if channel.weight(x, y) == channel.high]
        assert len(near) == mechanism.members == 7
        assert x in near
        distances = np.hypot(*(places - places[x]).T)
        assert distances[near].max() <= np.delete(distances, near).min() + 1e-6


def test_places_that_fall_together_on_the_grid_still_favour_themselves() -> None:
    sets = NearestPlaceSets([0, 0, 0, 5], [0, 0, 0, 5], 1)
    assert [sets.neighbours(x) for x in range(4)] == [[0], [1], [2], [3]]
    assert nearest_first(sets)[:, 0].tolist() == [0, 1, 2, 3]


def test_a_batch_lists_the_same_neighbours() -> None:
    channel = NearestPlaces(domain=STREETS, epsilon=2).channel
    assert isinstance(channel, TwoLevel)
    assert isinstance(channel.sets, NearestPlaceSets)
    table = nearest_first(channel.sets)
    for x in range(72):
        assert sorted(table[x, : channel.sets.members].tolist()) == channel.sets.neighbours(x)
        assert sorted(table[x].tolist()) == list(range(72))


def test_too_many_places_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="at most 4096 places"):
        NearestPlaces(domain=Points([(i, 0) for i in range(4097)]), epsilon=1)


def test_walks_in_a_disc_are_refused_because_it_is_seen_from_its_center_only() -> None:
    steps: dict[str, Any] = {"direction_cells": 8, "distance_cells": 4}
    walk = TrajectoryMechanism.divide("tracs-d-disc", Disc((0, 0), 1, cells=8), length=2, epsilon=4, **steps)
    with pytest.raises(NotSupported, match="seen from its center only"):
        walk.certificate()
    one = TrajectoryMechanism.divide("tracs-d-disc", Disc((0, 0), 1, cells=8), length=1, epsilon=4, **steps)
    assert one.certificate().holds
