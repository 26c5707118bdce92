"""Degrees to metres and back: below a millimetre off, lengths as stated, the date line no border, outside never silent."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from deniable.core import Interval, Rectangle
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies import BoundingBox, CityRegion, LocalProjection, Paths, fit_to_box, fit_to_rectangle
from deniable.studies.trajectories.projection import EARTH_RADIUS
from deniable.studies.trajectories.regions import Outside

BOXES = {
    "chicago": BoundingBox(-88, 41.6, -87.5, 42),
    "suva": BoundingBox(179, -19, -179, -16),
    "svalbard": BoundingBox(10, 77, 30, 81),
    "quito": BoundingBox(-79, -1, -78, 1),
    "pole": BoundingBox(-40, 86, 40, 90),
}


def places(box: BoundingBox, count: int = 4000) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    draws = np.random.default_rng(3)
    longitude = box.west + box.width * draws.random(count)
    longitude = np.where(longitude > 180, longitude - 360, longitude)
    return np.stack([longitude, box.south + (box.north - box.south) * draws.random(count)], axis=1)


def great_circle(one: object, other: object) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The distance in metres of pairs (longitude, latitude) on the sphere, by the haversine formula."""
    a, b = (np.radians(np.asarray(places, np.float64).reshape(-1, 2)) for places in (one, other))
    half = (b - a) / 2
    square = np.sin(half[:, 1]) ** 2 + np.cos(a[:, 1]) * np.cos(b[:, 1]) * np.sin(half[:, 0]) ** 2
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(square, 1.0))))


@pytest.mark.parametrize("name", BOXES)
def test_there_and_back_is_below_a_millimetre(name: str) -> None:
    region = CityRegion(BOXES[name])
    true = places(region.box)
    back = region.projection.degrees(region.projection.metres(true))
    assert great_circle(true, back).max() < 1e-3
    center = np.array([region.box.center])
    assert great_circle(center, region.projection.degrees(region.projection.metres(center))).max() < 1e-6
    assert np.abs(region.projection.metres(center)).max() < 1e-6


@pytest.mark.parametrize("name", BOXES)
def test_lengths_are_off_by_no_more_than_stated(name: str) -> None:
    region = CityRegion(BOXES[name])
    one, other = places(region.box), places(region.box)[::-1]
    true = great_circle(one, other)
    plane = np.hypot(*(region.projection.metres(one) - region.projection.metres(other)).T)
    error = plane / true - 1
    assert error.min() > -1e-9
    assert error.max() <= region.stretch + 1e-9
    # Short hops at the corners feel all of it: the statement is not a loose one.
    corner = np.array([[region.box.west, region.box.south]])
    hops = corner + 1e-4 * np.stack([np.cos(a := np.linspace(0, 6.28, 400)), np.sin(a)], axis=1)
    hop = np.hypot(*(region.projection.metres(hops) - region.projection.metres(corner)).T) / great_circle(corner, hops) - 1
    if name != "pole":
        assert hop.max() > 0.5 * region.stretch


def test_distances_from_the_centre_are_exact() -> None:
    plane = LocalProjection(-87.75, 41.8)
    true = places(BOXES["chicago"])
    assert np.abs(np.hypot(*plane.metres(true).T) / great_circle([[-87.75, 41.8]], true) - 1).max() < 1e-9
    assert plane.metres([[-87.75, 41.9]])[0] == pytest.approx([0, np.radians(0.1) * EARTH_RADIUS], abs=1e-3)
    assert plane.stretch(50_000) < 1.1e-5


@pytest.mark.parametrize("name", BOXES)
def test_the_rectangle_holds_all_of_the_box(name: str) -> None:
    region = CityRegion(BOXES[name])
    rectangle = region.rectangle(100)
    corners = np.array([(x, y) for x in (region.box.west, region.box.east) for y in (region.box.south, region.box.north)])
    inside = region.project(Paths.of([np.concatenate([places(region.box), corners])])).paths
    assert fit_to_rectangle(inside, rectangle).paths is inside
    assert max(rectangle.x.cells, rectangle.y.cells) == 100


def test_a_path_across_the_date_line_stays_continuous() -> None:
    region = CityRegion(BOXES["suva"])
    walk = np.stack([np.linspace(179.5, 180.5, 101), np.linspace(-17, -18, 101)], axis=1)
    walk[:, 0] = np.where(walk[:, 0] > 180, walk[:, 0] - 360, walk[:, 0])
    metres = region.project(Paths.of([walk])).paths
    steps = np.hypot(*np.diff(metres.places, axis=0).T)
    assert steps.max() < 1.01 * steps.min()
    assert np.allclose(region.degrees(metres).places, walk, atol=1e-9)
    around = BoundingBox.around(Paths.of([walk]))
    assert around.crosses_date_line
    assert around.width == pytest.approx(1, abs=1e-4)


def test_places_outside_are_refused_clipped_or_dropped_and_counted() -> None:
    box = BOXES["chicago"]
    paths = Paths.of([[(-87.7, 41.7), (-87.7, 42.3), (-89.0, 41.7)], [(-87.6, 41.9)], [(0.5, 80.0)]])
    with pytest.raises(OutOfDomain, match="3 of 5 places lie outside") as caught:
        fit_to_box(paths, box)
    assert "42.3" not in str(caught.value)
    clipped = fit_to_box(paths, box, "clip")
    assert (clipped.clipped, clipped.dropped) == (3, 0)
    assert clipped.paths.places.tolist() == [[-87.7, 41.7], [-87.7, 42.0], [-88.0, 41.7], [-87.6, 41.9], [-87.5, 42.0]]
    dropped = fit_to_box(paths, box, "drop")
    assert (dropped.clipped, dropped.dropped, dropped.paths.lengths.tolist()) == (0, 3, [1, 1, 0])
    with pytest.raises(InvalidParameter, match="'refuse', 'clip' or 'drop'"):
        fit_to_box(paths, box, "ignore")  # type: ignore[arg-type]
    square = Rectangle(Interval(0, 1, cells=4), Interval(0, 1, cells=4))
    plane = Paths.of([[(0, 1), (1.5, -2)]])
    assert fit_to_rectangle(plane, square, "clip").paths.places.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(OutOfDomain, match="not numbers"):
        fit_to_rectangle(Paths.of([[(float("nan"), 0)]]), square, "drop")


def test_the_border_belongs_to_the_box_also_across_the_date_line() -> None:
    for box in (BOXES["chicago"], BOXES["suva"]):
        corners = np.array([(x, y) for x in (box.west, box.east) for y in (box.south, box.north)])
        assert box.contains(corners).all()
        assert not box.contains(corners + np.array([[-1e-6, 0], [-1e-6, 0], [1e-6, 0], [1e-6, 0]])).any()
    clipped = BOXES["suva"].clip(np.array([[178.0, 0.0], [-178.5, -17.0]]))
    assert clipped.tolist() == [[179, -16], [-179, -17]]


def test_swapped_coordinates_are_said_to_be_swapped() -> None:
    swapped = Paths.of([places(BOXES["quito"])[:, ::-1]])
    for policy in get_args(Outside):
        with pytest.raises(OutOfDomain, match="look swapped"):
            CityRegion(BOXES["quito"]).project(swapped, policy)


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ((0, 1, 0, 2), "west must differ"),
        ((0, 2, 1, 2), "south must lie below"),
        ((0, 0, 1, 91), "north"),
        ((float("nan"), 0, 1, 1), "west"),
    ],
)
def test_boxes_that_are_none_are_refused(sides: tuple[float, ...], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        BoundingBox(*sides)


def test_a_box_in_words() -> None:
    assert BoundingBox.parse("-88,41.6,-87.5,42") == BOXES["chicago"]
    with pytest.raises(InvalidParameter, match="west,south,east,north"):
        BoundingBox.parse("1,2,3")


def test_a_continent_is_too_large() -> None:
    with pytest.raises(InvalidParameter, match="too large"):
        CityRegion(BoundingBox(-20, 0, 40, 60))
