"""Workers that die, and workers that do not end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from .running import call, collector

KEPT_DYING = """
import socket, sys
from deniable.collector import run_workers, workers
workers.MOST_DEATHS, workers.REST_SECONDS = 2, 0
with socket.socket() as listening:
    sys.exit(run_workers(["no-such-command"], 2, listening, log="json"))
"""


def children(process: int) -> list[int]:
    return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def until(done: object, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.slow
def test_workers_that_die_again_and_again_end_the_collector_with_a_reason() -> None:
    ended = subprocess.run([sys.executable, "-c", KEPT_DYING], capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 1
    said = [json.loads(line)["message"] for line in ended.stderr.splitlines() if line.startswith("{")]
    assert said == ["a worker ended with exit code 2; another one is started"] * 3 + [
        "workers ended 4 times within a minute, the last with exit code 2; the collector stops"
    ]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it looks for workers in /proc")
def test_a_worker_that_dies_is_started_again_and_named_in_the_log(tmp_path: Path) -> None:
    with collector(tmp_path, options=("--workers", "2")) as running:
        until(lambda: len(children(running.process.pid)) == 2 and call(f"{running.address}/livez")[0] == 200)
        gone = children(running.process.pid)[0]
        os.kill(gone, signal.SIGKILL)
        until(lambda: len(now := children(running.process.pid)) == 2 and gone not in now)
        until(lambda: call(f"{running.address}/readyz")[0] == 200)
        assert running.stop() == 0
    assert (
        tmp_path / "collector.err"
    ).read_text() == "deniable: a worker ended by SIGKILL (as a rule because memory ran out); another one is started\n"


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform != "linux", reason="it looks for workers in /proc")
def test_a_worker_that_hangs_does_not_keep_the_collector_from_ending(tmp_path: Path) -> None:
    with collector(tmp_path, options=("--workers", "2")) as running:
        until(lambda: len(children(running.process.pid)) == 2 and call(f"{running.address}/livez")[0] == 200)
        os.kill(children(running.process.pid)[0], signal.SIGSTOP)
        assert running.stop() == 1
    said = (tmp_path / "collector.err").read_text()
    assert said.startswith("deniable: a worker did not end in time and was killed")
    assert "Traceback" not in said
