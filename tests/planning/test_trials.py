"""Surveys drawn together are the surveys they would have been alone."""

from __future__ import annotations

import numpy as np

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Binary, Categories, ProductMechanism, Record, make_mechanism
from deniable.planning.trials import each_sum, each_survey, rounds
from deniable.privacy import FixedKeystream


def test_rounds_add_up_and_are_never_empty() -> None:
    for n, runs in ((1, 1), (100, 7), (1 << 17, 5), (1 << 30, 3)):
        found = list(rounds(n, runs))
        assert sum(found) == runs
        assert min(found) >= 1


def test_every_report_is_in_one_survey_and_in_its_own() -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(5), epsilon=16)
    values = np.repeat([0, 1, 2], 4)  # a report is the value, except with probability 4e-7; the coins are fixed
    sums = [found.sums.tolist() for found in each_sum(randomize_many(mechanism, values, FixedKeystream("own")), 4)]
    assert sums == [[4, 0, 0, 0, 0], [0, 4, 0, 0, 0], [0, 0, 4, 0, 0]]


def test_records_are_told_apart_field_by_field() -> None:
    record = Record({"smokes": Binary(), "city": Categories(7)})
    mechanism = ProductMechanism.split(record, 2)
    people = {"smokes": np.arange(60) % 2, "city": np.arange(60) % 7}
    reports = randomize_many(mechanism, people, FixedKeystream("fields"))
    surveys = list(each_survey(reports, 20))
    assert [len(survey) for survey in surveys] == [20, 20, 20]
    merged = accumulator_for(mechanism)
    for found in each_sum(reports, 20):
        merged = merged.merge(found)
    assert merged == accumulator_for(mechanism).add(reports)
