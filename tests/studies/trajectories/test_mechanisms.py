"""Claims about mechanisms on continuous space: directions, distances, references, walks."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from deniable.core import (
    DirectionDistance,
    Disc,
    Epsilon,
    Interval,
    Mechanism,
    Parallelogram,
    Product,
    Rectangle,
    RectangleView,
    Sphere,
    Steps,
    TraCSC,
    TraCSD,
    TraCSDDisc,
    Trajectory,
    TwoLevel,
    best_share_of_direction,
    column_ratio,
    make_mechanism,
    slid_window,
    wrapped_window,
)
from deniable.core.channels.directions import Directions
from deniable.core.mechanisms.spatial._split import BEST_SHARES
from deniable.core.mechanisms.spatial.tracs_c_sphere import TraCSCSphere
from deniable.core.mechanisms.spatial.tracs_d import half_cell_point
from deniable.core.mechanisms.spatial.trajectory import TrajectoryMechanism
from deniable.errors import InvalidParameter
from deniable.privacy import FixedCoins, exact_law

WIDE = Rectangle(Interval(-1, 3, cells=40), Interval(0, 1, cells=10))
CORNERS_EDGES_INSIDE = [(0, 0), (80, 0), (0, 20), (80, 20), (0, 7), (80, 13), (31, 0), (40, 20), (40, 10), (33, 5), (1, 1)]


def seen_from(reference: tuple[int, int], **options: Any) -> TraCSD:
    sizes = {"direction_cells": 64, "distance_cells": 32} | options
    return TraCSD(domain=WIDE, epsilon=4, reference=half_cell_point(WIDE, reference), **sizes)


def channel_of(mechanism: Mechanism) -> DirectionDistance:
    assert isinstance(mechanism.channel, DirectionDistance)
    return mechanism.channel


# --- directions


@pytest.mark.parametrize("aspect", [Fraction(1), Fraction(5, 2), Fraction(1, 7), Fraction(65536)])
@pytest.mark.parametrize("cells", [4, 8, 12, 4096])
def test_direction_cells_are_the_angles_that_real_numbers_give(cells: int, aspect: Fraction) -> None:
    table = Directions.at(cells, aspect)
    rng = np.random.default_rng(1)
    # The table's vectors are rounded to 30 bits: with flat cells a few of those go to one side, so fewer angles can be told apart.
    margin = 1e-4 if aspect > 100 else 1e-6
    for across, up in rng.integers(-8192, 8193, (500, 2)).tolist():
        if across == up == 0:
            continue
        turn = math.atan2(up, across * float(aspect)) / (2 * math.pi) % 1 * cells
        if abs(turn - round(turn)) > margin * cells:
            assert table.cell(across, up) == int(turn) % cells


def test_axes_begin_their_quarters_and_the_zero_vector_goes_to_direction_zero() -> None:
    table = Directions.at(16, Fraction(3, 2))
    assert [table.cell(*v) for v in ((5, 0), (0, 5), (-5, 0), (0, -5), (0, 0))] == [0, 4, 8, 12, 0]
    for cell in range(16):
        assert table.cell(*table.middle(cell)) == cell


@pytest.mark.parametrize("cells", [2, 6, 10, 4095])
def test_directions_come_in_quarters(cells: int) -> None:
    with pytest.raises(InvalidParameter, match="direction_cells"):
        TraCSD(epsilon=1, direction_cells=cells)


def test_flat_cells_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="as wide as high"):
        TraCSD(domain=Rectangle(Interval(0, 1e9, cells=8), Interval(0, 1, cells=8)), epsilon=1)


# --- the slab rule


@pytest.mark.parametrize("reference", CORNERS_EDGES_INSIDE)
def test_the_distance_cell_is_the_exact_share_of_the_way_to_the_border(reference: tuple[int, int]) -> None:
    view = RectangleView(40, 10, reference)
    table = Directions.at(64, Fraction(1))
    for index in range(view.inputs):
        row, column = divmod(index, 40)
        step = (2 * column + 1 - reference[0], 2 * row + 1 - reference[1])
        turn, share = view.polar(index, table, 32)
        if step == (0, 0):
            assert (turn, share) == (0, 0)
            continue
        length, along = view.border(*step)
        assert share == int(Fraction(32 * along, length)), "a place is one of its own vector away"
        assert 0 <= share < 32


@pytest.mark.parametrize("reference", CORNERS_EDGES_INSIDE)
def test_every_report_lies_in_the_region_and_reading_it_reverses_the_view(reference: tuple[int, int]) -> None:
    mechanism = seen_from(reference)
    channel = channel_of(mechanism)
    assert mechanism.lattice_reference == reference
    for output in range(channel.outputs):
        x, y, unit = channel.step(output)
        assert 0 <= x <= 80 * unit
        assert 0 <= y <= 20 * unit
        mechanism.domain.encode(mechanism.decode(output))
        turn, share = channel.split_output(output)
        step = (x - reference[0] * unit, y - reference[1] * unit)
        if step != (0, 0):
            length, along = RectangleView(40, 10, reference).border(*step)
            assert channel.directions.cell(*step) == turn
            assert Fraction(along, length * unit) == Fraction(2 * share + 1, 64)


def test_directions_that_leave_a_corner_at_once_stand_for_the_corner() -> None:
    mechanism = seen_from((0, 0))
    outward = [turn for turn in range(64) if 16 < turn < 63]
    assert {mechanism.decode(turn * 32 + 5) for turn in outward} == {(-1.0, 0.0)}


def test_a_reference_between_lattice_points_goes_to_the_nearest_one() -> None:
    assert TraCSD(domain=WIDE, epsilon=1, reference=("-0.92", "0.49")).lattice_reference == (2, 10)
    assert TraCSD(domain=WIDE, epsilon=1, reference=("2.93", "0.01")).lattice_reference == (79, 0)
    assert TraCSD(domain=WIDE, epsilon=1).lattice_reference == (40, 10)


def test_a_place_that_is_the_reference_is_drawn_like_any_other() -> None:
    mechanism = seen_from((33, 5))
    middle = (WIDE.x.decode(16), WIDE.y.decode(2))
    assert channel_of(mechanism).polar(mechanism.encode(middle)) == (0, 0)
    coins = FixedCoins(1)
    assert len({mechanism.randomize(middle, coins).output for _ in range(200)}) > 50


# --- exact privacy


@pytest.mark.parametrize("reference", [(3, 4), (0, 0), (6, 0), (0, 8), (6, 8), (0, 3), (5, 8), (1, 1)])
def test_the_two_dimensional_law_is_private_by_enumeration_of_every_weight(reference: tuple[int, int]) -> None:
    domain = Rectangle(Interval(0, 3, cells=3), Interval(0, 2, cells=4))
    for epsilon in (Fraction(1, 2), 2, 6):
        mechanism = TraCSD(
            domain=domain, epsilon=epsilon, reference=half_cell_point(domain, reference), direction_cells=16, distance_cells=8
        )
        channel = channel_of(mechanism)
        rows = [list(channel.row(index)) for index in range(channel.inputs)]
        assert {sum(row) for row in rows} == {channel.total}
        worst = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
        assert worst == mechanism.certificate().ratio
        assert mechanism.privacy.allows(worst)
        # The outputs as places: those that stand for one place are added up, which cannot make the ratio larger.
        places: dict[Any, list[int]] = {}
        for output, column in enumerate(zip(*rows, strict=True)):
            known = places.setdefault(mechanism.decode(output), [0] * channel.inputs)
            places[mechanism.decode(output)] = [a + b for a, b in zip(known, column, strict=True)]
        assert max(Fraction(max(column), min(column)) for column in places.values()) <= worst


def test_the_scalar_draw_has_exactly_the_weights() -> None:
    table = Directions.at(4, Fraction(1))
    windows = (TwoLevel(wrapped_window(4, 1), 1, 3), TwoLevel(slid_window(3, 1), 1, 2))
    channel = DirectionDistance(RectangleView(2, 2, (1, 2)), table, *windows)
    walk = Steps(channel, 2)
    for index in range(4):
        law = exact_law(partial(channel.draw, index))
        assert law == {y: Fraction(channel.weight(index, y), channel.total) for y in range(channel.outputs)}
    law = exact_law(partial(walk.draw, 6))
    assert law == {y: Fraction(walk.weight(6, y), walk.total) for y in range(walk.outputs)}
    assert walk.max_ratio() == column_ratio(walk)


def test_a_walk_is_seen_from_the_report_before() -> None:
    step = TraCSD(domain=WIDE, epsilon=2, direction_cells=16, distance_cells=8)
    walk = TrajectoryMechanism.divide("tracs-d", WIDE, length=3, epsilon=2, direction_cells=16, distance_cells=8)
    assert walk.step == step
    places = [(0.3, 0.2), (-0.9, 0.9), (2.9, 0.1)]
    assert isinstance(walk.channel, Steps)
    output = walk.randomize(places, FixedCoins(4)).output
    weight, read = 1, []
    for place, digit in zip(places, walk.channel.split_output(output), strict=True):
        weight *= step.channel.weight(step.encode(place), digit)
        read.append(step.decode(digit))
        step = step.after(digit)
    assert walk.channel.weight(walk.encode(places), output) == weight
    assert walk.decode(output) == read


@pytest.mark.parametrize("reference", CORNERS_EDGES_INSIDE)
def test_the_next_reference_is_the_lattice_point_nearest_to_the_report(reference: tuple[int, int]) -> None:
    mechanism = seen_from(reference)
    channel = channel_of(mechanism)
    for output in range(0, channel.outputs, 7):
        x, y = mechanism.decode(output)
        exact = ((x + 1) * 20, y * 20)
        view = channel.after(output).view
        assert isinstance(view, RectangleView)
        assert max(abs(a - b) for a, b in zip(view.reference, exact, strict=True)) <= 0.5 + 1e-9
        assert mechanism.after(output).lattice_reference == view.reference


def test_epsilon_per_location_and_per_trajectory_differ_by_the_length() -> None:
    space = Rectangle(Interval(cells=8), Interval(cells=8))
    for name in ("tracs-c", "tracs-d", "nearest-cells"):
        each = TrajectoryMechanism.divide(name, space, length=4, epsilon=2, epsilon_per="location")
        whole = TrajectoryMechanism.divide(name, space, length=4, epsilon=2, epsilon_per="trajectory")
        assert (each.epsilon, each.step.epsilon) == (8, 2)
        assert (whole.epsilon, whole.step.epsilon) == (2, Fraction(1, 2))
        for mechanism in (each, whole):
            ratio = mechanism.step.channel.max_ratio()
            assert ratio is not None
            assert mechanism.certificate().ratio == ratio**4
            assert mechanism.certificate().holds


def test_a_trajectory_that_spends_too_much_or_does_not_add_up_is_refused() -> None:
    space = Rectangle(Interval(cells=8), Interval(cells=8))
    with pytest.raises(InvalidParameter, match="epsilon"):
        TrajectoryMechanism.divide("tracs-c", space, length=100, epsilon=2)
    with pytest.raises(InvalidParameter, match="exactly the length times"):
        TrajectoryMechanism(domain=Trajectory(space, 2), epsilon=3, step=make_mechanism("tracs-c", domain=space, epsilon=1))
    with pytest.raises(InvalidParameter, match="the trajectory's space"):
        TrajectoryMechanism(domain=Trajectory(WIDE, 2), epsilon=2, step=make_mechanism("tracs-c", domain=space, epsilon=1))
    with pytest.raises(InvalidParameter, match="epsilon_per"):
        TrajectoryMechanism.divide("tracs-c", space, length=2, epsilon=2, epsilon_per="person")


# --- parameters


def test_the_windows_are_the_ones_asked_for() -> None:
    published = TraCSC(domain=WIDE, epsilon=4, loss_exponent=1)
    assert published.channel == TraCSC(domain=WIDE, epsilon=4, axis="ogpm").channel
    assert isinstance(published.channel, Product)
    assert published.parts["x"].privacy == 2
    turn, share = (
        channel_of(TraCSD(epsilon=4, split="published")).direction,
        channel_of(TraCSD(epsilon=4, split="published")).distance,
    )
    again = TraCSD(epsilon=4, split="published", direction="circular-ogpm", distance="ogpm")
    assert (turn, share) == again.windows


@pytest.mark.parametrize(
    "fields", [{"axis": "k-rr"}, {"axis": "circular-ogpm"}, {"axis": 5}, {"axis": "gaussian"}, {"loss_exponent": 0}]
)
def test_axes_that_are_no_mechanisms_on_an_interval_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(fields))):
        TraCSC(epsilon=1, **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"split": 0},
        {"split": 1},
        {"split": "best"},
        {"direction": "purkayastha"},
        {"direction": "window"},
        {"distance": "sw"},
        {"reference": (2, 2)},
        {"reference": (0.5,)},
        {"reference": (0.5, float("nan"))},
        {"reference": "center"},
        {"distance_cells": 1 << 13},
        {"domain": Disc()},
    ],
)
def test_bad_parameters_are_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(fields))):
        TraCSD(epsilon=1, **fields)


def test_parts_of_epsilon_add_up_exactly_at_every_split() -> None:
    for epsilon in ("1e-7", "0.1", "1/3", 2, "7.77", 20):
        for split in ("auto", "published", "0.0001", "1/3", "0.9999"):
            first, second = TraCSD(epsilon=epsilon, split=split).epsilons
            assert first.exact + second.exact == Epsilon(epsilon).exact
            assert min(first.exact, second.exact) > 0
    assert abs(float(TraCSD(epsilon=8, split="published").epsilons[0]) / 8 - math.pi / (math.pi + 1)) < 1e-12


def test_the_best_share_is_the_known_one_and_never_grows() -> None:
    for epsilon, share in BEST_SHARES:
        assert best_share_of_direction(Epsilon(epsilon)) == Fraction(share)
    shares = [best_share_of_direction(Epsilon(Fraction(i, 4))) for i in range(1, 80)]
    assert shares == sorted(shares, reverse=True)


# --- other regions


def test_a_disc_is_seen_from_its_center_by_integers() -> None:
    mechanism = TraCSDDisc(domain=Disc((10, 20), 5, cells=40), epsilon=5, direction_cells=64, distance_cells=32)
    channel = channel_of(mechanism)
    for index in range(mechanism.domain.size):
        x, y = mechanism.domain.decode(index)
        turn, share = channel.polar(index)
        assert share == min(int(math.hypot(x - 10, y - 20) / 5 * 32 + 1e-9), 31)
        assert min((math.atan2(y - 20, x - 10) / (2 * math.pi) % 1 * 64 - turn) % 64, 64) < 1 + 1e-9
        mechanism.domain.encode(mechanism.decode(turn * 32 + share))


def test_a_leaning_region_is_treated_as_its_rectangle() -> None:
    lean = Parallelogram((0, 0), (4, 0), (2, 1), cells=(40, 10))
    square = Rectangle(Interval(0, 4, cells=40), Interval(0, lean.sides.y.high, cells=10))
    options: dict[str, Any] = {"direction_cells": 64, "distance_cells": 32}
    first, second = TraCSD(domain=lean, epsilon=3, **options), TraCSD(domain=square, epsilon=3, **options)
    assert first.channel == second.channel
    x, y = second.decode(777)
    assert first.decode(777) == pytest.approx((x + 2 * y / float(square.y.high), y / float(square.y.high)))


def test_windows_on_the_globe_reach_over_the_date_line() -> None:
    mechanism = TraCSCSphere(domain=Sphere(Interval(-30, 30, cells=10), cells=72), epsilon=4)
    part = mechanism.parts["x"].channel
    assert isinstance(part, TwoLevel)
    east, west = part.sets.contains(71, 0), part.sets.contains(0, 71)
    assert east
    assert west
