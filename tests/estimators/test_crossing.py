"""Where bounds that rise pass a share: the outer step, whatever was known before."""

from __future__ import annotations

import math

import pytest

from deniable.estimators.crossing import STEPS, RisingBound, crossing_step


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 0.99])
def test_the_step_is_on_the_outer_side_and_near(share: float, upper: bool) -> None:
    side = RisingBound(lambda number: (number / STEPS) ** 2)
    place = math.sqrt(share) * STEPS
    found = crossing_step(share, place, side, upper=upper)
    assert found <= place if upper else found >= place
    assert abs(found - place) <= 1


def test_quantiles_share_what_they_know_of_a_bound() -> None:
    asked: list[int] = []

    def work(number: int) -> float:
        asked.append(number)
        return (number / STEPS) ** 2

    side = RisingBound(work)
    for share in (0.3, 0.31, 0.3):
        crossing_step(share, 200, side, upper=True)
    assert len(asked) == len(set(asked))
    alone = len(asked)
    crossing_step(0.305, 200, side, upper=True)
    assert len(asked) <= alone + 3


def test_a_bound_that_wiggles_is_read_on_its_safe_and_narrow_side() -> None:
    heights = {100: 0.4, 200: 0.6, 210: 0.45, 300: 0.7}
    side = RisingBound(lambda number: heights[number])
    for number in heights:
        side.at(number)
    assert side.around(0.5, upper=True) == (210, 300)
    assert side.around(0.5, upper=False) == (100, 200)
