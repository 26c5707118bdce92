"""A collector in a process of its own, and requests to it."""

from __future__ import annotations

import http.client
import json
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

TOML = """
title = "Travel"
release = "live"
purpose = "To plan bus lines."
epsilon = 1
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
"""


@dataclass
class Running:
    """A collector and where it listens."""

    process: subprocess.Popen[str]
    address: str
    hash: str

    @property
    def survey(self) -> str:
        return f"{self.address}/v1/surveys/{self.hash}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def start(
    folder: Path,
    *,
    port: int = 0,
    database: str | None = None,
    options: tuple[str, ...] = (),
    toml: str = TOML,
    stderr: IO[str] | None = None,
) -> Running:
    """Start `deniable serve` and wait until it listens."""
    path = folder / "survey.toml"
    path.write_text(toml)
    url = database or f"sqlite:///{folder / 'collector.db'}"
    command = [sys.executable, "-m", "deniable.cli", "serve", str(path), "--port", str(port), "--database", url, "--json", *options]
    with (folder / "collector.err").open("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr or errors, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        errors.seek(0)
        assert line, f"the collector did not start: {errors.read()[-2000:]}"
    said = json.loads(line)
    return Running(process, said["address"], said["surveys"][0]["hash"])


def free_port() -> int:
    """A port nobody listens on, below those the system gives to clients: while nobody listens, one of them would meet itself."""
    for _ in range(1000):
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("a thousand ports are all taken")


@contextmanager
def collector(folder: Path, **how: Any) -> Iterator[Running]:
    """A collector that is stopped at the end."""
    running = start(folder, **how)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()
        if running.process.stdout is not None:
            running.process.stdout.close()


def call(url: str, body: bytes | None = None, headers: dict[str, str] | None = None, timeout: float = 120) -> tuple[int, bytes]:
    """Status and body; -1 when nobody answered."""
    request = urllib.request.Request(url, data=body, headers=headers or {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as answer:
        with answer:
            try:
                return answer.code, answer.read()
            except (OSError, http.client.HTTPException):
                return -1, b""
    except (OSError, http.client.HTTPException):  # also an answer that was cut off in its middle
        return -1, b""


def receipts(path: Path) -> list[bytes]:
    """The keys in a SQLite file, of all surveys."""
    with closing(sqlite3.connect(path)) as file:
        numbers = [row[0] for row in file.execute("SELECT number FROM receipt_parts ORDER BY number")]
        return [row[0] for number in numbers for row in file.execute(f"SELECT key FROM receipts_{number}")]


def counted(running: Running) -> int:
    """How many reports the collector says it has; waits until its estimates are fresh."""
    time.sleep(1.1)
    return int(json.loads(call(f"{running.survey}/estimates")[1])["n"])
