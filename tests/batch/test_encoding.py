"""Array encoding gives the very indices of the scalar path, also one ulp from a boundary."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.batch import encode_many, randomize_many
from deniable.core import OGPM, Binary, Categories, Circle, Interval, KaryRandomizedResponse, Mechanism, make_mechanism
from deniable.errors import OutOfDomain


def neighbours(value: float) -> list[float]:
    return [math.nextafter(value, -math.inf), value, math.nextafter(value, math.inf)]


DOMAINS = [
    Interval(0, 1),
    Interval(0, 100, cells=1000),
    Interval("1/3", 7, cells=12345),
    Interval(-0.1, 0.2, cells=10),
    Interval(1000000, 1000001),
    Interval(0, 1, cells=1 << 26),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("name", ["ogpm", "pm", "laplace"])
def test_boundaries_and_their_neighbours_are_encoded_exactly(name: str, domain: Interval) -> None:
    mechanism: Any = make_mechanism(name, domain=domain, epsilon=1)
    grid = mechanism.grid
    steps = sorted({0, 1, 2, 3, grid.steps // 3, grid.steps // 2, grid.steps - 1, grid.steps})
    edges = [float(domain.low + domain.width * (step - grid.shift) / grid.steps) for step in steps]
    values = [near for edge in edges for near in neighbours(edge) if domain.low <= Fraction(near) <= domain.high]
    assert encode_many(mechanism, np.array(values)).tolist() == [mechanism.encode(value) for value in values]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 12.5), min_size=1, max_size=50))
def test_any_floats_are_encoded_as_the_scalar_path_does(values: list[float]) -> None:
    mechanism = OGPM(domain=Interval(-5, 12.5, cells=999), epsilon=1)
    assert encode_many(mechanism, np.array(values)).tolist() == [mechanism.encode(value) for value in values]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 360), min_size=1, max_size=50))
def test_round_numbers_on_a_circle_are_encoded_exactly(values: list[int]) -> None:
    mechanism = make_mechanism("circular-window", domain=Circle(360, cells=720), epsilon=1)
    assert encode_many(mechanism, np.array(values)).tolist() == [mechanism.encode(value) for value in values]


def test_whole_numbers_fractions_and_lists_are_welcome() -> None:
    mechanism = OGPM(domain=Interval(0, 10, cells=7), epsilon=1)
    for values in ([0, 5, 10], np.array([0, 5, 10], np.uint8), [Fraction(1, 3), 2.5, 7], np.array([1.5, 2], np.float32)):
        assert encode_many(mechanism, values).tolist() == [mechanism.encode(v) for v in values]


def test_names_and_bits() -> None:
    animals = KaryRandomizedResponse(domain=Categories(["cat", "dog"]), epsilon=1)
    assert encode_many(animals, ["dog", "cat"]).tolist() == [1, 0]
    assert encode_many(animals, np.array(["dog", "dog"], object)).tolist() == [1, 1]
    coin = make_mechanism("randomized-response", domain=Binary(), epsilon=1)
    assert encode_many(coin, [True, False]).tolist() == [1, 0]
    assert encode_many(coin, np.array([0, 1], np.int8)).tolist() == [0, 1]


SECRET = 314159.25
BAD_NUMBERS: list[Any] = [
    np.array([0.5, math.nan]),
    np.array([0.5, math.inf]),
    np.array([0.5, SECRET]),
    np.array([0.5, math.nextafter(1, 2)]),
    np.array([0.5, -5e-324]),
    np.array(["0.5"]),
    np.array([True, False]),
    [0.5, True],
    [0.5, None],
    [0.5, "314159.25"],
    "0.5",
    0.5,
    np.array([[0.5]]),
    np.array([0.5j]),
    {"a": 0.5},
]


@pytest.mark.parametrize("values", BAD_NUMBERS, ids=lambda v: type(v).__name__)
def test_bad_numbers_are_refused_without_being_shown(values: Any) -> None:
    with pytest.raises(OutOfDomain) as caught:
        randomize_many(OGPM(epsilon=1), values)
    assert "314159" not in str(caught.value)


BAD_CATEGORIES: list[Any] = [[5], [-1], [1.0], [True], ["a"], np.array([2**63], np.uint64), np.array([1.5]), [None], [2**70]]


@pytest.mark.parametrize("values", BAD_CATEGORIES, ids=repr)
def test_bad_categories_are_refused(values: Any) -> None:
    with pytest.raises(OutOfDomain):
        randomize_many(KaryRandomizedResponse(domain=Categories(5), epsilon=1), values)


@pytest.mark.parametrize(
    "name", ["k-rr", "oue", "olh", "hadamard", "window", "pm", "laplace", "circular-window", "randomized-response"]
)
def test_no_values_give_no_reports(name: str) -> None:
    mechanism: Mechanism = make_mechanism(name, epsilon=1)
    nothing: list[Any] = [[], np.array([], np.int64)]
    for empty in nothing:
        assert len(randomize_many(mechanism, empty)) == 0
