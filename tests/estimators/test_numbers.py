"""Means and mean directions, on fixed streams."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.domains import Circle, Interval
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import direction, mean
from deniable.estimators.direction import first_coefficient
from deniable.mechanisms import mechanism_class
from deniable.mechanisms.circular.circular_window import CircularWindow
from deniable.mechanisms.numeric.hm import Hybrid
from deniable.mechanisms.numeric.window import Window
from deniable.testing import FixedKeystream


@pytest.mark.parametrize("name", ["hm", "pm", "duchi", "pm-sub", "three-outputs", "ogpm-u"])
def test_means_are_unbiased(name: str) -> None:
    # 6 standard errors: a false alarm has probability 2e-9.
    mechanism = mechanism_class(name)(domain=Interval(-60, 180), epsilon=1)
    values = 240 * np.linspace(0, 1, 20_001) ** 2 - 60
    found = mean(mechanism, randomize_many(mechanism, values, FixedKeystream(name)))
    assert abs(float(found.value) - values.mean()) < 6 * float(found.standard_error)


def test_intervals_of_means_cover_as_often_as_they_say() -> None:
    mechanism, stream, draws = Hybrid(epsilon=1), FixedKeystream("mean"), np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        low, high = mean(mechanism, randomize_many(mechanism, draws.beta(2, 3, size=300), stream)).interval()
        inside += bool(low <= 0.4 <= high)
    # 95 % ± 5 standard deviations.
    assert 0.895 < inside / 400 <= 1.0


def test_biased_mechanisms_have_no_mean() -> None:
    mechanism = Window(epsilon=1)
    with pytest.raises(NotSupported, match="biased"):
        mean(mechanism, [mechanism.randomize(0.5)] * 3)
    with pytest.raises(InvalidParameter):
        mean(Hybrid(epsilon=1), [])


def test_the_shrinkage_is_the_first_fourier_coefficient() -> None:
    for mechanism in (CircularWindow(domain=Circle(cells=360), epsilon=2), CircularWindow(domain=Circle(cells=101), epsilon=0.5)):
        channel = mechanism.channel
        step = 2 * math.pi / channel.outputs
        direct = sum(weight * math.cos(step * y) for y, weight in enumerate(channel.row(0))) / channel.total
        assert first_coefficient(channel) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("name", ["circular-window", "circular-ogpm", "purkayastha"])
def test_directions_and_their_concentration_are_recovered(name: str) -> None:
    mechanism = mechanism_class(name)(domain=Circle(360), epsilon=2)
    angles = np.degrees(np.random.default_rng(1).vonmises(np.radians(350) - 2 * np.pi, 1.5, size=20_000)) % 360
    found = direction(mechanism, randomize_many(mechanism, angles, FixedKeystream(name)))
    unit = np.exp(1j * np.radians(angles)).mean()
    off = (found.angle - np.degrees(np.angle(unit)) + 180) % 360 - 180
    # 6 standard errors: a false alarm has probability 2e-9.
    assert abs(off) < 6 * found.standard_error < 20
    assert abs(found.concentration - abs(unit)) < 6 * found.concentration_error < 0.2


def test_intervals_of_directions_cover_as_often_as_they_say() -> None:
    mechanism, stream, draws = CircularWindow(domain=Circle(360), epsilon=2), FixedKeystream("direction"), np.random.default_rng(2)
    inside = 0
    for _ in range(400):
        angles = np.degrees(draws.vonmises(0.5, 2, size=800)) % 360
        low, high = direction(mechanism, randomize_many(mechanism, angles, stream)).interval()
        inside += bool(low <= np.degrees(0.5) <= high)
    # 95 % ± 5 standard deviations.
    assert 0.895 < inside / 400 <= 1.0


def test_numbers_on_a_line_have_no_direction() -> None:
    mechanism = Window(epsilon=1)
    with pytest.raises(NotSupported, match="Circle"):
        direction(mechanism, [mechanism.randomize(0.5)] * 3)
