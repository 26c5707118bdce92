"""Directions and distances by integers, against angles and fractions computed another way."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from tests.core.channels.small import SEEN_FROM

from deniable.core import DirectionDistance, DiscView, RectangleView, TwoLevel, slid_window, wrapped_window
from deniable.core.channels.direction_distance import room
from deniable.core.channels.directions import SCALE, Directions
from deniable.errors import InvalidParameter

ASPECTS = [Fraction(1), Fraction(3, 2), Fraction(2, 7), Fraction(9)]


def turn(across: Fraction, up: Fraction) -> float:
    """The angle of a vector as a share of a full turn, from the right and anticlockwise."""
    return math.atan2(up, across) / math.tau % 1


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("cells", [4, 8, 12, 360])
def test_a_vector_lies_in_its_angle(cells: int, aspect: Fraction) -> None:
    """Every lattice vector of a 15 by 15 square; those on a border between two angles belong to the later one."""
    directions = Directions.at(cells, aspect)
    for across, up in product(range(-7, 8), repeat=2):
        expected = turn(across * aspect, Fraction(up)) * cells
        nearest = round(expected)
        if (across, up) == (0, 0):
            assert directions.cell(across, up) == 0
        elif abs(expected - nearest) > 1e-6:
            assert directions.cell(across, up) == math.floor(expected)
        elif across == 0 or up == 0 or aspect == 1:
            assert directions.cell(across, up) in (nearest % cells, (nearest - 1) % cells)


def test_the_four_axes_begin_their_quarters() -> None:
    for cells in (4, 8, 64):
        directions = Directions.at(cells, Fraction(5, 3))
        axes = [directions.cell(*axis) for axis in ((3, 0), (0, 2), (-4, 0), (0, -9))]
        assert axes == [0, cells // 4, cells // 2, 3 * cells // 4]


@pytest.mark.parametrize("aspect", ASPECTS)
def test_the_table_is_the_nearest_whole_numbers_to_cosines_and_sines(aspect: Fraction) -> None:
    """Checked to two thirds of a unit of 2**-30: doubles know that much."""
    directions = Directions.at(360, aspect)
    wide, high = min(1 / aspect, Fraction(1)), min(aspect, Fraction(1))
    assert len(directions.across) == len(directions.up) == 91
    for k in range(91):
        assert abs(directions.across[k] - float(wide) * SCALE * math.cos(math.radians(k))) < 0.67
        assert abs(directions.up[k] - float(high) * SCALE * math.sin(math.radians(k))) < 0.67
    assert (directions.across[0], directions.up[0]) == (round(wide * SCALE), 0)
    assert (directions.across[90], directions.up[90]) == (0, round(high * SCALE))


def test_known_entries_are_right_to_the_last_unit() -> None:
    with localcontext() as context:
        context.prec = 40
        diagonal = int((Decimal(2).sqrt() / 2 * SCALE).to_integral_value())
        thirty = int((Decimal(3).sqrt() / 2 * SCALE).to_integral_value())
    assert Directions.at(8, Fraction(1)).across == (SCALE, diagonal, 0)
    assert Directions.at(8, Fraction(1)).up == (0, diagonal, SCALE)
    assert Directions.at(12, Fraction(1)).across == (SCALE, thirty, SCALE // 2, 0)
    assert Directions.at(12, Fraction(1)).up == (0, SCALE // 2, thirty, SCALE)
    assert SCALE == 1 << 30


@pytest.mark.parametrize("aspect", ASPECTS)
def test_the_middle_of_an_angle_lies_in_it_and_halves_it(aspect: Fraction) -> None:
    directions = Directions.at(16, aspect)
    for cell in range(16):
        across, up = directions.middle(cell)
        assert directions.cell(across, up) == cell
        if aspect == 1:
            assert turn(Fraction(across), Fraction(up)) * 16 == pytest.approx(cell + 0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("cells", "aspect", "rule"),
    [
        (0, Fraction(1), "multiple of 4"),
        (2, Fraction(1), "multiple of 4"),
        (6, Fraction(1), "multiple of 4"),
        (-4, Fraction(1), "multiple of 4"),
        (4, Fraction((1 << 16) + 1), "65536 times"),
        (4, Fraction(1, (1 << 16) + 1), "65536 times"),
    ],
)
def test_impossible_directions_are_refused(cells: int, aspect: Fraction, rule: str) -> None:
    with pytest.raises(InvalidParameter, match=rule):
        Directions.at(cells, aspect)


def test_the_flattest_cells_are_taken() -> None:
    assert Directions.at(4, Fraction(1 << 16)).across == (1 << 14, 0)
    assert Directions.at(4, Fraction(1, 1 << 16)).up == (0, 1 << 14)


def test_room_is_what_lies_ahead() -> None:
    assert [room(step, 3, 5) for step in (2, -2, 0)] == [7, 3, 3]


REFERENCES = [(7, 5), (0, 0), (14, 10), (1, 9), (6, 3), (14, 4)]


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("distances", [1, 4, 9])
def test_the_share_of_the_way_to_the_border_is_exact(reference: tuple[int, int], distances: int) -> None:
    view, directions = RectangleView(7, 5, reference), Directions.at(8, Fraction(1))
    assert view.inputs == 35
    for index in range(35):
        across, up = 2 * (index % 7) + 1 - reference[0], 2 * (index // 7) + 1 - reference[1]
        shares = [Fraction(0)]
        if across:
            shares.append(Fraction(abs(across), 14 - reference[0] if across > 0 else reference[0]))
        if up:
            shares.append(Fraction(abs(up), 10 - reference[1] if up > 0 else reference[1]))
        assert view.polar(index, directions, distances) == (directions.cell(across, up), math.floor(max(shares) * distances))


@pytest.mark.parametrize("reference", REFERENCES)
def test_as_many_steps_as_told_reach_the_border(reference: tuple[int, int]) -> None:
    view = RectangleView(7, 5, reference)
    for across, up in product(range(-4, 5), repeat=2):
        if (across, up) == (0, 0):
            continue
        length, along = view.border(across, up)
        assert along > 0
        x, y = reference[0] + Fraction(length, along) * across, reference[1] + Fraction(length, along) * up
        assert 0 <= x <= 14
        assert 0 <= y <= 10
        assert (across and x in (0, 14)) or (up and y in (0, 10))


def test_a_disc_is_seen_from_its_center() -> None:
    inside = [cell for cell in range(81) if (2 * (cell % 9) - 8) ** 2 + (2 * (cell // 9) - 8) ** 2 <= 81]
    view, directions = DiscView(9, inside), Directions.at(8, Fraction(1))
    assert view.inputs == len(inside)
    for index, cell in enumerate(inside):
        across, up = 2 * (cell % 9) - 8, 2 * (cell // 9) - 8
        for distances in (1, 5, 40):
            share = min(math.floor(distances * math.sqrt(Fraction(across**2 + up**2, 81)) + 1e-12), distances - 1)
            assert view.polar(index, directions, distances) == (directions.cell(across, up), share)


def seen_from(reference: tuple[int, int], cells: int = 8, distances: int = 6) -> DirectionDistance:
    window, radius = TwoLevel(wrapped_window(cells, 3), 1, 3), TwoLevel(slid_window(distances, 1), 2, 5)
    return DirectionDistance(RectangleView(7, 5, reference), Directions.at(cells, Fraction(1)), window, radius)


@pytest.mark.parametrize("reference", [(7, 5), (1, 9), (6, 3), (13, 1)])
def test_an_output_lies_in_its_angle_at_its_share_of_the_way(reference: tuple[int, int]) -> None:
    channel = seen_from(reference)
    for output in range(channel.outputs):
        turned, share = channel.split_output(output)
        assert turned * 6 + share == output
        x, y, unit = channel.step(output)
        across, up = Fraction(x, unit) - reference[0], Fraction(y, unit) - reference[1]
        ahead = [
            Fraction(14 - reference[0] if across > 0 else reference[0]),
            Fraction(10 - reference[1] if up > 0 else reference[1]),
        ]
        shares = [abs(step) / way for step, way in zip((across, up), ahead, strict=True) if way]
        assert max(shares) == Fraction(2 * share + 1, 12)
        assert turn(across, up) * 8 == pytest.approx(turned + 0.5, abs=1e-6)


def test_from_a_corner_the_outside_is_the_corner() -> None:
    channel = seen_from((14, 10))
    for output in range(12):  # the two angles up and to the right
        x, y, unit = channel.step(output)
        assert (x, y) == (14 * unit, 10 * unit)


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_next_place_is_seen_from_the_lattice_point_nearest_to_the_report(reference: tuple[int, int]) -> None:
    channel = seen_from(reference)
    for output in range(channel.outputs):
        x, y, unit = channel.step(output)
        after = channel.after(output)
        assert isinstance(after.view, RectangleView)
        assert after.view.reference == (
            math.floor(Fraction(x, unit) + Fraction(1, 2)),
            math.floor(Fraction(y, unit) + Fraction(1, 2)),
        )
        assert (after.view.columns, after.view.rows, after.direction, after.distance) == (7, 5, channel.direction, channel.distance)


def test_no_pair_of_weights_exceeds_the_product_of_both_ratios() -> None:
    for channel in SEEN_FROM:
        assert channel.max_ratio() <= channel.ratio_bound() == Fraction(3) * Fraction(5, 2)
    large = seen_from((7, 5), cells=32, distances=60)
    assert large.inputs * large.outputs > 1 << 16
    assert large.max_ratio() == large.ratio_bound()
