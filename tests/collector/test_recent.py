"""Surveys with many categories: a few reports wait beside the sums, which are too large to be written for each of them."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from sqlalchemy import func, select

from deniable.batch import accumulator_for
from deniable.collector import Arrival, Store
from deniable.collector.steps import live, published_counts, stamp
from deniable.collector.tables import RECENT, SUMS
from deniable.core import Report
from deniable.surveys import Survey, survey_from_toml

TOML = """
title = "Many"
purpose = "To see large sums."
epsilon = 1
release = "live"
[attributes.word]
question = "Which?"
domain = "categories:70000"
mechanism = "k-rr"
"""


@pytest.fixture(scope="module")
def survey() -> Survey:
    return survey_from_toml(TOML)


def arrivals(survey: Survey, outputs: list[int]) -> list[Arrival]:
    fingerprint = survey.mechanism.fingerprint
    return [Arrival(survey, "", secrets.token_bytes(16), [Report(fingerprint, output)], 1) for output in outputs]


def rows(store: Store, table: object) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())  # type: ignore[arg-type]


def test_a_few_reports_do_not_write_large_sums_and_are_counted_at_once(tmp_path: Path, survey: Survey) -> None:
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    try:
        store.add_survey(survey)
        before = stamp(store, survey)
        first = arrivals(survey, [5, 5, 69_999])
        assert store.count(first) == [True, True, True]
        assert store.count(first) == [False, False, False]
        assert (rows(store, RECENT), rows(store, SUMS)) == (1, 0)
        assert store.counted() == {survey.hash: 3}
        assert published_counts(store, [survey])[survey.hash][0] == 3
        assert stamp(store, survey) != before
        expected = accumulator_for(survey.mechanism)
        expected.add([report for arrival in first for report in arrival.reports])
        assert live(store, survey).whole == expected
        assert (rows(store, RECENT), rows(store, SUMS)) == (0, 1)
        assert store.counted() == {survey.hash: 3}
    finally:
        store.close()


def test_tidying_up_adds_them_to_the_sums(tmp_path: Path, survey: Survey) -> None:
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    try:
        store.add_survey(survey)
        for _ in range(3):
            store.count(arrivals(survey, [1]))
        assert rows(store, RECENT) == 3
        assert store.tidy()
        assert rows(store, RECENT) == 0
        assert store.sums(survey)[""].n == 3
        assert store.delete_survey(survey.hash)
    finally:
        store.close()


def test_as_many_reports_as_sums_are_added_to_them_at_once(tmp_path: Path, survey: Survey) -> None:
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    try:
        store.add_survey(survey)
        reports = survey.mechanism.randomize_many([0] * 10_000)
        assert store.count([Arrival(survey, "", secrets.token_bytes(16), reports, 10_000)]) == [True]
        assert (rows(store, RECENT), rows(store, SUMS)) == (0, 1)
        assert store.sums(survey)[""].n == 10_000
    finally:
        store.close()


def test_reports_that_say_more_than_their_sums_never_wait(tmp_path: Path) -> None:
    """A hashed report is one number, and its sum has one for each category: the sum of several hides which belong together."""
    hashed = survey_from_toml(TOML.replace("k-rr", "olh"))
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    try:
        store.add_survey(hashed)
        assert store.count(arrivals(hashed, [1])) == [True]
        assert (rows(store, RECENT), rows(store, SUMS)) == (0, 1)
    finally:
        store.close()
