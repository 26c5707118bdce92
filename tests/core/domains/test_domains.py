"""Every domain: what goes in comes out near where it was, and the edges are exact."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.core import (
    Binary,
    Categories,
    Circle,
    Disc,
    Domain,
    Interval,
    Points,
    Record,
    Rectangle,
    Trajectory,
    domain_from_recipe,
)
from deniable.errors import InvalidDomain, InvalidParameter, OutOfDomain
from deniable.privacy.conformance.values import awkward_values, bad_values

from .shapes import SHAPES

DOMAINS: list[Domain] = [
    Binary(),
    Categories(2),
    Categories(1000),
    Categories(["red", "green", "blue"]),
    Interval(0, 1, cells=7),
    Interval(-3, "0.1", cells=16),
    Interval("1/3", "2/3", cells=1000),
    Interval(),
    Circle(360, cells=36),
    Circle(24, cells=7),
    Circle(),
    Rectangle(Interval(0, 2, cells=5), Interval(-1, 1, cells=3)),
    Disc((1, -1), 2, cells=9),
    Disc((0, 0), "0.1", cells=2),
    Points([(0, 0), (3, 4), ("0.1", 7)]),
    Record({"smokes": Binary(), "age": Interval(0, 120, cells=12), "city": Categories(["a", "b"])}),
    Trajectory(Rectangle(Interval(cells=3), Interval(cells=2)), length=3),
    Trajectory(Points([(0, 0), (1, 1)]), length=1),
    *SHAPES,
]
each = pytest.mark.parametrize("domain", DOMAINS, ids=repr)


@each
def test_an_index_decodes_to_a_value_with_that_index(domain: Domain) -> None:
    for index in {j * (domain.size - 1) // 60 for j in range(61)}:
        assert domain.encode(domain.decode(index)) == index


@each
def test_recipes_and_pickles_give_an_equal_domain(domain: Domain) -> None:
    again = domain_from_recipe(json.loads(json.dumps(domain.recipe())))
    assert again == domain
    assert hash(again) == hash(domain)
    assert repr(again) == repr(domain)
    assert pickle.loads(pickle.dumps(domain)) == domain


@each
def test_bad_values_are_refused_without_showing_them(domain: Domain) -> None:
    for bad in bad_values(domain):
        with pytest.raises(OutOfDomain) as caught:
            domain.encode(bad)
        assert "918273645" not in str(caught.value)
        assert caught.value.__context__ is None


@each
def test_good_values_are_clipped_to_themselves(domain: Domain) -> None:
    for value in awkward_values(domain)[:40]:
        clipped = domain.clip(value)
        assert domain.encode(clipped) == domain.encode(value)


@each
@pytest.mark.parametrize("index", [-1, 10**12 * 10**300, True, 0.0, "0", None])
def test_indices_outside_are_refused(domain: Domain, index: Any) -> None:
    with pytest.raises(OutOfDomain, match="an index of"):
        domain.decode(index)


@each
def test_a_recipe_with_a_field_too_many_is_refused(domain: Domain) -> None:
    with pytest.raises(InvalidDomain):
        domain_from_recipe({**domain.recipe(), "unknown": 1})


@pytest.mark.parametrize("recipe", [None, [], {}, {"kind": "unknown"}, {"kind": 5}, {"kind": "interval"}, {"kind": ["interval"]}])
def test_what_is_no_recipe_is_refused(recipe: Any) -> None:
    with pytest.raises(InvalidDomain):
        domain_from_recipe(recipe)


# --- numbers

ends = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=1000)


@given(ends, ends, st.integers(2, 1 << 20), st.fractions(min_value=0, max_value=1))
def test_a_number_lies_in_its_cell(a: Fraction, b: Fraction, cells: int, part: Fraction) -> None:
    if float(a) == float(b):
        return
    domain = Interval(min(a, b), max(a, b), cells=cells)
    value = domain.low + domain.width * part
    index = domain.encode(value)
    assert domain.low + domain.width * index / cells <= value
    assert value < domain.low + domain.width * (index + 1) / cells or (index == cells - 1 and value <= domain.high)


@given(st.integers(2, 1 << 26), st.data())
def test_a_double_beside_a_boundary_falls_on_its_own_side(cells: int, data: st.DataObject) -> None:
    domain = Interval(0, 1, cells=cells)
    j = data.draw(st.integers(1, cells - 1))
    near = j / cells
    for value in (math.nextafter(near, 0), near, math.nextafter(near, 1)):
        assert domain.encode(value) == Fraction(value) * cells // 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_clipping_gives_a_number_inside(value: float) -> None:
    domain = Interval("-1/3", "1/3", cells=10)
    clipped = domain.clip(value)
    assert Fraction(-1, 3) <= Fraction(clipped) <= Fraction(1, 3)
    assert domain.clip(clipped) == clipped
    assert (domain.clip(math.inf), domain.encode(domain.clip(float(10**300)))) == (float(Fraction(1, 3)), 9)


@given(st.floats(min_value=-1e6, max_value=1e6), st.integers(2, 1000))
def test_directions_wrap_around(value: float, cells: int) -> None:
    domain = Circle(360, cells=cells)
    wrapped = domain.clip(value)
    assert 0 <= Fraction(wrapped) <= 360
    assert (Fraction(value) - Fraction(wrapped)) % 360 < Fraction(1, 10**6) or (
        Fraction(wrapped) - Fraction(value)
    ) % 360 < Fraction(1, 10**6)
    assert domain.encode(360) == domain.encode(0) == 0
    assert domain.encode(math.nextafter(360, 0)) == cells - 1


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), np.float16(0.5), Fraction(1, 2), 0.5])
def test_numbers_of_every_kind_are_the_same_number(value: Any) -> None:
    assert Interval(cells=10).encode(value) == 5
    assert Circle(1, cells=10).encode(value) == 5
    assert Rectangle().encode((value, value)) == Rectangle().encode(np.array([0.5, 0.5]))


def test_ends_that_no_double_can_name_are_exact() -> None:
    domain = Interval(0, "0.1", cells=10)
    with pytest.raises(OutOfDomain):
        domain.encode(0.1)  # the double 0.1 is a little more than one tenth
    assert domain.encode(Fraction(1, 10)) == 9
    assert domain.encode(domain.clip(0.1)) == 9


BAD_NUMBERS: list[Any] = [None, "x", True, float("nan"), float("inf"), [], b"1", 1j, "1e99999"]


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
def test_ends_and_periods_must_be_finite_numbers(bad: Any) -> None:
    builds: list[Callable[[], Domain]] = [
        lambda: Interval(bad, 1),
        lambda: Interval(0, bad),
        lambda: Circle(bad),
        lambda: Disc((0, 0), bad),
        lambda: Disc((bad, 0), 1),
        lambda: Disc(bad, 1),
        lambda: Points([(0, bad), (1, 1)]),
        lambda: Points([bad, (1, 1)]),
    ]
    for build in builds:
        with pytest.raises(InvalidDomain):
            build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: Interval(1, 1),
        lambda: Interval(2, 1),
        lambda: Interval(0, 10**400),
        lambda: Interval(-(10**400), 0),
        lambda: Interval(1, Fraction(10**30 + 1, 10**30)),
        lambda: Interval(cells=1),
        lambda: Interval(cells=(1 << 26) + 1),
        lambda: Interval(cells=10**5000),
        lambda: Interval(cells=2.0),  # type: ignore[arg-type]
        lambda: Interval(cells=True),
        lambda: Circle(0),
        lambda: Circle(-1),
        lambda: Circle(10**400),
        lambda: Circle(Fraction(1, 10**400)),
        lambda: Circle(cells=1),
        lambda: Disc((0, 0), 0),
        lambda: Disc((10**30, 0), 1),
        lambda: Disc((0, 0), 10**400),
        lambda: Disc((0, 0, 0), 1),
        lambda: Disc(cells=1 << 14),
        lambda: Rectangle(Interval(cells=1 << 14), Interval(cells=1 << 14)),
        lambda: Rectangle(Circle(), Interval()),  # type: ignore[arg-type]
        lambda: Points([(0, 0)]),
        lambda: Points([(0, 0), (0, 0)]),
        lambda: Points(5),  # type: ignore[arg-type]
        lambda: Points([(0, 0), (10**400, 0)]),
        lambda: Record({}),
        lambda: Record({"": Binary()}),
        lambda: Record({"a": 5}),  # type: ignore[dict-item]
        lambda: Trajectory(Binary(), 0),
        lambda: Trajectory(Binary(), True),
        lambda: Trajectory(5, 2),  # type: ignore[arg-type]
    ],
)
def test_impossible_domains_are_refused(build: Any) -> None:
    with pytest.raises(InvalidParameter):
        build()


# --- categories


@pytest.mark.parametrize(
    "what",
    [1, 0, -1, (1 << 31) + 1, 10**5000, True, None, 2.0, "ab", b"ab", [], ["a"], ["a", "a"], ["a", 1]],
    ids=lambda what: type(what).__name__,
)
def test_categories_must_be_at_least_two_different_names(what: Any) -> None:
    with pytest.raises(InvalidDomain):
        Categories(what)


def test_two_billion_categories_are_fine() -> None:
    domain = Categories(1 << 31)
    assert domain.encode((1 << 31) - 1) == (1 << 31) - 1
    assert domain.clip(10**100) == (1 << 31) - 1
    five: Any = np.int64(5)
    assert Categories(five) == Categories(5)


@pytest.mark.parametrize("value", [np.int64(3), np.uint8(3), 3])
def test_whole_numbers_of_every_kind_are_categories(value: Any) -> None:
    assert Categories(5).encode(value) == 3
    assert type(Categories(5).encode(value)) is int


@pytest.mark.parametrize("value", [np.array([1]), np.array(1), int, np.bool_(True), 1.0, np.float64(1)])
def test_what_only_looks_like_a_whole_number_is_no_category(value: Any) -> None:
    with pytest.raises(OutOfDomain):
        Categories(5).encode(value)


def test_bits_may_be_written_in_four_ways() -> None:
    assert [Binary().encode(value) for value in (0, 1, False, True, np.bool_(True), np.int8(1))] == [0, 1, 0, 1, 1, 1]
    assert [Binary().clip(value) for value in (0, 5, "", "x")] == [0, 1, 0, 1]


# --- places and several values


@given(st.floats(min_value=-1, max_value=1), st.floats(min_value=-1, max_value=1), st.integers(2, 40))
def test_a_point_of_a_disc_goes_to_a_cell_nearby(x: float, y: float, cells: int) -> None:
    disc = Disc((0, 0), 1, cells=cells)
    if Fraction(x) ** 2 + Fraction(y) ** 2 > 1:
        with pytest.raises(OutOfDomain):
            disc.encode((x, y))
        x, y = disc.clip((x, y))
    across, up = disc.decode(disc.encode((x, y)))
    assert math.hypot(across, up) <= 1
    assert math.hypot(across - float(x), up - float(y)) < 2 * 2**1.5 / cells


def test_the_nearest_place_is_found() -> None:
    places = Points([(0, 0), (10, 0)])
    assert places.clip((4, 3)) == (0.0, 0.0)
    assert places.clip((6, 3)) == (10.0, 0.0)
    assert Rectangle().clip((2, -1)) == (1, 0)


def test_a_record_counts_like_digits() -> None:
    record = Record({"a": Binary(), "b": Categories(3)})
    assert [record.encode({"b": b, "a": a}) for a in range(2) for b in range(3)] == list(range(6))
    assert record.clip({"a": 1, "b": 99}) == {"a": 1, "b": 2}


def test_a_trajectory_has_a_fixed_length() -> None:
    path = Trajectory(Categories(3), length=4)
    assert path.encode([0, 1, 2, 0]) == 15
    assert path.clip([5, -1, 1, 1]) == [2, 0, 1, 1]
    with pytest.raises(OutOfDomain, match="exactly 4"):
        path.encode([0, 1, 2])
    with pytest.raises(OutOfDomain, match="a ratio of"):
        Trajectory(Categories(1000), length=2000).decode(-1)


def test_an_unknown_name_is_answered_with_the_names_and_never_with_a_guess() -> None:
    months = Categories(["january", "february", "march", "april", "may", "june", "july", "august", "september", "october"])
    with pytest.raises(OutOfDomain) as first:
        months.encode("jnauary")
    with pytest.raises(OutOfDomain) as second:
        months.encode("octobre")
    assert str(first.value) == str(second.value)
    assert "january, february, march" in str(first.value)
    assert "clip" not in str(first.value)
    many = Categories([f"name {i}" for i in range(50)])
    with pytest.raises(OutOfDomain, match=r"name 19 and 30 more"):
        many.encode("x")


def test_only_what_can_be_clipped_is_told_to_clip() -> None:
    with pytest.raises(OutOfDomain, match="Clip first"):
        Interval(0, 1).encode(2)
    with pytest.raises(OutOfDomain) as error:
        Categories(3).encode("many")
    assert "Clip" not in str(error.value)
