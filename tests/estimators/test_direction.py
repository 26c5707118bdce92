"""Mean directions, on fixed streams."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.core import Circle, Interval, make_mechanism
from deniable.errors import NotSupported
from deniable.estimators import Direction, Target, direction
from deniable.estimators.directions import coefficient
from deniable.privacy import FixedKeystream

from .numeric_runs import expected, surveys

NAMES = ["circular-window", "circular-ogpm", "purkayastha"]


@pytest.mark.parametrize(("cells", "epsilon"), [(360, 2), (101, 0.5)])
@pytest.mark.parametrize("order", [1, 2])
def test_coefficients_are_those_of_the_law(cells: int, epsilon: float, order: int) -> None:
    channel = make_mechanism("circular-window", domain=Circle(cells=cells), epsilon=epsilon).channel
    step = 2 * math.pi * order / cells
    direct = sum(weight * math.cos(step * y) for y, weight in enumerate(channel.row(0))) / channel.total
    assert coefficient(channel, order) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_exact_law_gives_the_exact_direction(name: str) -> None:
    extra = {"points": 36} if name == "purkayastha" else {}
    mechanism = make_mechanism(name, domain=Circle(360, cells=36), epsilon=1, **extra)
    estimate = direction(expected(mechanism, 34, 34, 1))
    unit = np.exp(1j * np.radians([345, 345, 15])).mean()
    assert estimate.angle == pytest.approx(math.degrees(np.angle(unit)) % 360, abs=1e-6)
    assert estimate.concentration == pytest.approx(abs(unit), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_directions_and_their_concentration_are_recovered(name: str) -> None:
    mechanism = make_mechanism(name, domain=Circle(360), epsilon=2)
    angles = np.degrees(np.random.default_rng(1).vonmises(np.radians(350) - 2 * np.pi, 1.5, size=20_000)) % 360
    estimate = direction(randomize_many(mechanism, angles, FixedKeystream(name)))
    unit = np.exp(1j * np.radians(angles)).mean()
    off = (estimate.angle - np.degrees(np.angle(unit)) + 180) % 360 - 180
    # 6 standard errors: a false alarm has probability 2e-9.
    assert abs(off) < 6 * estimate.standard_error < 20
    assert abs(estimate.concentration - abs(unit)) < 6 * estimate.concentration_error < 0.2


RUNS, AT_ONCE, USERS = 28_000, 2_000, 1_000
MEAN_LENGTH = 0.697774657964
"""E cos of von Mises at concentration 2 is I1(2)/I0(2)."""


@pytest.mark.slow
@pytest.mark.parametrize("target", ["these users", "population"])
def test_intervals_of_directions_cover_as_often_as_they_say(target: Target) -> None:
    """Of the directions themselves; half a cell, which the intervals allow for, is next to nothing here."""
    mechanism = make_mechanism("circular-window", domain=Circle(360, cells=7200), epsilon=4)
    draws = np.random.default_rng(2)
    same = np.degrees(draws.vonmises(0.5, 2, size=USERS)) % 360
    unit = np.exp(1j * np.radians(same)).mean() if target == "these users" else MEAN_LENGTH * np.exp(0.5j)
    true = np.degrees(np.angle(unit))
    angle_inside, length_inside = 0, 0
    for piece in range(RUNS // AT_ONCE):
        angles = np.tile(same, (AT_ONCE, 1))
        if target == "population":
            angles = np.degrees(draws.vonmises(0.5, 2, size=angles.shape)) % 360
        for sums in surveys(mechanism, angles, f"{target} {piece}"):
            estimate = direction(sums, target=target)
            low, high = estimate.interval()
            # Ends may lie beyond the circle: how far the truth is from the low one, going up.
            angle_inside += (true - low) % 360 <= high - low
            low, high = estimate.concentration_interval()
            length_inside += low <= abs(unit) <= high
    # 28,000 runs have a standard deviation of 0.13 %. Fixed coins pass or fail for good; on fresh ones, a true coverage
    # within 0.35 % of 95 % (a delta method has its own error) is called wrong less than once in 10**6 times.
    assert 0.94 < angle_inside / RUNS < 0.96
    assert 0.94 < length_inside / RUNS < 0.96


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_weak_concentrations_are_covered(strength: float) -> None:
    mechanism = make_mechanism("circular-window", domain=Circle(360, cells=360), epsilon=0.5)
    angles = np.degrees(np.random.default_rng(5).vonmises(0.5, strength, size=(500, 200))) % 360
    unit = np.exp(1j * np.radians(np.floor(angles) + 0.5)).mean(axis=1)
    around = along = 0
    for sums, true in zip(surveys(mechanism, angles, f"weak {strength}"), unit, strict=True):
        estimate = direction(sums)
        low, high = estimate.interval()
        around += (np.degrees(np.angle(true)) - low) % 360 <= high - low
        low, high = estimate.concentration_interval()
        along += low <= abs(true) <= high
    # 500 surveys at 95 %: fewer than 447 hold once in 10**6 times.
    assert around >= 447
    assert along >= 447


def test_lopsided_people_are_covered() -> None:
    """Most of the noise lies across the mean direction, and what lies along it goes with it."""
    mechanism = make_mechanism("circular-window", domain=Circle(1, cells=2400), epsilon=8)
    places, chances, runs = np.array([0.2, 0.21, 0.8]), np.array([0.3, 0.3, 0.4]), 600
    people = np.random.default_rng(8).choice(places, (runs, 50), p=chances)
    true = complex(chances @ np.exp(2j * math.pi * places))
    around = along = 0
    for sums in surveys(mechanism, people, "lopsided"):
        estimate = direction(sums, target="population")
        low, high = estimate.interval()
        around += int((np.angle(true) / (2 * math.pi) - low) % 1 <= high - low)
        low, high = estimate.concentration_interval()
        along += low <= abs(true) <= high
    # 600 surveys at 95 %: fewer than 543 hold once in 10**6 times. They were 527 with noise taken as even on both sides; the
    # concentration, which is safe by more than that now, was between the two numbers.
    assert around >= 543
    assert along >= 564


@pytest.mark.parametrize("turn", [0.3, -0.3])
def test_an_interval_reaches_farther_where_the_resultant_may_be_short(turn: float) -> None:
    given = Direction(
        angle=0.5,
        standard_error=0.02,
        concentration=0.5,
        concentration_error=0.06,
        tilt=turn * 0.06 * 0.02 * math.pi,
        period=1,
        n=1000,
        target="population",
    )
    low, high = given.interval()
    assert (0.5 - low > high - 0.5) == (turn > 0), "noise that makes it longer turns it on: the true one may lie farther back"
    # Every end is a direction across which the resultant may just be 0.
    for end in (low, high):
        off = 2 * math.pi * (end - 0.5)
        across, along = 0.02 * 2 * math.pi * 0.5, 0.06
        variance = (along * math.sin(off)) ** 2 + (across * math.cos(off)) ** 2 - 2 * given.tilt * math.sin(off) * math.cos(off)
        seen = (0.5 * math.sin(off)) ** 2 / variance
        assert seen / (1 + seen / 1000) == pytest.approx(1.959964**2, rel=1e-4)


def test_one_report_says_little() -> None:
    mechanism = make_mechanism("circular-window", domain=Circle(360), epsilon=1)
    estimate = direction(randomize_many(mechanism, [10], FixedKeystream("one")))
    assert estimate.standard_error > 50


def test_what_has_no_mean_direction_is_refused() -> None:
    line = make_mechanism("window", domain=Interval(0, 1, cells=16), epsilon=1)
    with pytest.raises(NotSupported, match="Circle"):
        direction(randomize_many(line, [0.5], FixedKeystream("no")))
    cut = make_mechanism("flattened", domain=Circle(cells=16), epsilon=1, inner="ogpm")
    with pytest.raises(NotSupported, match="alike"):
        direction(randomize_many(cut, [0.5], FixedKeystream("no")))


@pytest.mark.parametrize("name", ["circular-window", "purkayastha", "circular-ogpm"])
@pytest.mark.parametrize("hour", [6.0, 6.49, 6.99])
def test_hours_anywhere_in_their_cells_are_covered(name: str, hour: float) -> None:
    mechanism: Any = make_mechanism(name, domain=Circle(24, cells=24), epsilon=8)
    answer = direction(randomize_many(mechanism, np.full(100_000, hour), FixedKeystream(2)))
    low, high = answer.interval(0.999)
    assert low <= hour <= high
    assert high - low < 1.5
    least, most = answer.concentration_interval(0.999)
    assert least <= 1 <= most


def test_a_concentration_is_never_said_to_be_above_1() -> None:
    """Eighty people who all look the same way."""
    mechanism = make_mechanism("circular-window", domain=Circle(24, cells=48), epsilon=1)
    answers = [direction(sums) for sums in surveys(mechanism, np.full((40, 80), 8.1), "one way")]
    assert max(answer.concentration for answer in answers) > 1
    assert all(0 <= low <= high <= 1 for low, high in (answer.concentration_interval() for answer in answers))
