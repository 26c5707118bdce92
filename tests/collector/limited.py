"""A collector with limits of one's own, in a thread of this process, and clients that take their time."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

import uvicorn

from deniable.collector import Limits, Proxies, Serving, Store, listening_socket
from deniable.collector.server import make_server
from deniable.surveys import survey_from_toml

from .running import TOML, call


@dataclass
class Limited:
    """A collector in a thread, and where it listens."""

    address: str
    hash: str
    server: uvicorn.Server
    thread: threading.Thread
    token: str
    """Of an admin, who may read every number of /metrics."""

    def metrics(self) -> str:
        return call(f"{self.address}/metrics", headers={"Authorization": f"Bearer {self.token}"})[1].decode()

    @property
    def survey(self) -> str:
        return f"{self.address}/v1/surveys/{self.hash}"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(40)
        assert not self.thread.is_alive()


@contextmanager
def limited(
    folder: Path, limits: Limits | None = None, *, proxies: tuple[str, ...] = (), tls: tuple[str, str] | None = None, **how: Any
) -> Iterator[Limited]:
    """A collector with these limits, stopped at the end."""
    database = f"sqlite:///{folder / 'collector.db'}"
    store = Store(database)
    survey = survey_from_toml(TOML)
    store.add_survey(survey)
    token = store.add_token("reader of metrics", "admin")
    store.close()
    certificate, key = tls or (None, None)
    serving = Serving(
        database=database,
        limits=limits or Limits(),
        proxies=Proxies.parse(proxies),
        certificate=certificate,
        private_key=key,
        **how,
    )
    listening, ready = listening_socket("127.0.0.1", 0), threading.Event()
    address = f"{'https' if tls else 'http'}://127.0.0.1:{listening.getsockname()[1]}"
    server = make_server(serving, ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    running = Limited(address, survey.hash, server, thread, token)
    try:
        assert ready.wait(60), "the collector did not start"
        yield running
    finally:
        running.stop()


def place(running: Limited) -> tuple[str, int]:
    """Host and port."""
    host, port = running.address.split("://")[1].split(":")
    return host, int(port)


def connected(running: Limited, source: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of this machine."""
    return socket.create_connection(place(running), timeout=60, source_address=(source, 0))


def head(running: Limited, length: int, path: str = "submissions", more: str = "") -> bytes:
    """The head of a submission."""
    line = f"POST /v1/surveys/{running.hash}/{path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{more}"
    return f"{line}Content-Length: {length}\r\n\r\n".encode()


def until_closed(line: socket.socket) -> bytes:
    """Everything the collector says until it closes; fails after a minute."""
    said = b""
    with suppress(ConnectionResetError):
        while data := line.recv(65536):
            said += data
    return said


def answer(line: socket.socket) -> bytes:
    """One answer with its body."""
    said = b""
    while b"\r\n\r\n" not in said:
        data = line.recv(65536)
        assert data, said
        said += data
    begun, _, body = said.partition(b"\r\n\r\n")
    length = next(int(row.split(b":")[1]) for row in begun.split(b"\r\n") if row.lower().startswith(b"content-length:"))
    while len(body) < length:
        data = line.recv(65536)
        assert data, said
        body += data
    return begun.split(b"\r\n")[0] + b" " + body


def trickle(line: socket.socket, data: Iterable[bytes], pause: float = 0.05) -> bytes:
    """Send piece after piece until the collector closes; what it said."""
    said, ends = b"", time.monotonic() + 60
    for piece in data:
        assert time.monotonic() < ends, "the collector waits for ever"
        try:
            line.sendall(piece)
            ready, _, _ = select.select([line], [], [], pause)
            if ready:
                data_read = line.recv(65536)
                if not data_read:
                    return said
                said += data_read
        except OSError:
            return said
    raise AssertionError("the collector took all of it")


def open_lines(lines: list[socket.socket]) -> list[socket.socket]:
    """Those that the collector has not closed; what it said is read and thrown away."""
    still = list(lines)
    while True:
        ready, _, _ = select.select(still, [], [], 0)
        if not ready:
            return still
        for line in ready:
            try:
                gone = not line.recv(65536)
            except OSError:
                gone = True
            if gone:
                still.remove(line)
