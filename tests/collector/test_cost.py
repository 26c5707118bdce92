"""What anybody can make a collector spend: it stays below 512 MB, and others are answered."""

from __future__ import annotations

import hashlib
import json
import socket
import sqlite3
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Store
from deniable.surveys import Survey, batch_head, survey_from_toml

from .running import TOML, Running, call, collector

MOST_MB = 512
MANY = 100_000
WIDE = """
title = "Words"
release = "live"
purpose = "To see what large answers cost."
epsilon = 2
[attributes.word]
question = "Which word?"
domain = "categories:100000"
"""


def megabytes(running: Running) -> float:
    """The most that was ever resident."""
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def place(running: Running) -> tuple[str, int]:
    host, port = running.address.removeprefix("http://").split(":")
    return host, int(port)


@pytest.mark.heavy
def test_readers_that_do_not_read_and_heads_that_do_not_end_take_little_memory(tmp_path: Path) -> None:
    with collector(tmp_path, toml=WIDE) as running, ExitStack() as stack:
        survey = Survey.from_json(call(running.survey)[1], hash=running.hash)
        body = batch_head(survey) + survey.mechanism.randomize_many([7] * 2000).to_bytes()
        assert call(f"{running.survey}/batches", body, {"Content-Type": "application/vnd.deniable.batch"})[0] == 200
        ask = f"GET /v1/surveys/{running.hash}/estimates HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        for _ in range(80):
            line = stack.enter_context(socket.create_connection(place(running), timeout=60))
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.sendall(3 * ask)
        status, whole = call(f"{running.survey}/estimates")
        assert status == 200
        assert len(whole) > 1 << 20  # so that 240 of them, each kept for a reader, would be far too many

        with closing(socket.create_connection(place(running), timeout=60)) as line:
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
            sent, header = 0, b"X-Long: " + 65_000 * b"x" + b"\r\n"
            with suppress(OSError):  # it is told that the head is too long, and then cut off
                while sent < 74_000_000:
                    line.sendall(header)
                    sent += len(header)
        assert sent < 10_000_000
        assert call(f"{running.address}/livez")[0] == 200
        assert megabytes(running) < MOST_MB


@pytest.mark.heavy
def test_a_hundred_thousand_surveys_are_listed_in_pages_and_start_at_once(tmp_path: Path) -> None:
    database = tmp_path / "collector.db"
    store = Store(f"sqlite:///{database}")
    store.close()
    text = survey_from_toml(TOML).to_json()
    rows = []
    for number in range(MANY):
        document = text.replace(b'"Travel"', b'"Travel %06d"' % number)
        rows.append((hashlib.sha256(document).hexdigest(), document))
    assert Survey.from_json(rows[-1][1]).hash == rows[-1][0]
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany("INSERT INTO surveys (hash, document, open, stepped) VALUES (?, ?, 1, 0)", rows)
    began = time.monotonic()
    with collector(tmp_path) as running:
        assert time.monotonic() - began < 60  # it was 70 s on a quiet machine when every survey was built at the start
        seen: set[str] = set()
        after = ""
        while True:
            status, page = call(f"{running.address}/v1/surveys{after}")
            assert status == 200
            assert len(page) < 1 << 20
            said = json.loads(page)
            seen.update(line["hash"] for line in said["surveys"])
            if said["after"] is None or len(seen) > 1000:
                break
            after = f"?after={said['after']}"
        assert len(seen) > 1000
        # One in the middle that nobody has asked for yet.
        assert call(f"{running.address}/v1/surveys/{rows[MANY // 2][0]}")[1] == rows[MANY // 2][1]
        assert megabytes(running) < MOST_MB
