from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.exact import Epsilon, cells, points, show_fraction, two_level_weights
from deniable.exact.lattice import check_count


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


@pytest.mark.parametrize(
    "count", [1, 0, -5, (1 << 26) + 1, 10**9, 10**5000, True, 2.0, "8", None], ids=lambda count: type(count).__name__
)
def test_lattices_of_an_unreasonable_size_are_refused(count: object) -> None:
    with pytest.raises(InvalidParameter, match="cells"):
        check_count("cells", count)


def test_huge_numbers_are_shown_by_their_size() -> None:
    assert show_fraction(Fraction(10**5000)) == "a ratio of 16610 to 1 bits"
