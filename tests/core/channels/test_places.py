"""Listed places: nearest ones, groups by rank, sectors; against sorting by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.core import NearestCellSets, NearestPlaceSets, Ranked, Sectors, TwoLevel, as_window
from deniable.core.channels.nearest_places import MOST_COORDINATE
from deniable.core.channels.ranked import MOST_STEP
from deniable.errors import InvalidParameter

points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=9)


def by_distance(places: list[tuple[int, int]], index: int) -> list[int]:
    """All places, nearest first; equally far ones by their number."""
    x, y = places[index]
    return sorted(range(len(places)), key=lambda p: ((places[p][0] - x) ** 2 + (places[p][1] - y) ** 2, p))


@given(points, st.data())
def test_the_favoured_places_are_the_nearest_with_the_true_one_among_them(
    places: list[tuple[int, int]], data: st.DataObject
) -> None:
    members = data.draw(st.integers(1, len(places) - 1))
    sets = NearestPlaceSets([x for x, _ in places], [y for _, y in places], members)
    assert sets.inputs == sets.outputs == len(places)
    for index in range(len(places)):
        order = by_distance(places, index)
        order.remove(index)
        near = sorted([index, *order[: members - 1]])
        far = [place for place in range(len(places)) if place not in near]
        assert sets.neighbours(index) == near
        assert [sets.inside(index, j) for j in range(members)] == near
        assert [sets.outside(index, j) for j in range(len(far))] == far
        assert [place for place in range(len(places)) if sets.contains(index, place)] == near


@given(points, st.data())
def test_groups_of_places_weigh_by_their_rank(places: list[tuple[int, int]], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(places) - 1))
    channel = Ranked([x for x, _ in places], [y for _, y in places], sizes=[first, len(places) - first], weights=[5, 2])
    for index in range(len(places)):
        order = by_distance(places, index)
        assert [channel.weight(index, place) for place in order] == [5] * first + [2] * (len(places) - first)
    assert channel.total == 5 * first + 2 * (len(places) - first)
    assert channel.size_ends == [first, len(places)]
    assert channel.max_ratio() == Fraction(5, 2)


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_the_favoured_cells_are_the_nearest_of_the_region(rows: int, columns: int, data: st.DataObject) -> None:
    if rows * columns < 2:
        return
    region = sorted(data.draw(st.sets(st.integers(0, rows * columns - 1), min_size=2)))
    members = data.draw(st.integers(1, len(region) - 1))
    for sets in [NearestCellSets(rows, columns, members, region)] + [NearestCellSets(rows, columns, members)] * (
        len(region) == rows * columns
    ):
        places = [divmod(cell, columns) for cell in region]
        assert sets.inputs == sets.outputs == len(region)
        for index in range(len(region)):
            assert sets.place(index) == places[index]
            near = sorted(by_distance(places, index)[:members])
            assert sets.neighbours(index) == near
            reach = sets.reach(index)
            row, column = places[index]
            squares = [(r - row) ** 2 + (c - column) ** 2 for r, c in places]
            assert sum(square < reach.square for square in squares) + reach.ties == members
            assert 0 < reach.ties <= sum(square == reach.square for square in squares)


def test_neighbourhoods_do_not_list_more_than_they_have() -> None:
    sets = NearestCellSets(3, 3, 4)
    with pytest.raises(InvalidParameter, match="a neighbourhood has 4 cells"):
        sets.inside(0, 4)


@pytest.mark.parametrize(("cells", "sectors"), [(6, 2), (6, 3), (12, 4), (5, 5)])
def test_sectors_are_equal_stretches_of_the_circle(cells: int, sectors: int) -> None:
    sets = Sectors(cells, sectors)
    size = cells // sectors
    assert sets.members == size
    assert (sets.inputs, sets.outputs) == (cells, cells)
    for index in range(cells):
        own = list(range(index // size * size, index // size * size + size))
        assert [sets.inside(index, j) for j in range(size)] == own
        assert [cell for cell in range(cells) if sets.contains(index, cell)] == own
        assert sorted(sets.outside(index, j) for j in range(cells - size)) == [cell for cell in range(cells) if cell not in own]


def test_sectors_as_windows_have_the_same_law() -> None:
    channel = TwoLevel(Sectors(12, 3), 2, 7)
    block, window = as_window(channel)
    assert block == 4
    for index in range(12):
        assert list(channel.row(index)) == list(window.row(index // block * block))
    assert as_window(window) == (1, window)


@pytest.mark.parametrize(
    ("build", "rule"),
    [
        (lambda: NearestPlaceSets([0, 1, 2], [0, 1], 1), "one row and one column per place"),
        (lambda: NearestPlaceSets([0, 1], [0, 1], 2), "fewer members than places"),
        (lambda: NearestPlaceSets([0, 1], [0, 1], 0), "fewer members than places"),
        (lambda: NearestPlaceSets([0, -1], [0, 1], 1), "columns must lie between"),
        (lambda: NearestPlaceSets([0, 1], [0, MOST_COORDINATE + 1], 1), "rows must lie between"),
        (lambda: Ranked([0, 1], [0, 1], [1, 2], [2, 1]), "add up to their number"),
        (lambda: Ranked([0, 1, 2], [0, 1], [1, 1], [2, 1]), "add up to their number"),
        (lambda: Ranked([0], [0], [1], [1]), "at least two places"),
        (lambda: Ranked([0, -1], [0, 1], [1, 1], [2, 1]), "coordinates"),
        (lambda: Ranked([0, 1], [0, MOST_STEP], [1, 1], [2, 1]), "coordinates"),
        (lambda: Ranked([0, 1], [0, 1], [2], [1]), "at least two groups"),
        (lambda: Ranked([0, 1], [0, 1], [1, 1], [1]), "at least two groups"),
        (lambda: Ranked([0, 1], [0, 1], [1, 1], [1, 0]), "at least 1"),
        (lambda: Ranked([0, 1], [0, 1], [2, 0], [2, 1]), "at least 1"),
        (lambda: Ranked([0, 1], [0, 1], [1, 1], [1, 2]), "must not increase"),
        (lambda: Sectors(6, 1), "at least two sectors"),
        (lambda: Sectors(6, 4), "multiple"),
    ],
)
def test_impossible_places_are_refused_by_the_rule_they_break(build: object, rule: str) -> None:
    with pytest.raises(InvalidParameter, match=rule):
        build()  # type: ignore[operator]


def test_the_outermost_places_are_taken() -> None:
    assert NearestPlaceSets([0, MOST_COORDINATE], [0, MOST_COORDINATE], 1).neighbours(1) == [1]
    assert MOST_COORDINATE == 1 << 24
    assert Ranked([0, MOST_STEP - 1], [MOST_STEP - 1, 0], [1, 1], [1, 1]).total == 2
    assert MOST_STEP == 1 << 21
