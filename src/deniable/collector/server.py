"""Running the application: sockets, workers, time-outs, a clean end."""

from __future__ import annotations

import gc
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from deniable.collector.addresses import Proxies
from deniable.collector.app import make_app
from deniable.collector.connections import Connections
from deniable.collector.deadlines import end_threads
from deniable.collector.failures import LOGGER
from deniable.collector.gateway import gateway_keys
from deniable.collector.limits import Limits
from deniable.collector.logs import logging_of
from deniable.collector.protocol import BoundedProtocol
from deniable.collector.relay import Relay, Upstream
from deniable.collector.shortcut import Shortcut
from deniable.collector.store import Store
from deniable.collector.tls import TlsServer, read_again, unreadable
from deniable.collector.workers import GRACE_SECONDS, PARENT
from deniable.errors import InvalidParameter
from deniable.surveys import trusting

SPARE_FILES = 128
"""Open files that are not connections: the database, logs, and new connections before the slowest is closed."""
BACKLOG = 1 << 16
"""Connections that may wait to be taken; the system allows as many as net.core.somaxconn says.

A client whose connection finds no place there hears nothing and tries again after 1, 3 and 7 seconds: better taken, and told
to come back."""
SWITCH_SECONDS = 5e-4
OBJECTS_BETWEEN_LOOKS = 100_000
"""New objects, less those that are gone, before the interpreter looks for garbage."""
THREADS_SECONDS = 1.0
"""How long the end of the process waits for threads that still work on something."""


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
    log: str = "text"
    """The form of log lines: text or json. JSON lines never name an address."""
    gateway_keys: str | None = None
    """A file with the keys of requests that come through a relay; without one there is no gateway."""
    analyst_key: str | None = None
    """A file with the key that shuffled reports are sealed with; without one none are taken."""
    proxies: Proxies = Proxies()
    """The proxies in front. When there are some and this is plain HTTP, nobody else is answered but this machine."""
    limits: Limits = field(default_factory=Limits)
    pages: Callable[[], list[Any]] = list


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        why = f"port {port} of {host} cannot be used: {error.strerror}"
        raise InvalidParameter(f"{why}; --port takes another one, and --port 0 any free one") from None
    listening.listen(BACKLOG)
    return listening


def serve(serving: Serving, listening: socket.socket, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serve in this process until a signal ends it; what is waiting is written and answered first.

    The process then ends even if a thread still works on estimates, which may take minutes when it compiles for the first time:
    everything that was acknowledged is on disk, and nobody waits for the rest.
    """
    server = make_server(serving, ready)
    # What is loaded now stays: to look through it again for garbage would stop everyone while many are connected. So would
    # looking through the connections themselves every few hundred objects; what they leave behind goes without being looked for.
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_LOOKS)
    server.run(sockets=[listening])
    if _still_working():
        _leave()


def _still_working() -> bool:
    """Are there threads that the interpreter would wait for, without end?"""
    end_threads()
    patience = time.monotonic() + THREADS_SECONDS
    while any(not thread.daemon and thread is not threading.current_thread() for thread in threading.enumerate()):
        if time.monotonic() > patience:
            return True
        time.sleep(0.01)
    return False


def _leave() -> None:
    """End this process now, successfully."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def make_server(serving: Serving, ready: Callable[[], None]) -> uvicorn.Server:
    """A server that can be run, also in a thread; setting its `should_exit` ends it."""
    limits = _within_files(serving.limits)
    # The writer gives up the interpreter at every statement; it must not wait long to get it back from the event loop.
    sys.setswitchinterval(SWITCH_SECONDS)
    store = Store(serving.database)
    app = make_app(
        store,
        limits=limits,
        origins=serving.origins,
        submit_needs_token=serving.submit_needs_token,
        write_at_least=serving.write_at_least,
        pages=serving.pages(),
        gateway=None if serving.gateway_keys is None else gateway_keys(serving.gateway_keys),
        analyst=None if serving.analyst_key is None else gateway_keys(serving.analyst_key),
    )
    app.state.collector.connections = table = Connections(limits)
    return _bounded(app, serving, table, ready, Shortcut(app.state.collector))


def serve_relay(
    serving: Serving, gateway: str, listening: socket.socket, *, ca: str | None = None, ready: Callable[[], None] = lambda: None
) -> None:
    """Pass encapsulated requests on to a gateway until a signal ends it. `serving.database` is not used: nothing is stored."""
    serve_app(Relay(Upstream(gateway, None if ca is None else trusting(ca))), serving, listening, ready=ready)


def serve_app(app: ASGIApp, serving: Serving, listening: socket.socket, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serve another application, with a collector's deadlines and limits, until a signal ends it."""
    _bounded(app, serving, Connections(_within_files(serving.limits)), ready).run(sockets=[listening])


def _bounded(
    app: ASGIApp, serving: Serving, table: Connections, ready: Callable[[], None], shortcut: Shortcut | None = None
) -> uvicorn.Server:
    """A server whose every wait for a client has a deadline."""
    only_proxies = bool(serving.proxies.networks) and serving.certificate is None

    def protocol(**uvicorn: Any) -> BoundedProtocol:
        return BoundedProtocol(table, serving.proxies, only_proxies, shortcut, **uvicorn)

    config = uvicorn.Config(
        app,
        http=protocol,  # type: ignore[arg-type]  # called like the class
        loop="uvloop",
        ws="none",
        log_config=logging_of(access=serving.access_log, form=serving.log),
        access_log=serving.access_log,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.private_key,
    )
    return _Announcing(config, ready, table)


class _Announcing(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], table: Connections) -> None:
        super().__init__(config)
        self._ready = ready
        self._table = table
        self._tls: TlsServer | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the service in order, and that is success: it is not raised again afterwards."""
        if threading.current_thread() is not threading.main_thread():  # signals are for the main thread
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self.reload)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End; at once while the application still starts, which may take long: nothing was acknowledged yet."""
        if not self.started:
            _leave()
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Is it time to end? Also when whoever started this worker is gone: nobody could stop it, and it would keep the port."""
        parent = os.environ.get(PARENT)
        if parent is not None and os.getppid() != int(parent):
            return True
        return await super().on_tick(counter)

    def reload(self, *_: object) -> None:
        """Read the certificate and its key again; connections that are open keep theirs."""
        if self.config.ssl is None or self.config.ssl_certfile is None:
            return
        try:
            read_again(self.config.ssl, self.config.ssl_certfile, self.config.ssl_keyfile)
        except OSError as error:  # an SSLError is one
            LOGGER.error("the certificate was not read again, the one before is still used: %s", unreadable(error))
        else:
            LOGGER.warning("the certificate was read again")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        context = self.config.ssl
        if context is None:
            await super().startup(sockets)
        else:
            await super().startup([])  # accepts nothing; the application starts

            def make() -> BoundedProtocol:
                protocol = self.config.http_protocol_class
                return protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)  # type: ignore[call-arg,return-value]

            self._tls = TlsServer(context, self._table, make)
            for listening in sockets or []:
                self._tls.start(listening)
        if not self.should_exit:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._tls is not None:
            self._tls.close()
        await super().shutdown(sockets)


def _within_files(limits: Limits) -> Limits:
    """As many files as this process may open, and no more connections than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return replace(limits, connections=max(1, min(limits.connections, hard - SPARE_FILES)))
