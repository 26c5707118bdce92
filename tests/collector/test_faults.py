"""What was acknowledged is counted exactly once: killed servers, full disks, ten thousand sockets."""

from __future__ import annotations

import random
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deniable.surveys import Submission, Survey, submission_to_json

from .load import Load
from .running import call, collector, counted, free_port, receipts, start

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")


ENOUGH = 10


def _wait_for_work(load: Load) -> None:
    """Until some more reports were acknowledged: a server that is killed before it did anything shows nothing."""
    wanted, patience = load.acknowledged + ENOUGH, time.monotonic() + 60
    while load.acknowledged < wanted:
        assert time.monotonic() < patience, "nothing was acknowledged for a minute"
        time.sleep(0.01)


def killed_again_and_again(folder: Path, kills: int, database: str | None = None) -> None:
    port = free_port()
    choose = random.Random(7)
    running = start(folder, port=port, database=database)
    survey = Survey.from_json(call(running.survey)[1])
    load = Load(survey, running.address)
    load.begin()
    for _ in range(kills):
        _wait_for_work(load)
        time.sleep(choose.uniform(0.0, 0.3))
        running.kill()
        assert running.process.stdout is not None
        running.process.stdout.close()
        running = start(folder, port=port, database=database)
    time.sleep(0.5)
    load.finish()
    try:
        assert load.wrong == []
        assert load.uncertain == 0
        assert load.acknowledged >= ENOUGH * kills
        assert counted(running) == load.acknowledged
    finally:
        running.stop()
        assert running.process.stdout is not None
        running.process.stdout.close()


@pytest.mark.slow
def test_killing_the_server_loses_and_doubles_nothing(tmp_path: Path) -> None:
    killed_again_and_again(tmp_path, 3)


@pytest.mark.heavy
def test_killing_the_server_fifty_times_loses_and_doubles_nothing(tmp_path: Path) -> None:
    killed_again_and_again(tmp_path, 50)


def one(survey: Survey) -> bytes:
    return submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))


@pytest.mark.heavy  # the collector tries for 20 seconds before it refuses
def test_a_full_disk_refuses_and_recovers(tmp_path: Path) -> None:
    with collector(tmp_path) as running:
        survey = Survey.from_json(call(running.survey)[1])
        assert call(f"{running.survey}/submissions", one(survey))[0] == 200
        size = sum(path.stat().st_size for path in tmp_path.glob("collector.db*"))
        limit = max(path.stat().st_size for path in tmp_path.glob("collector.db*")) + 20_000
        assert size
        # No file of this process may grow further: what a full disk looks like from inside.
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        statuses, accepted = [], 1
        waiting = one(survey)
        for _ in range(400):
            status, _ = call(f"{running.survey}/submissions", waiting, timeout=60)
            statuses.append(status)
            if status != 200:
                break
            accepted += 1
            waiting = one(survey)
        assert statuses[-1] == 503, "the disk never became full"
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        # The refused one comes back under its own key, and counts once.
        assert call(f"{running.survey}/submissions", waiting)[0] == 200
        assert counted(running) == accepted + 1


@pytest.mark.heavy
def test_ten_thousand_open_sockets_are_bounded(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 12_000:
        pytest.skip(f"this system allows only {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with collector(tmp_path) as running:
        host, port = running.address.removeprefix("http://").split(":")
        lines: list[socket.socket] = []
        try:
            for number in range(10_000):
                source = (f"127.0.0.{2 + number % 50}", 0)
                lines.append(socket.create_connection((host, int(port)), timeout=120, source_address=source))
            assert call(f"{running.address}/health")[0] == 200
            status = Path(f"/proc/{running.process.pid}/status").read_text()
            used = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
            assert used < 600
        finally:
            for line in lines:
                line.close()
        time.sleep(2)
        survey = Survey.from_json(call(running.survey)[1])
        assert call(f"{running.survey}/submissions", one(survey))[0] == 200


@pytest.mark.heavy
def test_no_request_the_schema_allows_breaks_it(tmp_path: Path) -> None:
    pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    with collector(tmp_path) as running:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{running.address}/openapi.json"]
        command += ["--checks", "not_a_server_error", "--max-examples", "60", "--workers", "1", "--request-timeout", "20"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-2000:]
        assert call(f"{running.address}/health")[0] == 200


@pytest.mark.slow
def test_two_writers_on_one_file_agree(tmp_path: Path) -> None:
    with collector(tmp_path) as first, collector(tmp_path) as second:
        survey = Survey.from_json(call(first.survey)[1])
        for _ in range(20):
            body = one(survey)
            answers = sorted(call(f"{running.survey}/submissions", body)[1] for running in (first, second))
            assert answers == [b'{"accepted":0,"known":1}', b'{"accepted":1,"known":0}']
        assert counted(first) == 20
    assert len(receipts(tmp_path / "collector.db")) == 20
