"""A database that hangs, is locked, full, deleted or replaced: answers come in time, nothing is lost, and it recovers by itself."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Store, deadlines, pulse, readiness, writer
from deniable.collector.failures import AGAIN_SECONDS, Failures
from deniable.collector.limits import Bucket
from deniable.collector.messages import Refusal
from deniable.collector.state import State
from deniable.surveys import HttpTransport, Submission, Survey, submission_to_json

from .limited import Limited, limited
from .postgresql import Server, postgresql
from .running import Running, call, collector, counted


def one(survey: Survey) -> bytes:
    return submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))


def document(running: Limited | Running) -> Survey:
    return Survey.from_json(call(running.survey)[1])


def test_every_deadline_is_longer_than_what_it_waits_for() -> None:
    chain = [
        deadlines.CONNECT_SECONDS,
        deadlines.LOCK_SECONDS,
        deadlines.TRANSACTION_SECONDS,
        deadlines.ANSWER_SECONDS,
        HttpTransport().timeout,
    ]
    assert chain == sorted(set(chain))
    assert writer.GIVE_UP <= deadlines.TRANSACTION_SECONDS
    assert writer.HOLD_SECONDS < deadlines.ANSWER_SECONDS


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Limited, threading.Event]]:
    """A collector whose database does not come back from writing, nor from reading, until the event is set."""
    monkeypatch.setattr(writer, "ANSWER_SECONDS", 0.5)
    go_on, hung = threading.Event(), threading.Event()
    count, changes = Store.count, Store.changes

    def waits(what: object) -> object:
        def waiting(self: Store, *given: object, **more: object) -> object:
            if hung.is_set():
                go_on.wait(60)
            return what(self, *given, **more)  # type: ignore[operator]

        return waiting

    with limited(tmp_path) as running:
        call(running.survey)
        monkeypatch.setattr(Store, "count", waits(count))
        monkeypatch.setattr(Store, "changes", waits(changes))
        hung.set()
        try:
            yield running, go_on
        finally:
            go_on.set()


@pytest.mark.slow
def test_a_database_that_hangs_delays_nobody_for_long(stuck: tuple[Limited, threading.Event]) -> None:
    running, go_on = stuck
    body = one(document(running))
    began = time.monotonic()
    status, said = call(f"{running.survey}/submissions", body)
    assert status == 503, said
    assert time.monotonic() - began < 10
    for path in ("/livez", "/openapi.json", f"/v1/surveys/{running.hash}", "/"):
        assert call(f"{running.address}{path}")[0] in (200, 404), path
    go_on.set()
    patience = time.monotonic() + 30
    while call(f"{running.survey}/submissions", body)[0] != 200:
        assert time.monotonic() < patience, "it does not recover"
    assert json.loads(call(f"{running.survey}/submissions", body)[1]) == {"accepted": 0, "known": 1}


def test_new_requests_are_told_at_once_when_others_wait_long(
    stuck: tuple[Limited, threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    running, _ = stuck
    monkeypatch.setattr(writer, "ANSWER_SECONDS", 30)
    monkeypatch.setattr(writer, "SHED_SECONDS", 0.1)
    monkeypatch.setattr(writer, "SHED_WAITING", 1)
    survey = document(running)
    first = threading.Thread(target=call, args=(f"{running.survey}/submissions", one(survey)))
    first.start()
    time.sleep(0.5)
    assert call(f"{running.survey}/submissions", one(survey), timeout=10)[0] == 503
    assert first.is_alive()
    stuck[1].set()
    first.join(60)


def test_a_deleted_file_is_noticed_before_anything_is_acknowledged(tmp_path: Path) -> None:
    with limited(tmp_path) as running:
        running.server.config.app.state.collector.writer._give_up = 0.1  # type: ignore[union-attr]
        survey, path = document(running), tmp_path / "collector.db"
        assert call(f"{running.survey}/submissions", one(survey))[0] == 200
        assert call(f"{running.address}/readyz")[0] == 200
        path.rename(tmp_path / "elsewhere.db")
        refused = [one(survey) for _ in range(5)]
        assert [call(f"{running.survey}/submissions", body)[0] for body in refused] == [503] * 5
        assert not path.exists(), "an empty database in its place would take the next reports"
        assert call(f"{running.address}/livez")[0] == 200
        (tmp_path / "elsewhere.db").rename(path)
        assert [call(f"{running.survey}/submissions", body)[0] for body in refused] == [200] * 5
    assert sqlite3.connect(path).execute("SELECT sum(n) FROM sums").fetchone() == (6,)


def test_an_empty_file_in_its_place_is_not_used(tmp_path: Path) -> None:
    with limited(tmp_path) as running:
        running.server.config.app.state.collector.writer._give_up = 0.1  # type: ignore[union-attr]
        survey, path = document(running), tmp_path / "collector.db"
        path.rename(tmp_path / "elsewhere.db")
        path.touch()
        assert [call(f"{running.survey}/submissions", one(survey))[0] for _ in range(3)] == [503] * 3
        assert path.stat().st_size == 0


def test_a_backup_that_is_put_back_is_used(tmp_path: Path) -> None:
    with limited(tmp_path) as running:
        survey, path = document(running), tmp_path / "collector.db"
        source = sqlite3.connect(path)
        with sqlite3.connect(tmp_path / "backup.db") as copy:
            source.backup(copy)
        source.close()
        copy.close()
        shutil.move(tmp_path / "backup.db", path)
        assert call(f"{running.survey}/submissions", one(survey))[0] == 200
    assert sqlite3.connect(path).execute("SELECT sum(n) FROM sums").fetchone() == (1,)


def test_ready_means_that_something_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "RECENT_SECONDS", 0.0)
    monkeypatch.setattr(deadlines, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr("deniable.collector.database.LOCK_SECONDS", 0.1)
    with limited(tmp_path) as running:
        assert call(f"{running.address}/readyz") == (200, b'{"status":"ok"}')
        locker = sqlite3.connect(tmp_path / "collector.db")
        locker.execute("BEGIN IMMEDIATE")
        assert call(f"{running.address}/readyz") == (503, b'{"status":"database is locked"}')
        assert call(f"{running.address}/livez")[0] == 200
        locker.rollback()
        assert call(f"{running.address}/readyz")[0] == 200


def test_what_fails_again_and_again_is_logged_once_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    failures = Failures("the database cannot be written", clock=lambda: now)
    for _ in range(50):
        failures.failed("disk full")
    now += AGAIN_SECONDS
    failures.failed("disk full")
    failures.failed("locked")
    failures.succeeded()
    failures.succeeded()
    assert [record.getMessage() for record in caplog.records] == [
        "the database cannot be written: disk full",
        "the database cannot be written: disk full (51 times so far)",
        "the database cannot be written: locked",
        "the database cannot be written: over after 52 failures",
    ]


@pytest.mark.slow
def test_a_locked_file_is_answered_within_five_seconds_and_logged(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, collector(tmp_path, stderr=log) as running:
        survey = document(running)
        locker = sqlite3.connect(tmp_path / "collector.db")
        locker.execute("BEGIN IMMEDIATE")
        body, began = one(survey), time.monotonic()
        assert call(f"{running.survey}/submissions", body)[0] == 503
        assert time.monotonic() - began < deadlines.ANSWER_SECONDS + 1
        locker.rollback()
        assert call(f"{running.survey}/submissions", body)[0] == 200
        assert counted(running) == 1
    said = (tmp_path / "log").read_text()
    assert said.splitlines()[0] == "deniable: the database cannot be written: database is locked"
    assert "Traceback" not in said


def stopped(server: Server, how: signal.Signals) -> None:
    """Stop or continue every process of a PostgreSQL server."""
    leader = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
    for process in [leader, *map(int, children)]:
        os.kill(process, how)


@pytest.mark.heavy
def test_a_postgresql_that_hangs_three_times_freezes_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with postgresql() as server, collector(tmp_path, database=server.url) as running:
        survey = document(running)
        sent = 0
        for _ in range(3):
            assert call(f"{running.survey}/submissions", one(survey))[0] == 200
            stopped(server, signal.SIGSTOP)
            try:
                body, began = one(survey), time.monotonic()
                assert call(f"{running.survey}/submissions", body)[0] == 503
                assert time.monotonic() - began < deadlines.ANSWER_SECONDS + 1
                for path in ("/livez", "/openapi.json", "/", f"/v1/surveys/{running.hash}"):
                    began = time.monotonic()
                    assert call(f"{running.address}{path}")[0] == 200, path
                    assert time.monotonic() - began < 2, path
                began = time.monotonic()
                assert call(f"{running.address}/readyz")[0] == 503
                assert time.monotonic() - began < deadlines.ANSWER_SECONDS + 1
            finally:
                stopped(server, signal.SIGCONT)
            patience = time.monotonic() + 30
            while call(f"{running.survey}/submissions", body)[0] != 200:
                assert time.monotonic() < patience, "it does not recover"
                time.sleep(0.1)
            sent += 2
            assert call(f"{running.address}/readyz")[0] == 200
            assert counted(running) == sent


def test_a_slow_turn_sheds_only_when_many_requests_are_under_way() -> None:
    heart = pulse.Pulse()
    heart._slow = True
    assert not heart.late
    heart.requests = pulse.MANY
    assert heart.late
    heart._slow = False
    assert not heart.late


def test_a_late_loop_still_takes_submissions_while_few_wait_to_be_written() -> None:
    """Refusing costs nearly as much as taking: a crowd that came back at once left nothing counted at all."""
    few, many = (SimpleNamespace(waiting=waiting) for waiting in (writer.SHED_WAITING - 1, writer.SHED_WAITING))
    for line, counts, refused in ((few, True, False), (many, True, True), (few, False, True)):
        state: Any = SimpleNamespace(pulse=SimpleNamespace(late=True), writer=line, _all=Bucket(10))
        with pytest.raises(Refusal) if refused else nullcontext():
            State.take(state, counts=counts)
