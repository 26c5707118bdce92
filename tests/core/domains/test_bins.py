"""Bins: a number of which only the bin is asked."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.batch import encode_many
from deniable.collector import planned_survey
from deniable.core import Bins, make_mechanism
from deniable.errors import InvalidDomain, InvalidParameter, OutOfDomain
from deniable.surveys import parse_domain, parse_value

MINUTES = Bins([0, 10, 30, "100/3", 60.5])


def test_a_number_lies_in_the_bin_that_begins_at_or_below_it_and_the_last_bin_has_both_ends() -> None:
    numbers: list[Any] = [0, 9.999, 10, Fraction(100, 3), 33, np.float32(30), Decimal("60.5"), "30 to 100/3"]
    assert [MINUTES.encode(number) for number in numbers] == [0, 0, 1, 3, 2, 2, 3, 2]


def test_numbers_are_compared_as_doubles_so_that_arrays_and_browsers_agree() -> None:
    tenths = Bins(["0", "0.1", "0.3", "1"])
    assert float("0.3") < Fraction(3, 10)
    assert tenths.encode(0.3) == 2
    edges = [float(edge) for edge in MINUTES.edges]
    values = np.array([*edges, *(math.nextafter(edge, 30) for edge in edges), *(math.nextafter(edge, 31) for edge in edges)])
    mechanism = make_mechanism("k-rr", domain=MINUTES, epsilon=1)
    assert encode_many(mechanism, values).tolist() == [MINUTES.encode(float(value)) for value in values]
    assert encode_many(mechanism, ["0 to 10", "10 to 30"]).tolist() == [0, 1]
    assert encode_many(mechanism, ["0 to 10", 60.5]).tolist() == [0, 3]


@pytest.mark.parametrize("wrong", [-1, 60.6, math.nan, math.inf, None, True, "0", "", b"0 to 10", [5], 10**400, 1j])
def test_what_lies_in_no_bin_is_refused_and_not_shown(wrong: Any) -> None:
    with pytest.raises(OutOfDomain, match="private") as refusal:
        MINUTES.encode(wrong)
    assert "60.6" not in str(refusal.value).replace("60.5", "")
    with pytest.raises(OutOfDomain):
        make_mechanism("k-rr", domain=MINUTES, epsilon=1).randomize_many([1.0, wrong])


def test_clipping_moves_numbers_to_the_nearest_end() -> None:
    assert [MINUTES.clip(number) for number in (-3, 5.5, 1e9, math.inf, "0 to 10")] == [0, 5.5, 60.5, 60.5, "0 to 10"]
    with pytest.raises(OutOfDomain):
        MINUTES.clip(math.nan)


@pytest.mark.parametrize(
    "edges", [[0, 1], [0, 1, 1], [2, 1, 0], [0, 1, "x"], "0,1,2", 5, [0, 1, math.inf], [0, 1, 1 + Fraction(1, 10**40)]]
)
def test_edges_must_increase(edges: Any) -> None:
    with pytest.raises(InvalidDomain):
        Bins(edges)


def test_a_survey_asks_for_bins_in_a_line() -> None:
    assert parse_domain("bins:0,60/12") == Bins.equal(0, 60, 12)
    assert parse_domain("bins:0, 10,30, 60") == Bins([0, 10, 30, 60])
    assert (parse_value(MINUTES, "12.5"), parse_value(MINUTES, " 0 to 10 ")) == (12.5, "0 to 10")
    for wrong in ("bins:0,60", "bins:0,60/x", "bins:0,10,60/3", "bins:60,0/3"):
        with pytest.raises(InvalidParameter):
            parse_domain(wrong)


SURVEY = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 1
respondents = 5000
[attributes.minutes]
question = "How many minutes did it take?"
"""


def test_the_planner_says_how_much_shorter_the_intervals_of_bins_are() -> None:
    numbers = planned_survey(SURVEY + 'domain = "interval:0,60"')
    assert 'domain = "bins:0,60/12", its intervals are ± 0.0' in numbers.reasons["minutes"]
    bins = planned_survey(SURVEY + 'domain = "bins:0,60/12"')
    assert bins.survey.parts["minutes"].domain == Bins.equal(0, 60, 12)
    ranges = planned_survey(SURVEY + 'domain = "bins:0,60/12"\nanswers = ["ranges"]')
    assert ranges.survey.parts["minutes"].domain == Bins.equal(0, 60, 12)
