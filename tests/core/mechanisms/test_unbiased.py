"""Mechanisms whose mean is exactly the value: exactly, as fractions; and their variances beside the published ones."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from deniable.core import THRESHOLD, Epsilon, HybridMechanism, Interval, NumericMechanism, ThreeOutputs, mechanism_class
from deniable.core.mechanisms.numeric.three_outputs import best_middle

GOLDEN = {row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())}
UNBIASED = {"pm": "pm", "pm-sub": "pmsub", "ogpm-u": "ogpmu", "duchi": "duchi", "hm": "hm", "three-outputs": "three"}
WORST = [
    pytest.param(name, row, id=row["id"])
    for name, key in UNBIASED.items()
    for row in GOLDEN.values()
    if row["id"].startswith(f"unb.worst.{key}.")
]


def numeric(name: str, cells: int, epsilon: float) -> NumericMechanism:
    found = mechanism_class(name)(domain=Interval(0, 1, cells=cells), epsilon=epsilon)
    assert isinstance(found, NumericMechanism)
    return found


def variance(mechanism: NumericMechanism, positions: list[float], index: int) -> float:
    weights = list(mechanism.channel.row(index))
    mean = float(mechanism.grid.position(index))
    return sum(w * (p - mean) ** 2 for w, p in zip(weights, positions, strict=True)) / mechanism.channel.total


def worst_variance(mechanism: NumericMechanism, parts: int) -> float:
    positions = [float(mechanism.reading.position(y)) for y in range(mechanism.channel.outputs)]
    last = mechanism.grid.last
    return max(variance(mechanism, positions, last * i // parts) for i in range(parts + 1))


@pytest.mark.parametrize(("name", "epsilon"), list(product(UNBIASED, (0.3, 1, 2, 5))))
def test_mean_of_the_reading_is_exactly_the_value(name: str, epsilon: float) -> None:
    mechanism = numeric(name, 2, epsilon)
    channel = mechanism.channel
    assert mechanism.unbiased
    assert channel.inputs == mechanism.grid.size
    positions = [mechanism.reading.position(y) for y in range(channel.outputs)]
    step = 61  # co-prime to the steps between rows: all kinds of inputs, both ends included
    for index in [*range(0, channel.inputs, step), channel.inputs - 1]:
        mean = sum(w * p for w, p in zip(channel.row(index), positions, strict=True)) / channel.total
        assert mean == mechanism.grid.position(index)


@pytest.mark.parametrize(("name", "row"), WORST)
def test_worst_variance_equals_the_golden_one(name: str, row: dict[str, Any]) -> None:
    mechanism = numeric(name, 1 << 12, row["inputs"]["eps"])
    parts = 256 if name == "three-outputs" else 4
    assert worst_variance(mechanism, parts) == pytest.approx(row["value"], rel=1e-3)


@pytest.mark.parametrize(
    "row", [row for row in GOLDEN.values() if row["id"].startswith(("PM.var.", "T10.var."))], ids=lambda r: r["id"]
)
def test_variance_at_a_value_equals_the_golden_one(row: dict[str, Any]) -> None:
    mechanism = numeric("pm" if row["id"].startswith("PM") else "ogpm-u", 1 << 12, row["inputs"]["eps"])
    positions = [float(mechanism.reading.position(y)) for y in range(mechanism.channel.outputs)]
    index = round(row["inputs"]["x"] * mechanism.grid.last)
    assert variance(mechanism, positions, index) == pytest.approx(row["value"], rel=1e-3)


def test_pm_has_the_published_variance_in_the_middle_too() -> None:
    mechanism, h = numeric("pm", 1 << 12, 1), math.exp(0.5)
    positions = [float(mechanism.reading.position(y)) for y in range(mechanism.channel.outputs)]
    for i in range(9):
        x = 2 * i / 8 - 1
        published = (x * x / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)) / 4
        assert variance(mechanism, positions, mechanism.grid.last * i // 8) == pytest.approx(published, rel=1e-3)


def test_pm_reports_reach_the_published_range() -> None:
    mechanism, h = numeric("pm", 1 << 16, 2), math.exp(1)
    reach = (h + 1) / (h - 1)
    assert float(mechanism.reading.position(0)) == pytest.approx((1 - reach) / 2, abs=1e-4)
    assert float(mechanism.reading.position(mechanism.channel.outputs - 1)) == pytest.approx((1 + reach) / 2, abs=1e-4)


def test_hybrid_variance_is_flat_above_the_threshold() -> None:
    mechanism = numeric("hm", 1 << 12, 2)
    positions = [float(mechanism.reading.position(y)) for y in range(mechanism.channel.outputs)]
    found = [variance(mechanism, positions, mechanism.grid.last * i // 4) for i in range(5)]
    assert max(found) == pytest.approx(min(found), rel=2e-3)


def test_hybrid_is_duchi_up_to_the_threshold() -> None:
    assert pytest.approx(0.61, abs=0.001) == THRESHOLD
    assert HybridMechanism(epsilon=0.6).channel.outputs == 2
    assert HybridMechanism(epsilon=0.62).channel.outputs > 2


def test_three_outputs_is_duchi_up_to_log_two_and_better_above() -> None:
    assert ThreeOutputs(epsilon=0.69).channel.outputs == 2
    assert best_middle(Epsilon(2)) == pytest.approx(0.787, abs=0.001)
    three, two = numeric("three-outputs", 64, 2), numeric("duchi", 64, 2)
    assert worst_variance(three, 128) < 0.6 * worst_variance(two, 4)


def test_three_outputs_table_is_symmetric_with_integer_ratios_within_epsilon() -> None:
    mechanism = ThreeOutputs(epsilon=3)
    assert mechanism.table is not None
    lower, middle, upper = mechanism.table.rows
    assert list(lower) == list(reversed(upper))
    assert middle[0] == middle[2]
    assert middle[1] <= mechanism.privacy.floor(lower[1])
    assert lower[0] == mechanism.privacy.floor(lower[2])


def test_truncated_pm_is_pm_read_within_the_domain() -> None:
    clipped, plain = numeric("t-pm", 4, 1), numeric("pm", 4, 1)
    assert clipped.channel == plain.channel
    assert not clipped.unbiased
    for output in range(plain.channel.outputs):
        inside = min(max(plain.reading.position(output), Fraction(0)), Fraction(1))
        assert clipped.reading.position(output) == inside


def test_huge_lattices_keep_the_input_to_32_bits() -> None:
    assert numeric("pm", 1 << 26, 1).grid.last == 1 << 32
    assert numeric("duchi", 1 << 20, 1).grid.last == 1 << 32
