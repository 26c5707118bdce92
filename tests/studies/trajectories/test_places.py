"""Claims about public places: the nearest one, rounding, and whole-number distances."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.core import Interval, Points, Rectangle
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies import Paths, Places


def test_rounding_gives_the_place_that_no_other_is_nearer_than() -> None:
    generator = np.random.default_rng(1)
    places, locations = Places(generator.random((300, 2))), generator.random((2000, 2))
    apart = np.hypot(*(locations[:, None] - places.coordinates[None]).transpose(2, 0, 1))
    assert np.array_equal(places.nearest(locations), apart.argmin(axis=1))
    rounded = places.round(Paths.of([locations[:7], [], locations[7:]]))
    assert rounded.lengths.tolist() == [7, 0, 1993]
    assert np.hypot(*(rounded.places - locations).T) == pytest.approx(apart.min(axis=1))


def test_rounding_to_a_grid_is_the_cell_a_location_lies_in() -> None:
    region = Rectangle(Interval(-1, 3, cells=8), Interval(0, 1, cells=5))
    places = Places.grid(region)
    locations = np.random.default_rng(2).random((500, 2)) * [4, 1] + [-1, 0]
    assert len(places) == region.size
    assert places.nearest(locations).tolist() == [region.encode(tuple(place)) for place in locations.tolist()]
    assert places.coordinates[7].tolist() == pytest.approx(region.decode(7))


def test_places_of_paths_are_their_different_locations() -> None:
    places = Places.of(Paths.of([[(0, 0), (1, 2)], [], [(1, 2), (0, 0), (5, 5)]]))
    assert sorted(map(tuple, places.coordinates.tolist())) == [(0, 0), (1, 2), (5, 5)]
    domain = places.domain()
    assert isinstance(domain, Points)
    assert [domain.encode(tuple(place)) for place in places.coordinates.tolist()] == [0, 1, 2]


def test_distances_are_whole_numbers_rounded_down_from_the_true_ones() -> None:
    places = Places(np.random.default_rng(4).random((200, 2)) * [7, 3] + [100, -5])
    apart = np.hypot(*(places.coordinates[:, None] - places.coordinates[None]).transpose(2, 0, 1))
    steps = np.array([places.steps_from(place, 1024) for place in range(200)])
    assert steps.max() == 1024
    assert np.array_equal(steps, steps.T)
    assert np.abs(steps + 0.5 - apart / apart.max() * 1024).max() <= 0.51


@pytest.mark.parametrize("line", [[(0, 0), (1, 1), (5, 5)], [(2, 0), (2, 9)], [(0, 3), (4, 3), (1, 3)]])
def test_places_on_one_line_have_a_diameter_too(line: list[tuple[int, int]]) -> None:
    places = Places(line)
    assert max(places.steps_from(place, 100).max() for place in range(len(line))) == 100


def test_one_place_is_a_place() -> None:
    assert Places([(3, 4)]).steps_from(0, 10).tolist() == [0]


@pytest.mark.parametrize("bad", [[], [(1, 2, 3)], [(0, float("nan"))], [(1, 1), (1, 1)]])
def test_lists_that_are_no_places_are_refused(bad: list[tuple[float, ...]]) -> None:
    with pytest.raises(InvalidParameter, match="places must"):
        Places(np.array(bad))


def test_private_locations_that_are_no_numbers_are_refused_unseen() -> None:
    with pytest.raises(OutOfDomain, match="private") as raised:
        Places([(0, 0), (1, 1)]).nearest([(0.918273645, float("inf"))])
    assert "918273645" not in str(raised.value)
    with pytest.raises(InvalidParameter, match="no place"):
        Places.of(Paths.of([[]]))
