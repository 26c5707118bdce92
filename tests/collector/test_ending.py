"""A collector that is told to end does so, whatever its threads still work on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from .running import TOML, call

SLEEPING = """
import sys, time
from deniable.collector import {module}

def endless(*_):
    print("working", file=sys.stderr, flush=True)
    for _ in range(900):
        time.sleep(0.1)  # as compiling does, it comes back to the interpreter now and then

{module}.{name} = endless
from deniable.cli.app import main
main()
"""
PATIENCE = 30
"""Seconds: half of them are for requests that are under way."""


@contextmanager
def endless(folder: Path, module: str, name: str) -> Iterator[subprocess.Popen[str]]:
    """A collector whose function of this name takes a minute and a half."""
    (folder / "survey.toml").write_text(TOML)
    program = SLEEPING.format(module=module, name=name)
    command = [sys.executable, "-c", program, "serve", "survey.toml", "--port", "0", "--database", "sqlite:///c.db", "--json"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(process: subprocess.Popen[str], said: str) -> None:
    """Wait until it says this on its standard error."""
    assert process.stderr is not None
    assert any(said in line for line in process.stderr), "the collector ended before"


@pytest.mark.slow
def test_a_signal_ends_a_collector_that_still_starts(tmp_path: Path) -> None:
    with endless(tmp_path, "app", "warm_all") as process:
        until(process, "working")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_a_signal_ends_a_collector_whose_estimates_are_still_worked_out(tmp_path: Path) -> None:
    with endless(tmp_path, "estimate_cache", "estimates") as process:
        assert process.stdout is not None
        at = json.loads(process.stdout.readline())
        address = f"{at['address']}/v1/surveys/{at['surveys'][0]['hash']}/estimates"
        threading.Thread(target=call, args=(address,), daemon=True).start()
        until(process, "working")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
