"""The same promises on a real PostgreSQL: several workers, restarts of the database, kills of the collector."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import create_engine

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Arrival, Store, Writer
from deniable.collector.steps import Published, published
from deniable.core import Report, decode_reports, encode_reports, output_bits
from deniable.surveys import Submission, Survey, submission_to_json, survey_from_toml

from .load import Load
from .postgresql import Server, postgresql
from .raw_files import raw, singled_out, versions
from .running import call, collector, counted
from .test_faults import killed_again_and_again

pytestmark = pytest.mark.heavy
DEPLOYMENT = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text(encoding="utf-8")


def test_restarting_the_database_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with postgresql() as server, collector(tmp_path, database=server.url) as running:
        survey = Survey.from_json(call(running.survey)[1])
        load = Load(survey, running.address)
        load.begin()
        for _ in range(5):
            wanted, patience = load.acknowledged + 20, time.monotonic() + 90
            while load.acknowledged < wanted:
                assert time.monotonic() < patience, "nothing was acknowledged"
                time.sleep(0.02)
            server.stop("immediate")
            server.start()
        time.sleep(1)
        load.finish()
        assert load.wrong == []
        assert load.uncertain == 0
        assert counted(running) == load.acknowledged


def test_killing_the_collector_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with postgresql() as server:
        killed_again_and_again(tmp_path, 5, server.url)


def test_two_collectors_share_one_database(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with (
        postgresql() as server,
        collector(tmp_path / "a", database=server.url) as first,
        collector(tmp_path / "b", database=server.url) as second,
    ):
        survey = Survey.from_json(call(first.survey)[1])
        loads = [Load(survey, running.address, threads=2) for running in (first, second)]
        for load in loads:
            load.begin()
        for _ in range(10):
            body = submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))
            answers = [json.loads(call(f"{running.survey}/submissions", body)[1])["accepted"] for running in (first, second)]
            assert sorted(answers) == [0, 1]
        time.sleep(1)
        for load in loads:
            load.finish()
        total = sum(load.acknowledged for load in loads) + 10
        assert counted(first) == counted(second) == total


TOML = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 1
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
"""


def flushed(server: Server) -> None:
    """Everything that PostgreSQL has in memory is in its files."""
    with create_engine(server.url).connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("CHECKPOINT")


def counted_singly(store: Store, survey: Survey, count: int) -> None:
    for _ in range(count):
        report = survey.mechanism.randomize("bus")
        assert store.count([Arrival(survey, "", secrets.token_bytes(16), [report], 1)]) == [True]


def test_old_versions_of_the_sums_are_gone_from_the_tables_after_tidying_up() -> None:
    survey = survey_from_toml(TOML)
    with postgresql() as server:
        store = Store(server.url)
        store.add_survey(survey)
        counted_singly(store, survey, 25)
        flushed(server)
        tables = server.folder / "data" / "base"
        assert singled_out(versions(raw(tables), survey)) > 10, "the test looks in the wrong place"
        with store.writing() as connection:
            connection.exec_driver_sql("ANALYZE")
        assert store.tidy()
        flushed(server)
        assert versions(raw(tables), survey) == [25]
        # The pages say it: PostgreSQL's own log keeps what it keeps, unless so many reports are written together.
        assert singled_out(versions(raw(server.folder / "data" / "pg_wal"), survey)) > 10
        # Somebody who reads a table for long only delays it.
        with store.reading() as connection:
            connection.exec_driver_sql("SELECT count(*) FROM sums").scalar()
            counted_singly(store, survey, 1)
            assert not store.tidy()
        assert store.tidy()
        assert store.sums(survey)[""].n == 26
        store.close()


def test_the_log_forgets_with_the_settings_that_the_pages_give() -> None:
    survey = survey_from_toml(TOML)
    with postgresql() as server:
        store = Store(server.url)
        store.add_survey(survey)
        with create_engine(server.url).connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            for setting in re.findall(r"^ALTER SYSTEM .*;$", DEPLOYMENT, re.MULTILINE):
                alone.exec_driver_sql(setting)
            alone.exec_driver_sql("SELECT pg_reload_conf()")
            counted_singly(store, survey, 25)
            assert store.tidy()
            alone.exec_driver_sql("SELECT pg_switch_wal()")
            alone.exec_driver_sql("CHECKPOINT")
        assert singled_out(versions(raw(server.folder / "data"), survey)) == 0
        store.close()


def test_nothing_in_the_data_directory_is_about_fewer_reports_than_are_written_at_once(tmp_path: Path) -> None:
    survey = survey_from_toml(TOML)
    with postgresql() as server:
        store = Store(server.url)
        store.add_survey(survey)
        counting = Writer(store, at_least=5)

        async def come(count: int) -> None:
            coming = [Arrival(survey, "", secrets.token_bytes(16), [survey.mechanism.randomize("bus")], 1) for _ in range(count)]
            await asyncio.gather(*(counting.count([arrival]) for arrival in coming), return_exceptions=True)

        for count in (5, 7, 11, 5, 30):
            asyncio.run(come(count))
        flushed(server)
        seen = versions(raw(server.folder / "data"), survey)
        counting.close()
        store.close()
    assert seen[0] == 0
    assert 54 <= seen[-1] <= 58
    assert min(later - earlier for earlier, later in pairwise(seen)) >= 5


def test_kept_reports_lie_in_one_random_order_in_the_tables() -> None:
    survey = survey_from_toml("keep_reports = true\n" + TOML.replace("bike,bus,car,walk", "1000"))
    with postgresql() as server:
        store = Store(server.url)
        store.add_survey(survey)
        for output in range(60):
            report = Report(survey.mechanism.fingerprint, output)
            store.count([Arrival(survey, "", secrets.token_bytes(16), [report], 1)])
        flushed(server)
        tables = server.folder / "data" / "base"
        assert len(frames(raw(tables), survey)) > 10, "the test looks in the wrong place"
        assert store.tidy()
        flushed(server)
        ((count, together),) = frames(raw(tables), survey)
        store.close()
    assert count == 60
    assert sorted(together) == list(range(60))
    assert together != sorted(together)


def frames(data: bytes, survey: Survey) -> list[tuple[int, list[int]]]:
    """Batches of reports in wire form that stand in the bytes."""
    mark = encode_reports(survey.mechanism, [])[:-8]
    size = output_bits(survey.mechanism.channel)
    found, at = [], data.find(mark)
    while at >= 0:
        body = at + len(mark) + 8
        count = int.from_bytes(data[body - 8 : body], "big")
        found.append((count, [one.output for one in decode_reports(survey.mechanism, data[at : body + (count * size + 7) // 8])]))
        at = data.find(mark, at + 1)
    return found


def test_every_worker_takes_the_same_step() -> None:
    survey = survey_from_toml(TOML)
    with postgresql() as server:
        stores = [Store(server.url) for _ in range(4)]
        stores[0].add_survey(survey)
        later = time.time() + 3700
        for step in range(1, 4):
            counted_together(stores[step], survey, 150)
            gate = threading.Barrier(4)
            seen: list[Published] = []

            def look(store: Store, gate: threading.Barrier = gate, seen: list[Published] = seen, now: float = later) -> None:
                gate.wait()
                seen.append(published(store, survey, now))

            workers = [threading.Thread(target=look, args=(store,)) for store in stores]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            assert [shown.whole.n for shown in seen] == [150 * step] * 4
            later += 3700
        for store in stores:
            store.close()


def counted_together(store: Store, survey: Survey, count: int) -> None:
    reports = survey.mechanism.randomize_many(["bus"] * count)
    assert store.count([Arrival(survey, "", secrets.token_bytes(16), reports, count)]) == [True]
