from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.core import DEFAULT_CELLS, Epsilon, cells, points, show_fraction, two_level_weights
from deniable.core.exact.lattice import check_count
from deniable.errors import InvalidParameter


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.fractions(min_value=Fraction(1, 1000), max_value=20),
)
def test_weights_never_exceed_epsilon_and_come_close(members: int, others: int, exact: Fraction) -> None:
    epsilon = Epsilon(exact)
    low, high = two_level_weights(members, members + others, epsilon)
    assert epsilon.allows(Fraction(high, low))
    assert not epsilon.allows(Fraction(high + 1, low))
    assert low & (low - 1) == 0
    # What is lost to rounding is below a millionth of the ratio's distance from 1.
    assert (high - low) > 2**19


@pytest.mark.parametrize(("members", "outputs"), [(0, 5), (5, 5), (6, 5), (-1, 5)])
def test_a_favoured_set_must_be_proper(members: int, outputs: int) -> None:
    with pytest.raises(InvalidParameter, match="neither empty nor everything"):
        two_level_weights(members, outputs, Epsilon(1))


@pytest.mark.parametrize("exact", ["1e-9", "1/123456789", "1e-6", "1e-4", "0.01"])
@pytest.mark.parametrize(("members", "outputs"), [(1, 2), (3, 10**6), (10**6 - 1, 10**6)])
def test_a_small_epsilon_still_shows_in_twenty_bits(members: int, outputs: int, exact: str) -> None:
    low, high = two_level_weights(members, outputs, Epsilon(exact))
    assert high - low > 2**19
    assert low <= max(2**40, 2 ** (20 + (1 / Fraction(exact)).__ceil__().bit_length() - 1))


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.fractions(min_value=Fraction(1, 2), max_value=8))
def test_totals_fit_a_double_and_weights_are_as_fine_as_that_allows(members: int, others: int, exact: Fraction) -> None:
    low, high = two_level_weights(members, members + others, Epsilon(exact))
    common = math.gcd(members, others)
    assert (low, high) == two_level_weights(members // common, (members + others) // common, Epsilon(exact))
    most = (members * (Epsilon(exact).bounds()[1].__ceil__()) + others) // common
    total = (members * high + others * low) // common
    if low > 2**21:
        assert total < 2**52
    assert low == 2**40 or 2 * most * low >= 2**52
    assert low >= 2**20


@pytest.mark.parametrize(
    ("members", "outputs", "exact", "low"), [(1, 2, 1, 2**40), (1, 1 << 20, 1, 2**31), (1, 1 << 40, 1, 2**20), (1, 2, 20, 2**23)]
)
def test_known_weights_stay_what_they_are(members: int, outputs: int, exact: int, low: int) -> None:
    """Recipes of surveys in the field are hashed with them."""
    assert two_level_weights(members, outputs, Epsilon(exact)) == (low, Epsilon(exact).floor(low))


@given(st.integers(2, 10**6), st.fractions(min_value=0, max_value=1))
def test_a_position_lies_in_its_cell_and_near_its_point(count: int, position: Fraction) -> None:
    index = cells(count).index(position)
    assert 0 <= index < count
    assert Fraction(index, count) <= position
    assert position < Fraction(index + 1, count) or index == count - 1
    nearest = points(count).index(position)
    assert abs(points(count).position(nearest) - position) <= Fraction(1, 2 * count)
    assert cells(count).index(cells(count).position(index)) == index
    assert points(count).size == count + 1 == cells(count).size + 1


@given(st.integers(2, 10**6), st.data())
def test_a_cell_stands_for_its_middle_and_a_point_for_itself(count: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, count - 1))
    assert cells(count).position(index) == Fraction(2 * index + 1, 2 * count)
    assert points(count).position(index) == Fraction(index, count)
    assert points(count).index(Fraction(2 * index + 1, 2 * count)) == index + 1  # halfway goes up
    assert (points(count).index(Fraction(0)), points(count).index(Fraction(1))) == (0, count)


@pytest.mark.parametrize(
    "count", [1, 0, -5, (1 << 26) + 1, 10**9, 10**5000, True, 2.0, "8", None], ids=lambda count: type(count).__name__
)
def test_lattices_of_an_unreasonable_size_are_refused(count: object) -> None:
    with pytest.raises(InvalidParameter, match="cells"):
        check_count("cells", count)


def test_lattices_from_two_to_two_to_the_26_are_taken() -> None:
    assert [check_count("cells", count) for count in (2, 3, 1 << 26)] == [2, 3, 1 << 26]
    with pytest.raises(InvalidParameter, match="cells must be a whole number, got bool"):
        check_count("cells", True)
    with pytest.raises(InvalidParameter, match="rows must lie between 2 and 67108864, got 1"):
        check_count("rows", 1)
    with pytest.raises(InvalidParameter, match="cells"):
        cells(1)
    assert DEFAULT_CELLS == 1 << 20


def test_a_lattice_has_as_many_indices_as_cells_or_one_more_point() -> None:
    assert (cells(4).size, points(4).size) == (4, 5)
    assert cells(4).index(Fraction(1)) == cells(4).size - 1


def test_huge_numbers_are_shown_by_their_size() -> None:
    assert show_fraction(Fraction(10**5000)) == "a ratio of 16610 to 1 bits"
