"""What a stolen disk holds: no single report of a survey that keeps none, beyond what the pages say."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Arrival, Store, Writer, store, writer
from deniable.collector.holding import Busy, NotYetWritten
from deniable.core import Report
from deniable.surveys import Submission, Survey, submission_to_json, survey_from_toml

from .inside import Inside
from .raw_files import raw, singled_out, versions

TOML = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 1
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
"""


@pytest.fixture
def survey() -> Survey:
    return survey_from_toml(TOML)


@pytest.fixture
def kept(tmp_path: Path, survey: Survey) -> Iterator[Store]:
    found = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    found.add_survey(survey)
    yield found
    found.close()


def arrivals(survey: Survey, count: int, period: str = "") -> list[Arrival]:
    return [Arrival(survey, period, secrets.token_bytes(16), [survey.mechanism.randomize("bus")], 1) for _ in range(count)]


def one_by_one(counting: Writer, coming: list[Arrival]) -> None:
    async def all_of_them() -> None:
        for arrival in coming:
            assert await counting.count([arrival]) == [True]

    asyncio.run(all_of_them())


def at_once(counting: Writer, coming: list[Arrival]) -> list[object]:
    """What each of several requests is told: whether it was new, or that it must come back."""

    async def all_of_them() -> list[object]:
        return await asyncio.gather(*(counting.count([arrival]) for arrival in coming), return_exceptions=True)

    told = asyncio.run(all_of_them())
    return [answer[0] if isinstance(answer, list) else type(answer) for answer in told]


def tidied(folder: Path, patience: float = 120.0) -> bytes:
    """Everything in the files when the log is empty, which it is a moment after the last report."""
    end = time.monotonic() + patience
    while (folder / "collector.db-wal").stat().st_size:
        assert time.monotonic() < end, "the log was never emptied"
        time.sleep(0.01)
    return raw(folder)


@pytest.mark.parametrize("labels", ["bike,bus,car,walk", "bus,3000"], ids=["a short row", "a row over several pages"])
def test_no_report_is_left_in_the_files_after_a_moment(tmp_path: Path, kept: Store, labels: str) -> None:
    survey = survey_from_toml(TOML.replace("bike,bus,car,walk", labels.replace("3000", ",".join(map(str, range(3000))))))
    kept.add_survey(survey)
    kept.tidy_seconds = 3600.0
    counting = Writer(kept)
    # Nearly 256 of one answer first: the row of sums grows in between.
    many = [Report(survey.mechanism.fingerprint, 1)] * 245
    one_by_one(counting, [Arrival(survey, "", secrets.token_bytes(16), many, 245)])
    coming = [replace(one, reports=many[:1]) for one in arrivals(survey, 25)]
    one_by_one(counting, coming[:24])
    seen = versions(raw(tmp_path), survey)
    assert singled_out(seen) == 24, "the test looks in the wrong place"
    kept.tidy_seconds = 0.0
    one_by_one(counting, coming[24:])
    data = tidied(tmp_path)
    assert versions(data, survey) == [270]
    # A receipt is there once: no second copy in another order.
    assert [data.count(arrival.key) for arrival in coming] == [1] * 25
    counting.close()


def test_the_log_is_emptied_after_so_many_reports_however_fast_they_come(tmp_path: Path, kept: Store, survey: Survey) -> None:
    kept.tidy_seconds, kept.tidy_submissions = 3600.0, 10
    counting = Writer(kept)
    longest = 0
    for batch in range(4):
        one_by_one(counting, arrivals(survey, 7))
        longest = max(longest, singled_out(versions(raw(tmp_path), survey)))
        assert kept.counted() == {survey.hash: 7 * (batch + 1)}
    counting.close()
    assert 0 < longest <= 10


def test_a_killed_collector_leaves_its_last_reports_until_it_is_started_again(tmp_path: Path, kept: Store, survey: Survey) -> None:
    for arrival in arrivals(survey, 10):
        kept.count([arrival])
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("collector.db", "collector.db-wal"):
        shutil.copy(tmp_path / name, killed / name)
    assert singled_out(versions(raw(killed), survey)) == 9
    again = Store(f"sqlite:///{killed / 'collector.db'}")
    again.tidy_seconds = 0.0
    counting = Writer(again)
    assert versions(tidied(killed), survey) == [10]
    counting.close()
    again.close()


def test_deleted_bytes_are_zeroed_and_nothing_is_sorted_in_a_file(kept: Store) -> None:
    with kept.reading() as connection:
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("secure_delete", "temp_store")}
    assert found == {"secure_delete": 1, "temp_store": 2}


def test_somebody_who_reads_for_long_only_delays_it(tmp_path: Path, kept: Store, survey: Survey) -> None:
    kept.count(arrivals(survey, 1))
    with kept.reading() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM sums").scalar()
        kept.count(arrivals(survey, 1))
        assert not kept.tidy()
    assert kept.tidy()
    assert versions(raw(tmp_path), survey) == [2]


# Writing no fewer than so many at once.


def test_too_few_reports_are_nowhere_in_the_files(
    tmp_path: Path, kept: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "HOLD_SECONDS", 0.05)
    counting = Writer(kept, at_least=5)
    few = arrivals(survey, 4)
    assert at_once(counting, few) == [NotYetWritten] * 4
    data = raw(tmp_path)
    assert versions(data, survey) == []
    assert not any(arrival.key in data for arrival in few)
    # The fifth is enough; whoever comes back under the same key is told that it was counted.
    assert at_once(counting, arrivals(survey, 1)) == [True]
    assert at_once(counting, few) == [False] * 4
    counting.close()
    assert kept.counted() == {survey.hash: 5}


def test_no_two_versions_in_the_files_differ_by_fewer(
    tmp_path: Path, kept: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "HOLD_SECONDS", 0.02)
    kept.tidy_seconds = 3600.0
    counting = Writer(kept, at_least=5)
    for count in (3, 4, 5, 1, 1, 1, 6, 12, 2):
        at_once(counting, arrivals(survey, count))
    seen = [0, *versions(raw(tmp_path), survey)]
    counting.close()
    assert len(seen) > 3
    assert min(later - earlier for earlier, later in pairwise(seen)) >= 5


def test_old_reports_other_windows_and_other_surveys_do_not_help_to_be_enough(
    tmp_path: Path, kept: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "HOLD_SECONDS", 0.05)
    other = survey_from_toml(TOML.replace("Travel", "Other"))
    kept.add_survey(other)
    counting = Writer(kept, at_least=3)
    old = arrivals(survey, 3)
    assert at_once(counting, old) == [True] * 3
    coming = [*arrivals(survey, 2), *arrivals(survey, 2, "2026-11"), *arrivals(other, 2)]
    assert at_once(counting, [*old, *coming]) == [False] * 3 + [NotYetWritten] * 6
    counting.close()
    assert kept.counted() == {survey.hash: 3}


def test_a_device_that_comes_back_in_the_next_window_counts_there_once(
    kept: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "HOLD_SECONDS", 0.05)
    counting = Writer(kept, at_least=2)
    (late,) = arrivals(survey, 1, "2026-10")
    assert at_once(counting, [late]) == [NotYetWritten]
    assert at_once(counting, [replace(late, period="2026-11"), *arrivals(survey, 1, "2026-11")]) == [True, True]
    counting.close()
    assert {period: sums.n for period, sums in kept.sums(survey).items()} == {"2026-11": 2}


def test_a_report_that_waits_at_two_workers_is_counted_once(kept: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "HOLD_SECONDS", 0.05)
    second = Store(str(kept.engine.url))
    workers = [Writer(kept, at_least=3), Writer(second, at_least=3)]
    both, rest = arrivals(survey, 2), arrivals(survey, 2)
    for counting in workers:
        assert at_once(counting, both) == [NotYetWritten] * 2
    assert at_once(workers[0], rest[:1]) == [True]
    # At the second worker three are together, but two of them are counted already: the third must go on waiting.
    assert at_once(workers[1], rest[1:]) == [NotYetWritten]
    assert at_once(workers[1], [*both, *arrivals(survey, 2)]) == [False, False, True, True]
    for counting in workers:
        counting.close()
    second.close()
    assert kept.counted() == {survey.hash: 6}


def test_what_waits_is_not_written_at_the_end_and_nobody_was_told_that_it_was(kept: Store, survey: Survey) -> None:
    counting = Writer(kept, at_least=5)
    told: list[object] = []
    thread = threading.Thread(target=lambda: told.extend(at_once(counting, arrivals(survey, 2))))
    thread.start()
    while counting.waiting < 2:
        time.sleep(0.005)
    counting.close()
    thread.join()
    assert [issubclass(answer, Busy) for answer in told if isinstance(answer, type)] == [True, True]
    assert kept.counted() == {}


def test_a_device_is_told_to_come_back_with_the_same_key(tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "HOLD_SECONDS", 0.05)
    found = Store(f"sqlite:///{tmp_path / 'inside.db'}")
    found.add_survey(survey)
    inside = Inside(found, write_at_least=2)
    path = f"/v1/surveys/{survey.hash}/submissions"
    body = submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))
    status, answer = inside.post(path, body)
    assert status == 503
    assert "come back later with the same key" in json.loads(answer)["error"]
    other = submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("car")))
    assert json.loads(inside.post(path, other)[1]) == {"accepted": 1, "known": 0}
    assert json.loads(inside.post(path, body)[1]) == {"accepted": 0, "known": 1}
    inside.close()


def test_the_pages_state_the_residue_that_the_collector_has() -> None:
    page = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text(encoding="utf-8")
    assert f"{store.TIDY_SUBMISSIONS:,} submissions or {store.TIDY_SECONDS['sqlite']:g} seconds" in page
    assert f"every {store.TIDY_SECONDS['postgresql']:g} seconds" in page
    assert f"{writer.HOLD_SECONDS:g} seconds" in page
