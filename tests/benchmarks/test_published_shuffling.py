"""Our shuffle bounds beside the numbers that published accountants print: at or below, or a data set has more than was printed."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product

import pytest
from published_shuffling import (  # type: ignore[import-not-found]
    PRINTED,
    Printed,
    delta_of_a_third_answer,
    delta_of_the_same_answer,
    row,
)

CLOSE = 2e-5
"""One number for 10,000 people is below ours by less than this, relatively, and the data sets tried here do not exceed it."""


def name_of(printed: Printed) -> str:
    return f"{printed.source}, {printed.people:,} people, k = {printed.k or 'any'}, each {printed.each:g}"


@pytest.mark.slow
@pytest.mark.parametrize("printed", PRINTED, ids=name_of)
def test_a_printed_number_below_ours_is_exceeded_by_a_data_set(printed: Printed) -> None:
    line = row(printed)
    close = printed.people == 10_000 and line["above"] < CLOSE
    assert line["ours"] <= printed.epsilon or close or line["real_delta"] > printed.delta * (1 + 1e-5)


def enumerated(k: int, each: float, answers: tuple[int, ...], other: int, epsilon: float) -> float:
    """The divergence of two laws of counts, by going through all reports: the first person answers 0, or `other`."""
    low = 1 / (math.exp(each) + k - 1)
    laws: list[dict[tuple[int, ...], float]] = [defaultdict(float), defaultdict(float)]
    for law, first in zip(laws, (0, other), strict=True):
        for reports in product(range(k), repeat=1 + len(answers)):
            told = zip(reports, (first, *answers), strict=True)
            mass = math.prod(low * (math.exp(each) if report == answer else 1) for report, answer in told)
            law[tuple(reports.count(value) for value in range(k))] += mass
    return sum(max(0.0, mass - math.exp(epsilon) * laws[1][counts]) for counts, mass in laws[0].items())


@pytest.mark.parametrize(("k", "each", "epsilon"), [(4, 1.5, 1.2), (5, 1.0, 0.3)])
def test_the_data_sets_are_what_going_through_all_reports_gives(k: int, each: float, epsilon: float) -> None:
    third, same = (enumerated(k, each, (answer,) * 3, 1, epsilon) for answer in (2, 0))
    assert delta_of_a_third_answer(k, each, 4, epsilon) == pytest.approx(third, rel=1e-9)
    assert delta_of_the_same_answer(k, each, 4, epsilon) == pytest.approx(same, rel=1e-9)
