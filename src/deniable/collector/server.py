"""Running the application: sockets, workers, time-outs, a clean end."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deniable.collector.app import make_app
from deniable.collector.limits import Limits
from deniable.collector.store import Store
from deniable.errors import InvalidParameter

GRACE_SECONDS = 15
SWITCH_SECONDS = 5e-4


@dataclass(frozen=True)
class Serving:
    """Where and how to serve."""

    database: str
    host: str = "127.0.0.1"
    port: int = 8000
    origins: tuple[str, ...] = ()
    submit_needs_token: bool = False
    write_at_least: int = 1
    """Reports of a window that are written at once, at least; fewer wait in memory."""
    certificate: str | None = None
    private_key: str | None = None
    access_log: bool = False
    limits: Limits = field(default_factory=Limits)
    pages: Callable[[], list[Any]] = list


class PatientProtocol(HttpToolsProtocol):
    """A connection that sends no complete request head within `head_seconds` is closed."""

    head_seconds = Limits.head_seconds
    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._alarm = self.loop.call_later(self.head_seconds, self._too_slow)

    def on_headers_complete(self) -> None:
        """The head is here; from now on the body's own limit and the keep-alive limit count."""
        self._calm()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Over."""
        self._calm()
        super().connection_lost(exc)

    def _calm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _too_slow(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        why = f"port {port} of {host} cannot be used: {error.strerror}"
        raise InvalidParameter(f"{why}; --port takes another one, and --port 0 any free one") from None
    made.listen(2048)
    return made


def serve(serving: Serving, listening: socket.socket, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serve in this process until a signal ends it; what is waiting is written and answered first."""
    _allow_many_files()
    # The writer gives up the interpreter at every statement; it must not wait long to get it back from the event loop.
    sys.setswitchinterval(SWITCH_SECONDS)
    store = Store(serving.database)
    app = make_app(
        store,
        limits=serving.limits,
        origins=serving.origins,
        submit_needs_token=serving.submit_needs_token,
        write_at_least=serving.write_at_least,
        pages=serving.pages(),
    )
    protocol = type("Protocol", (PatientProtocol,), {"head_seconds": serving.limits.head_seconds})
    config = uvicorn.Config(
        app,
        http=protocol,
        loop="uvloop",
        ws="none",
        log_level="warning",
        access_log=serving.access_log,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=serving.limits.connections,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.private_key,
        h11_max_incomplete_event_size=1 << 14,
    )
    server = _Announcing(config, ready)
    server.run(sockets=[listening])


class _Announcing(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the service in order, and that is success: it is not raised again afterwards."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()


def _allow_many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def run_workers(command: list[str], count: int, listening: socket.socket) -> int:
    """Several worker processes on one socket; a worker that dies is started again; all end together."""
    listening.set_inheritable(True)
    environment = {**os.environ, "DENIABLE_SOCKET": str(listening.fileno())}

    def start() -> subprocess.Popen[bytes]:
        whole = [sys.executable, "-m", "deniable.cli", *command]
        return subprocess.Popen(whole, env=environment, pass_fds=[listening.fileno()])  # noqa: S603 - our own command again

    workers = [start() for _ in range(count)]
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        for worker in workers:
            worker.terminate()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    deaths = 0
    while not stopping:
        pid, _ = os.wait()
        if stopping:
            break
        for place, worker in enumerate(workers):
            if worker.pid == pid:
                worker.returncode = 1
                deaths += 1
                if deaths > 100 * count:
                    stop()
                else:
                    workers[place] = start()
    return max((worker.wait(GRACE_SECONDS + 5) or 0) for worker in workers)
