"""Mechanisms on a circle: the same error everywhere, and the published ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from deniable.core import Circle, CircularMechanism, CircularOGPM, CircularWindow, column_ratio
from deniable.core.mechanisms.circular.circular_redesigned_sw import CircularRedesignedSquareWave
from deniable.core.mechanisms.circular.flattened import Flattened
from deniable.core.mechanisms.circular.purkayastha import Purkayastha
from deniable.errors import InvalidParameter

GOLDEN = {row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())}


def rows(prefix: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in GOLDEN.values() if row["id"].startswith(prefix)]


def error(mechanism: CircularMechanism, index: int, power: int = 1) -> float:
    """In radians, by the distance around the circle."""
    place, channel = float(mechanism.grid.position(index)), mechanism.channel
    found = 0.0
    for output, weight in enumerate(channel.row(index)):
        apart = abs(float(mechanism.reading.position(output)) - place)
        found += weight * (2 * math.pi * min(apart, 1 - apart)) ** power
    return found / channel.total


@pytest.mark.parametrize("row", rows("T8.L1.mae."))
def test_circular_ogpm_has_the_published_absolute_error(row: dict[str, Any]) -> None:
    mechanism = CircularOGPM(domain=Circle(cells=1 << 15), epsilon=row["inputs"]["eps"])
    assert error(mechanism, 17) == pytest.approx(row["value"], rel=1e-4)


@pytest.mark.parametrize("row", rows("T9.mse."))
def test_circular_ogpm_has_the_published_squared_error(row: dict[str, Any]) -> None:
    mechanism = CircularOGPM(domain=Circle(cells=1 << 15), epsilon=row["inputs"]["eps"])
    assert error(mechanism, (1 << 15) - 1, 2) == pytest.approx(row["value"], rel=1e-3)


@pytest.mark.parametrize("row", rows("T8.L2.mse_opt."))
def test_circular_window_has_the_best_squared_error(row: dict[str, Any]) -> None:
    epsilon = row["inputs"]["eps"]
    found = error(CircularWindow(domain=Circle(cells=4096), epsilon=epsilon), 0, 2)
    assert found == pytest.approx(row["value"], rel=1e-4)
    assert found < error(CircularOGPM(domain=Circle(cells=4096), epsilon=epsilon), 0, 2)


@pytest.mark.parametrize("row", rows("purk.L1."))
def test_purkayastha_has_the_published_absolute_error(row: dict[str, Any]) -> None:
    assert error(Purkayastha(epsilon=row["inputs"]["eps"]), 3) == pytest.approx(row["value"], rel=1e-4)


@pytest.mark.parametrize("points", [2, 9, 10])
@pytest.mark.parametrize("epsilon", ["1e-9", 0.1, 1, 20])
def test_purkayastha_law_is_exponential_in_the_angle(points: int, epsilon: Any) -> None:
    mechanism = Purkayastha(epsilon=epsilon, points=points)
    channel, eps = mechanism.channel, float(mechanism.privacy)
    ratio = channel.max_ratio()
    assert ratio == column_ratio(channel)
    assert ratio is not None
    assert mechanism.privacy.allows(ratio)
    for o in range(points):
        angle = 2 * math.pi * min(o, points - o) / points
        expected = math.exp(-eps * angle / math.pi)
        assert channel.weight(1, (1 + o) % points) / channel.weight(1, 1) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", [CircularOGPM, CircularWindow, CircularRedesignedSquareWave])
def test_every_direction_has_the_same_law_turned(kind: type[CircularMechanism]) -> None:
    channel = kind(domain=Circle(cells=12), epsilon=1).channel
    first = list(channel.row(0))
    assert first[1:] == first[:0:-1]
    for x in range(12):
        assert list(channel.row(x)) == [first[(y - x) % 12] for y in range(12)]


def test_redesigned_square_wave_tells_more_than_its_neighbours() -> None:
    def information(mechanism: CircularMechanism) -> float:
        row, total = list(mechanism.channel.row(0)), mechanism.channel.total
        return sum(w / total * math.log(w * len(row) / total) for w in row)

    circle = Circle(cells=1024)
    best = information(CircularRedesignedSquareWave(domain=circle, epsilon=4))
    assert best == pytest.approx(GOLDEN["A22.MI.eps4"]["value"], rel=1e-4)
    assert best > information(CircularOGPM(domain=circle, epsilon=4))
    assert best > information(CircularWindow(domain=circle, epsilon=4))


@pytest.mark.parametrize("inner", ["pm-c", "sw-c", "ogpm"])
def test_flattened_is_worst_at_the_cut_and_worse_than_circular(inner: str) -> None:
    circle = Circle(cells=512)
    flat = Flattened(domain=circle, epsilon=2, inner=inner)
    assert flat.certificate().holds
    assert error(flat, 0) > error(CircularOGPM(domain=circle, epsilon=2), 0)


def test_flattened_average_squared_error_has_the_golden_ratio() -> None:
    circle = Circle(cells=512)
    flat = Flattened(domain=circle, epsilon=2)
    average = sum(error(flat, x, 2) for x in range(0, 512, 8)) / 64
    expected = GOLDEN["5.6.1.circ.PM.eps2"]["value"]["thm8_circular_metric"]
    assert error(CircularOGPM(domain=circle, epsilon=2), 0, 2) / average == pytest.approx(expected, rel=0.02)


def test_flattened_refuses_other_mechanisms() -> None:
    with pytest.raises(InvalidParameter, match="pm-c, sw-c, ogpm"):
        Flattened(epsilon=1, inner="laplace")


def test_hours_of_the_day_wrap() -> None:
    mechanism = CircularOGPM(domain=Circle(24, cells=24), epsilon=6)
    assert mechanism.encode(24) == mechanism.encode(0) == 0
    assert mechanism.channel.weight(0, 0) > mechanism.channel.weight(0, 12)
