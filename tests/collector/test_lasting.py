"""What happens to a collector that runs for years: files vanish under it, one survey is damaged, another release comes along."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.cli.app import main
from deniable.cli.submit_journal import Journal
from deniable.cli.survey_commands import following_round
from deniable.cli.whole_files import write_whole
from deniable.collector import Store, readiness
from deniable.collector.deadlines import TRANSACTION_SECONDS
from deniable.collector.metrics import SHARED, write_down
from deniable.collector.retention import expire
from deniable.collector.schema import VERSION
from deniable.surveys import Submission, Survey, submission_to_json, survey_from_toml

from .limited import Limited, limited
from .postgresql import postgresql
from .running import TOML, call, collector, counted

OTHER = TOML.replace('"Travel"', '"Other"')


def one(survey: Survey) -> bytes:
    return submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))


def post(running: Limited, survey: Survey) -> int:
    return call(f"{running.address}/v1/surveys/{survey.hash}/submissions", one(survey))[0]


def test_a_log_that_vanishes_takes_no_acknowledged_report_with_it(tmp_path: Path) -> None:
    survey = survey_from_toml(TOML)
    with limited(tmp_path) as running:
        assert post(running, survey) == 200
        (tmp_path / "collector.db-wal").unlink()
        # What a killed collector would leave: only what is in files that have names.
        acknowledged = 1 + sum(post(running, survey) == 200 for _ in range(5))
        copy = tmp_path / "copy.db"
        for end in ("", "-wal"):
            source = tmp_path / f"collector.db{end}"
            if source.exists():
                (tmp_path / f"copy.db{end}").write_bytes(source.read_bytes())
        with closing(sqlite3.connect(copy)) as file:
            assert file.execute("SELECT sum(n) FROM sums").fetchone() == (acknowledged,)
    assert acknowledged == 6, "it goes on by itself"


def test_a_survey_whose_sums_are_damaged_keeps_no_other_from_counting(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    damaged, sound = survey_from_toml(TOML), survey_from_toml(OTHER)
    with limited(tmp_path) as running:
        state = running.server.config.app.state.collector  # type: ignore[union-attr]
        store, writer = state.store, state.writer
        store.add_survey(sound)
        state.catalog.look()
        assert [post(running, survey) for survey in (damaged, sound)] == [200, 200]
        with store.writing() as connection:
            connection.exec_driver_sql("UPDATE sums SET data = x'001122' WHERE survey = ?", (damaged.hash,))
        began = time.monotonic()
        assert [post(running, survey) for survey in (damaged, sound, damaged, sound)] == [503, 200, 503, 200]
        assert time.monotonic() - began < writer._give_up, "what cannot help is not tried again and again"
        assert not writer.failures.cause, "the database can be written"
    assert f"the reports of survey {damaged.hash[:12]} cannot be counted" in capfd.readouterr().err


def test_estimates_come_from_memory_while_the_file_is_another_one(tmp_path: Path) -> None:
    with limited(tmp_path) as running:
        before = call(f"{running.survey}/estimates")
        path = tmp_path / "collector.db"
        path.rename(tmp_path / "elsewhere.db")
        with closing(sqlite3.connect(path)) as foreign:
            foreign.execute("CREATE TABLE notes (words TEXT)")
        time.sleep(1.1)  # until they are compared with the database again
        assert call(f"{running.survey}/estimates") == before


def test_not_ready_without_a_table_that_counting_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "RECENT_SECONDS", 0.0)
    with limited(tmp_path) as running:
        assert call(f"{running.address}/readyz")[0] == 200
        with closing(sqlite3.connect(tmp_path / "collector.db")) as file:
            file.execute("ALTER TABLE sums RENAME TO elsewhere")
        status, said = call(f"{running.address}/readyz")
        assert (status, b"sums" in said) == (503, True)
        with closing(sqlite3.connect(tmp_path / "collector.db")) as file:
            file.execute("ALTER TABLE elsewhere RENAME TO sums")


def test_a_release_whose_tables_were_brought_forward_writes_no_more(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    survey = survey_from_toml(TOML)
    store.changes()
    with closing(sqlite3.connect(tmp_path / "collector.db")) as file:
        file.execute(f"PRAGMA user_version = {VERSION + 1}")
    store.changes()
    with pytest.raises(Exception, match=f"the tables are of version {VERSION + 1} now"):
        store.add_survey(survey)
    with closing(sqlite3.connect(tmp_path / "collector.db")) as file:
        file.execute(f"PRAGMA user_version = {VERSION}")
    store.changes()
    assert store.add_survey(survey)
    store.close()


def test_the_next_round_opens_and_the_old_one_closes_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, survey = Store(f"sqlite:///{tmp_path / 'collector.db'}"), survey_from_toml(TOML)
    store.add_survey(survey)

    def killed(_: str | None) -> dict[str, object]:
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr("deniable.collector.registry._ended", killed)
        with pytest.raises(KeyboardInterrupt):
            store.add_round(survey.hash, following_round(survey))
    assert store.open_hashes() == {survey.hash: True}
    assert store.add_round(survey.hash, following_round(survey))
    assert store.open_hashes() == {survey.hash: False, following_round(survey).hash: True}
    store.close()


@pytest.mark.parametrize("command", [["survey", "list"], ["token", "list"], ["survey", "close", "0123456789ab"]])
def test_a_mistyped_database_is_not_made(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "colector.db"
    ended = CliRunner().invoke(main, [*command, "--database", f"sqlite:///{path}"])
    assert ended.exit_code != 0
    assert "there is no file" in ended.output
    assert not path.exists()


def test_two_runs_of_submit_at_once_claim_everybody_once(tmp_path: Path) -> None:
    survey = survey_from_toml(TOML)
    first, second = (Journal(tmp_path / "journal.db", survey.hash) for _ in range(2))
    people = [first.digest(bytes([number])) for number in range(3)]
    # Both look before either writes.
    assert first.known(people) == second.known(people) == set()
    assert first.add(people, b"drawn by the first") is not None
    assert second.add(people[2:], b"drawn by the second") is None
    assert [body for _, body in second.waiting()] == [b"drawn by the first"]


def test_a_file_that_cannot_be_written_whole_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "privacy.html"
    write_whole(path, b"before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as full_disk:
        write_whole(path, b"after")
    assert full_disk.value.filename == str(path)
    assert [one.name for one in tmp_path.iterdir()] == ["privacy.html"]
    assert path.read_bytes() == b"before"


def test_a_folder_for_metrics_that_vanished_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path / "gone"))
    write_down({"deniable_reports_accepted_total": 1.0}, {})


@pytest.mark.heavy
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    with collector(tmp_path, options=("--workers", "2")) as running:
        patience = time.monotonic() + 60
        while call(f"{running.address}/livez")[0] != 200:
            assert time.monotonic() < patience
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(30)
        while call(f"{running.address}/livez", timeout=5)[0] != -1:
            assert time.monotonic() < patience, "a worker nobody can stop keeps the port"
            time.sleep(0.2)


@pytest.mark.heavy
def test_a_postgresql_that_promises_too_early_is_not_believed(tmp_path: Path) -> None:
    with postgresql() as server:
        store = Store(server.url)
        with store.writing() as connection:
            connection.exec_driver_sql("ALTER DATABASE postgres SET synchronous_commit = off")
        store.close()
        store = Store(server.url)
        with store.reading() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        store.close()
        # Stronger promises stay as they are.
        store = Store(f"{server.url}?options=-c%20synchronous_commit%3Dremote_apply")
        with store.reading() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "remote_apply"
        store.close()
        with collector(tmp_path, database=server.url) as running:
            survey = Survey.from_json(call(running.survey)[1])
            assert json.loads(call(f"{running.survey}/submissions", one(survey))[1]) == {"accepted": 1, "known": 0}
            assert counted(running) == 1


@pytest.mark.heavy
def test_what_is_due_goes_though_it_takes_longer_than_a_transaction_may() -> None:
    slow = f"SELECT pg_sleep({TRANSACTION_SECONDS + 0.5})"
    with postgresql() as server:
        store, survey = Store(server.url), survey_from_toml(TOML)
        store.add_survey(survey)
        with store.writing() as connection:
            connection.exec_driver_sql("INSERT INTO spent_tokens (survey, nonce, key) VALUES (%s, '1', '2')", (survey.hash,))
            # As slow as millions of rows would be.
            body = f"BEGIN PERFORM ({slow}); RETURN NULL; END"
            connection.exec_driver_sql(f"CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
            connection.exec_driver_sql("CREATE TRIGGER slow BEFORE DELETE ON spent_tokens EXECUTE FUNCTION slowly()")
        store.keep_for(survey.hash, reports=None, receipts=0)
        store.close_survey(survey.hash)
        expire(store, time.time() + 60)
        with store.reading() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM spent_tokens").scalar() == 0
        store.close()
