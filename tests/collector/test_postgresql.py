"""The same promises on a real PostgreSQL: several workers, restarts of the database, kills of the collector."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from deniable.surveys import Submission, Survey, submission_to_json

from .load import Load
from .postgresql import postgresql
from .running import call, collector, counted
from .test_faults import killed_again_and_again

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")
pytestmark = pytest.mark.heavy


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
