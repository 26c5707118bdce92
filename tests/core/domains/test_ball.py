"""Vectors of bounded length: what belongs, what is clipped, and what never appears in an error."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.core import UNIT, Ball, domain_from_recipe, index_of, steps_of
from deniable.errors import InvalidDomain, OutOfDomain


def test_vectors_survive_the_lattice_to_a_step() -> None:
    ball = Ball(3, radius="2.5")
    value = [0.3, -1.7, 1.1]
    assert ball.decode(ball.encode(value)) == pytest.approx(value, abs=2.5 / UNIT)
    assert ball.decode(0) == [0, 0, 0]


def test_arrays_lists_and_exact_numbers_have_one_index() -> None:
    ball = Ball(2)
    indices = {
        ball.encode(value) for value in ([0.5, -0.25], (0.5, -0.25), np.array([0.5, -0.25]), [Fraction(1, 2), Fraction(-1, 4)])
    }
    assert indices == {ball.encode(np.array([0.5, -0.25], np.float32))}
    assert ball.encode([1, 0]) == ball.encode([1.0, 0.0])


def test_every_unit_vector_belongs_however_it_was_rounded() -> None:
    generator = np.random.default_rng(1)
    for dimension in (1, 2, 7, 1000):
        ball = Ball(dimension, radius=3)
        rows = generator.normal(size=(50, dimension))
        rows *= 3 / np.linalg.norm(rows, axis=1, keepdims=True)
        for row in rows:
            ball.encode(row)


@pytest.mark.parametrize("norm", [2, math.inf])
def test_a_clipped_vector_belongs_and_keeps_its_direction(norm: float) -> None:
    ball = Ball(3, radius=2, norm=norm)
    for value in ([30.0, -40.0, 0.0], [1e200, 1e-200, 0.0], [1e-300, 1e300, -1e300]):
        clipped = ball.clip(value)
        ball.encode(clipped)
        assert all(a * b >= 0 for a, b in zip(clipped, value, strict=True))
    inside = [0.5, 0.5, -0.5]
    assert ball.clip(inside) is inside
    assert Ball(3, radius=2).clip([30.0, -40.0, 0.0]) == pytest.approx([1.2, -1.6, 0])
    assert Ball(3, radius=2, norm=math.inf).clip([30.0, -1.0, 0.0]) == [2, -1, 0]


@pytest.mark.parametrize(
    "value", [[0.91827364, 0.91827364], [0.9], [0.5, math.nan], [0.5, "0.5"], [True, 0.5], 0.5, "ab", [1e300, 0], None]
)
def test_what_does_not_belong_is_refused_without_a_trace(value: object) -> None:
    with pytest.raises(OutOfDomain) as refused:
        Ball(2).encode(value)
    assert "private" in str(refused.value)
    assert "0.91827364" not in str(refused.value)
    assert refused.value.__context__ is None


def test_the_cube_bounds_every_coordinate() -> None:
    cube = Ball(4, norm=math.inf)
    cube.encode([1, -1, 1, 1])
    with pytest.raises(OutOfDomain):
        cube.encode([1.001, 0, 0, 0])
    with pytest.raises(OutOfDomain):
        Ball(4).encode([1, -1, 1, 1])


def test_recipes_come_back_and_bad_ones_do_not() -> None:
    for ball in (Ball(3), Ball(5, radius="1/3", norm=math.inf)):
        assert domain_from_recipe(ball.recipe()) == ball
        assert eval(repr(ball)) == ball
    wrongs: tuple[dict[str, Any], ...] = (
        {"dimension": 0},
        {"dimension": 10**7},
        {"radius": 0},
        {"radius": -1},
        {"norm": 1},
        {"norm": "two"},
        {"dimension": True},
    )
    for wrong in wrongs:
        with pytest.raises(InvalidDomain):
            Ball(**{"dimension": 3, **wrong})


def test_indices_and_steps_are_two_ways_to_write_a_vector() -> None:
    steps = [1, -1, 0, UNIT, -UNIT, 2**31 - 1, -(2**31)]
    assert steps_of(index_of(steps), len(steps)) == steps


@pytest.mark.parametrize("norm", [1, 1.0, "1"])
def test_the_ball_of_norm_1_is_refused_with_the_way_to_report_its_vectors(norm: float | str) -> None:
    with pytest.raises(InvalidDomain, match="subset selection"):
        Ball(3, norm=norm)
    with pytest.raises(InvalidDomain, match="to bound every coordinate"):
        Ball(3, norm=True)
