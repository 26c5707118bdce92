"""Claims about randomized response and the one-bit mean."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.core import Interval, RandomizedResponse, log_float
from deniable.core.mechanisms.binary.one_bit_mean import MOST_STEPS, OneBitMean

GOLDEN: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())
}


def test_randomized_response_tells_the_truth_as_often_as_published() -> None:
    channel = RandomizedResponse(epsilon=1).channel
    assert float(Fraction(channel.weight(1, 1), channel.total)) == pytest.approx(GOLDEN["2.1.RR.p"]["value"], rel=1e-9)


@pytest.mark.parametrize("name", ["lec.rr.var.eps0.5", "lec.rr.var.eps1", "lec.rr.var.eps2"])
def test_the_variance_of_a_corrected_bit_is_the_published_one(name: str) -> None:
    channel = RandomizedResponse(epsilon=GOLDEN[name]["inputs"]["eps"]).channel
    p = Fraction(channel.weight(1, 1), channel.total)
    assert float(p * (1 - p) / (2 * p - 1) ** 2) == pytest.approx(GOLDEN[name]["value"], rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 1, 5])
def test_the_mean_of_the_one_bit_reading_is_exactly_the_grid_position(epsilon: float) -> None:
    mechanism = OneBitMean(domain=Interval(0, 7, cells=5), epsilon=epsilon)
    channel, grid = mechanism.channel, mechanism.grid
    for index in (0, 1, 1000, 12345, grid.last - 1, grid.last):
        mean = sum(channel.weight(index, y) * mechanism.reading.position(y) for y in (0, 1)) / channel.total
        assert mean == grid.position(index)


def test_the_one_bit_law_is_linear_in_the_value() -> None:
    mechanism = OneBitMean(domain=Interval(0, 10), epsilon=2)
    e = math.exp(2)
    for value in (0, 2.5, 4, 10):
        one = Fraction(mechanism.channel.weight(mechanism.encode(value), 1), mechanism.channel.total)
        assert float(one) == pytest.approx(1 / (e + 1) + value / 10 * (e - 1) / (e + 1), abs=1e-9)


@pytest.mark.parametrize("name", ["lec.1bit.var.eps1.m10.x4.0", "lec.1bit.var.eps2.m10.x4.0"])
def test_the_one_bit_variance_is_the_published_one(name: str) -> None:
    mechanism = OneBitMean(domain=Interval(0, 10), epsilon=GOLDEN[name]["inputs"]["eps"])
    index, channel = mechanism.encode(4.0), mechanism.channel
    second = sum(channel.weight(index, y) * (10 * mechanism.reading.position(y)) ** 2 for y in (0, 1)) / channel.total
    assert float(second) - 16 == pytest.approx(GOLDEN[name]["value"], rel=1e-7)


@pytest.mark.parametrize("name", ["lec.1bit.ldp.eps0.5", "lec.1bit.ldp.eps1", "lec.1bit.ldp.eps2"])
def test_the_two_ends_of_the_one_bit_mean_attain_epsilon(name: str) -> None:
    mechanism = OneBitMean(domain=Interval(0, 1, cells=2), epsilon=GOLDEN[name]["inputs"]["eps"])
    channel = mechanism.channel
    ratio = Fraction(channel.weight(mechanism.grid.last, 1), channel.weight(0, 1))
    assert mechanism.privacy.allows(ratio)
    assert log_float(ratio) == pytest.approx(GOLDEN[name]["value"], abs=1e-9)


def test_the_one_bit_grid_is_much_finer_than_the_domain_but_bounded() -> None:
    assert OneBitMean(domain=Interval(0, 1, cells=10), epsilon=1).steps == 10 * 4096
    assert OneBitMean(domain=Interval(0, 1, cells=1 << 26), epsilon=1).steps == MOST_STEPS
