"""Surveys of changes: the share of yes by window, from what devices say that are away now and then."""

from __future__ import annotations

import json
import secrets
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="the collector's packages are not installed")

from deniable.batch import Accumulator, accumulator_for
from deniable.cli.disclose import disclosure
from deniable.cli.submit import _check
from deniable.cli.watch import _tables
from deniable.collector import Arrival, Store
from deniable.collector.changing import COMPARED, NOT_YET, ONE_WINDOW, window_names
from deniable.collector.dashboard.privacy import privacy_of
from deniable.collector.estimates import NOBODY, estimates
from deniable.collector.groups import compared
from deniable.collector.messages import ENCODER
from deniable.collector.planned import planned_surveys
from deniable.collector.steps import Published, published
from deniable.core import Report, TreeOfChanges
from deniable.errors import InvalidParameter
from deniable.privacy import FixedCoins
from deniable.surveys import Survey, survey_from_toml
from deniable.surveys.changes import new_memory, next_report

WINDOWS = 6
TEXT = """
title = "Trains"
purpose = "Timetables."
epsilon = 4
repeat = "changes:1"
window = "week"
opens = 2026-11-02
closes = 2026-12-13
[attributes.train]
question = "By train?"
domain = "binary"
"""
SURVEY = survey_from_toml(TEXT)
NAMES = window_names("week", "2026-11-02", "2026-12-13")


def stream_of(survey: Survey) -> TreeOfChanges:
    stream = survey.changes
    assert stream is not None
    return stream


def counted(people: list[tuple[int, ...]], coins: FixedCoins, away: int) -> dict[str, Accumulator]:
    """What a collector counts; a device is away in one of `away` windows, by chance, 0 for never."""
    stream, mechanism = stream_of(SURVEY), SURVEY.mechanism
    reports: dict[str, list[Report]] = {name: [] for name in NAMES}
    for values in people:
        memory = new_memory(stream, coins)
        for period, value in enumerate(values):
            if away and coins.below(away) == 0:
                continue
            output = next_report(stream, memory, period, value, coins)
            if output is not None:
                reports[NAMES[period]].append(Report(mechanism.fingerprint, output))
    return {name: accumulator_for(mechanism).add(sent) for name, sent in reports.items()}


def shown_of(windows: dict[str, Accumulator]) -> Published:
    whole = accumulator_for(SURVEY.mechanism)
    for one in windows.values():
        whole = whole.merge(one)
    return Published(windows, whole, periods=len(windows))


def some(count: int) -> list[tuple[int, ...]]:
    """A third says no, a third yes from the third window on, a third yes from the beginning."""
    kinds = [(0,) * WINDOWS, (0, 0, *(1,) * (WINDOWS - 2)), (1,) * WINDOWS]
    return [kinds[number % 3] for number in range(count)]


@lru_cache
def a_fleet() -> dict[str, Accumulator]:
    """What 240 devices say that are never away."""
    return counted(some(240), FixedCoins(5), 0)


def rows_of(windows: dict[str, Accumulator]) -> Any:
    (view,) = estimates(SURVEY, shown_of(windows)).attributes[0].views
    assert view.what == "trend"
    return {row.label: (row.value, row.low, row.high) for row in view.rows}


@pytest.mark.slow
@pytest.mark.parametrize("away", [0, 3])
def test_the_intervals_of_all_windows_hold_also_when_devices_are_away(away: int) -> None:
    """80 surveys of 300 devices at 95 %: a window is missed in more than 17 less than once in 10**6 times (6 windows, both cases).

    Devices that are away in every third window are heard of 4 in 9 short stretches; their shares are those of everyone.
    """
    people, coins = some(300), FixedCoins(away)
    truth = np.mean(people, axis=0)
    held, sums = np.zeros(WINDOWS), np.zeros(WINDOWS)
    for _ in range(80):
        rows = rows_of(counted(people, coins, away))
        value, low, high = np.array([rows[name] for name in NAMES]).T
        held += (low <= truth) & (truth <= high)
        sums += value
    assert (held >= 63).all()
    assert sums / 80 == pytest.approx(truth, abs=0.06)


def test_a_share_is_shown_where_all_windows_that_it_needs_are_public() -> None:
    windows = a_fleet()
    everything = rows_of(windows)
    assert list(everything) == list(NAMES)
    # The fourth window alone tells of the stretch of four; the sixth of that of two behind it.
    known = {name: windows[name] for name in (NAMES[3], NAMES[5])}
    assert rows_of(known) == {name: everything[name] for name in (NAMES[3], NAMES[5])}
    # The fifth needs a report of one window of its own.
    assert list(rows_of({name: windows[name] for name in (NAMES[3], NAMES[4])})) == [NAMES[3], NAMES[4]]


def test_one_window_shows_no_share_and_neither_do_too_few_reports() -> None:
    windows = a_fleet()
    one = estimates(SURVEY, shown_of(windows), NAMES[1]).attributes[0]
    assert (one.views, one.note, one.n) == ([], ONE_WINDOW, windows[NAMES[1]].n)
    few = shown_of(counted(some(3), FixedCoins(5), 0))
    assert (estimates(SURVEY, few).attributes[0].views, estimates(SURVEY, few).attributes[0].note) == ([], NOT_YET)
    nobody = estimates(SURVEY, shown_of({})).attributes[0]
    assert (nobody.views, nobody.note) == ([], NOBODY)
    waiting = Published({}, accumulator_for(SURVEY.mechanism), waiting="23 of 100 reports")
    assert estimates(SURVEY, waiting).attributes[0].note == "23 of 100 reports"


def test_reports_that_belong_to_another_window_change_nothing() -> None:
    """Signs of stretches of two and four windows do not end in the first one."""
    windows = a_fleet()
    strange = [Report(SURVEY.mechanism.fingerprint, output) for output in (3, 3, 5, 5, 5)]
    late = {**windows, NAMES[0]: windows[NAMES[0]].merge(accumulator_for(SURVEY.mechanism).add(strange))}
    assert rows_of(late) == rows_of(windows)


@pytest.mark.slow
def test_what_is_public_of_each_window_is_enough_for_the_trend(tmp_path: Path) -> None:
    """By the survey's steps of 100 reports: the first window has too few, so its share is left out, and no other one needs it."""
    stream, reports = stream_of(SURVEY), counted(some(900), FixedCoins(6), 0)
    assert all(one.n >= 200 for one in reports.values())
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    store.add_survey(SURVEY)
    now = time.time() + 7200
    for number, name in enumerate(NAMES):
        outputs = np.repeat(np.arange(2 * stream.lengths), np.asarray(reports[name].sums, np.int64))[:: 1 if number else 4]
        sent = [Report(SURVEY.mechanism.fingerprint, int(output)) for output in outputs]
        assert store.count([Arrival(SURVEY, name, secrets.token_bytes(16), sent, len(sent))]) == [True]
    shown = published(store, SURVEY, now)
    store.close()
    assert set(shown.windows) == set(NAMES[1:])
    everything = rows_of(reports)
    assert rows_of(shown.windows) == {name: everything[name] for name in NAMES[1:]}


def test_groups_are_not_compared_by_signs() -> None:
    shown = shown_of(a_fleet())
    groups = compared(SURVEY, {"north": (SURVEY, shown), "south": (SURVEY, shown)})
    assert [(one.what, one.rows, one.note) for one in groups.attributes] == [("", [], COMPARED)]


def test_every_page_speaks_of_the_whole_life() -> None:
    facts = privacy_of(SURVEY)
    assert any("changes are hidden, too" in sentence for sentence in facts["learns"])
    (moved,) = facts["poisoning"]
    stream = stream_of(SURVEY)
    # Two stretches make up three windows; a third of the devices speaks of each.
    assert moved["per_fake"] == pytest.approx(2 * 3 * (stream.high + stream.low) / (stream.high - stream.low))
    assert disclosure(SURVEY)["answers_per_person"] == 1
    assert "cost epsilon once" in disclosure(SURVEY)["how_often"]
    printed = _tables(json.loads(ENCODER.encode(estimates(SURVEY, shown_of(a_fleet())))))
    assert any(getattr(block, "row_count", 0) == WINDOWS for block in printed)


def test_rows_of_a_file_are_not_submitted_to_a_survey_of_changes() -> None:
    with pytest.raises(InvalidParameter, match="remember"):
        _check(SURVEY, SURVEY.lifetime)


def test_the_planner_leaves_changes_to_the_survey() -> None:
    assert planned_surveys(TEXT)[""].survey == SURVEY
