"""Regions that are no rectangles: what goes in comes out near where it was, and the borders are exact."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.batch import belong_many
from deniable.batch.places import place_encoder
from deniable.core import Domain, Interval, Parallelogram, Polygon, Rectangle, Sphere
from deniable.errors import InvalidDomain, InvalidParameter, OutOfDomain
from deniable.privacy.conformance.values import awkward_values

from .shapes import BAY, GLOBE, LEAN, SHAPES, STAR, TRIANGLE

each = pytest.mark.parametrize("domain", SHAPES, ids=repr)


@each
def test_every_index_decodes_to_a_value_with_that_index(domain: Domain) -> None:
    for index in range(domain.size):
        assert domain.encode(domain.decode(index)) == index


@each
def test_a_batch_encodes_and_accepts_what_the_scalar_path_does(domain: Domain) -> None:
    spread = np.random.default_rng(7).uniform(-1.3, 1.3, (600, 2))
    corners = getattr(domain, "corners", None)
    if corners is None:
        middle, half = ((0.0, 0.0), (180.0, 90.0)) if isinstance(domain, Sphere) else ((3.0, -4.0), (2.5, 2.5))
    else:
        box = np.array(corners, float)
        middle, half = (box.max(0) + box.min(0)) / 2, (box.max(0) - box.min(0)) / 2
    values = np.concatenate([np.array(awkward_values(domain), float), np.array(middle) + spread * np.array(half)])
    wanted = []
    for value in values.tolist():
        try:
            wanted.append(domain.encode(tuple(value)))
        except OutOfDomain:
            wanted.append(-1)
    good = np.array(wanted) >= 0
    assert 0 < good.sum() < len(good)
    assert (belong_many(domain, values) == good).all()
    encoder = place_encoder(domain)
    assert encoder is not None
    assert encoder(values[good]).tolist() == [index for index in wanted if index >= 0]
    with pytest.raises(OutOfDomain):
        encoder(values)


@each
@given(x=st.floats(-400, 400), y=st.floats(-400, 400))
def test_clipping_gives_a_value_that_belongs_and_keeps_one_that_does(domain: Domain, x: float, y: float) -> None:
    clipped = domain.clip((x, y))
    domain.encode(clipped)
    assert domain.clip(clipped) == clipped


def test_nan_is_never_a_place() -> None:
    for domain in SHAPES:
        assert not belong_many(domain, np.array([[np.nan, 0.0], [0.0, np.nan], [np.inf, 0.0]])).any()
        with pytest.raises(OutOfDomain):
            domain.clip((float("nan"), 0.0))


# --- polygons


def test_points_on_the_border_and_corners_belong() -> None:
    for corner in BAY.corners:
        BAY.encode(corner)
    inside: list[tuple[Any, Any]] = [(3, 0), (6, 2), (0, "0.1"), ("4.5", "2.75"), (3, "1.5")]
    for x, y in inside:
        BAY.encode((Fraction(x), Fraction(y)))
    outside: list[tuple[Any, Any]] = [(3, "1.5001"), (3, 3), ("6.0001", 2), (-1e-9, 0.1)]
    for x, y in outside:
        with pytest.raises(OutOfDomain):
            BAY.encode((Fraction(x), Fraction(y)))


def test_the_cells_of_a_polygon_are_those_whose_middles_lie_inside() -> None:
    for polygon in (BAY, STAR, TRIANGLE):
        grid = polygon.grid
        side = grid.x.width / grid.x.cells
        assert side == grid.y.width / grid.y.cells, "cells are square"
        inside = set(polygon.inside)
        for cell in range(grid.size):
            x, y = grid.decode(cell)
            assert polygon.holds((Fraction(x), Fraction(y))) == (cell in inside)


def test_inside_agrees_with_the_winding_of_the_border_around_a_point() -> None:
    for polygon in (BAY, STAR, TRIANGLE):
        corners = np.array(polygon.corners, float)
        for point in np.random.default_rng(3).uniform(corners.min(0) - 0.5, corners.max(0) + 0.5, (400, 2)):
            x, y = (np.append(corners, corners[:1], axis=0) - point).T
            turns = np.arctan2(x[:-1] * y[1:] - y[:-1] * x[1:], x[:-1] * x[1:] + y[:-1] * y[1:]).sum()
            assert polygon.holds((Fraction(float(point[0])), Fraction(float(point[1])))) == (abs(turns) > math.pi)


def test_a_rectangle_as_a_polygon_has_all_its_cells() -> None:
    assert Polygon([(0, 0), (4, 0), (4, 2), (0, 2)], cells=8).size == 32


def test_a_border_cell_whose_middle_is_outside_goes_to_the_nearest_inside() -> None:
    for polygon in (BAY, STAR):
        for value in awkward_values(polygon)[::3]:
            index = polygon.encode(value)
            row, column = divmod(polygon.grid.encode(value), polygon.grid.x.cells)
            squares = [
                ((cell // polygon.grid.x.cells - row) ** 2 + (cell % polygon.grid.x.cells - column) ** 2, cell)
                for cell in polygon.inside
            ]
            assert polygon.inside[index] == min(squares)[1]


def test_clipping_to_a_polygon_finds_the_nearest_point_of_the_border() -> None:
    ticks = np.linspace(0, 1, 2001)
    corners = np.array(BAY.corners, float)
    border = np.concatenate([a + ticks[:, None] * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])
    for point in ((3, 3.5), (-1, -2), (8, 1), (2.9, 2.2)):
        clipped = [float(part) for part in BAY.clip(point)]
        assert math.dist(clipped, point) <= np.hypot(*(border - point).T).min() + 1e-9


@pytest.mark.parametrize(
    ("corners", "what"),
    [
        ([(0, 0), (1, 1)], "3 to 1000"),
        ("triangle", "3 to 1000"),
        ([(0, 0), (1, 0), (1, 0)], "differ"),
        ([(0, 0), (1, 0), (1, 1), (0, 0)], "differ"),
        ([(0, 0), (2, 2), (2, 0), (0, 2)], "cross"),
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], "cross or touch"),
        ([(0, 0), (4, 0), (2, 0)], "cross or touch"),
        ([(0, 0), (1, 0), (1, float("nan"))], "finite"),
        ([(0, 0), (1, 0), 5], "pair"),
        ([(0, 0), (1000, 1), (0, 1)], None),
        ([(0, 0), (1000, 0), (500, "0.001")], "two cell middles"),
    ],
)
def test_only_polygons_with_an_inside_are_accepted(corners: Any, what: str | None) -> None:
    if what is None:
        assert Polygon(corners, cells=2000).size > 2
        return
    with pytest.raises(InvalidParameter, match=what):
        Polygon(corners, cells=8)


def test_a_polygon_of_many_corners_is_read_quickly_and_has_the_area_of_its_circle() -> None:
    ring = [(math.cos(2 * math.pi * k / 1000), math.sin(2 * math.pi * k / 1000)) for k in range(1000)]
    assert Polygon(ring, cells=64).size == pytest.approx(math.pi * 32**2, rel=0.01)


# --- parallelograms


def test_a_parallelogram_that_does_not_lean_is_its_rectangle() -> None:
    upright = Parallelogram((2, 3), (4, 0), (0, 1), cells=(8, 4))
    rectangle = Rectangle(Interval(2, 6, cells=8), Interval(3, 4, cells=4))
    for index in range(32):
        assert upright.decode(index) == rectangle.decode(index)
        assert upright.encode(rectangle.decode(index)) == index


def test_the_sides_of_a_parallelogram_are_as_long_as_its_vectors() -> None:
    assert float(LEAN.sides.x.width) == pytest.approx(math.hypot(4, 1), rel=1e-11)
    assert float(LEAN.sides.y.width) == pytest.approx(math.hypot(1, 2), rel=1e-11)


@pytest.mark.parametrize(
    "fields",
    [
        {"across": (1, 1), "up": (2, 2)},
        {"across": (0, 0)},
        {"up": 3},
        {"origin": (1, "x")},
        {"cells": 5},
        {"cells": (1, 4)},
        {"cells": (1 << 14, 1 << 14)},
    ],
)
def test_only_real_parallelograms_are_accepted(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Parallelogram(**fields)


# --- the globe


def test_the_date_line_is_no_border() -> None:
    assert GLOBE.encode((180, 12)) == GLOBE.encode((-180, 12))
    assert GLOBE.encode((179.9, 12)) // 36 == GLOBE.encode((-179.9, 12)) // 36
    assert GLOBE.encode((179.9, 12)) % 36 == 35
    assert GLOBE.clip((185, 95)) == (-175, 90)
    assert GLOBE.clip((-190.5, 0)) == (Fraction("169.5"), 0)
    encoder = place_encoder(GLOBE)
    assert encoder is not None
    assert encoder(np.array([[180.0, 12], [-180, 12]])).tolist() == [GLOBE.encode((180, 12))] * 2


def test_swapped_coordinates_are_refused_where_they_cannot_be_meant() -> None:
    with pytest.raises(OutOfDomain):
        GLOBE.encode((35.7, 139.7))


@pytest.mark.parametrize("latitudes", [Interval(-91, 0), Interval(0, 100), 5])
def test_latitudes_beyond_the_poles_are_refused(latitudes: Any) -> None:
    with pytest.raises(InvalidDomain, match="latitudes"):
        Sphere(latitudes)
