"""One HTTP connection whose client may not take as long as it likes."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any, Literal

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import get_remote_addr

from deniable.collector.addresses import Proxies, source_of
from deniable.collector.connections import Connection, Connections, Waiting
from deniable.collector.shortcut import Shortcut
from deniable.surveys import is_loopback

WHOLE = "deniable.whole"
"""The extension of a request's scope that writes a whole answer at once."""
LAST_WORDS = 1.0
"""Seconds to read a last answer before the connection is cut."""


def _answer(status: str, why: str, more: str = "") -> bytes:
    body = f'{{"error":"{why}"}}'
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{more}"
    return f"{head}\r\n{body}".encode()


TOO_LATE = _answer("408 Request Timeout", "the body took too long to arrive")
TOO_LONG = _answer("431 Request Header Fields Too Large", "the head of the request is too long")
FULL = _answer("503 Service Unavailable", "busy; come back later with the same key", "retry-after: 1\r\n")


async def _too_many(_: Scope, __: Receive, send: Send) -> None:
    """The answer to a proxied client with too many requests under way."""
    body = b'{"error":"too many requests at once from this address; come back later with the same key"}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"retry-after", b"1")]
    await send({"type": "http.response.start", "status": 429, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})


async def _too_long(_: Scope, __: Receive, send: Send) -> None:
    """The answer to a head that is too long, when all of it came at once."""
    body = TOO_LONG.partition(b"\r\n\r\n")[2]
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 431, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class BoundedProtocol(HttpToolsProtocol, Connection):
    """Uvicorn's protocol, which tells the table at every moment what its client is waited for.

    A wait begins when the last one ended, not when the last bytes came: a byte now and then buys no time. The body's
    deadline holds on every path, whether a handler reads the body, has answered before it came, or never asks for it.
    """

    def __init__(
        self,
        table: Connections,
        proxies: Proxies,
        only_proxies: bool = False,
        shortcut: Shortcut | None = None,
        **uvicorn: Any,
    ) -> None:
        super().__init__(**uvicorn)
        self.table = table
        self.proxies = proxies
        self.only_proxies = only_proxies
        self.shortcut = None if self.config.access_log else shortcut
        self.before: Connection | None = None
        self._proxied = False
        self._arriving: Waiting | None = Waiting.HEAD
        self._request = 0
        self._told: tuple[Waiting | None, int] = (Waiting.HEAD, 0)
        self._unanswered = 0
        self._bytes = 0
        self._head = 0
        self._stuck = False
        self._over = False
        self._answering: RequestResponseCycle | None = None
        self._short: RequestResponseCycle | None = None
        self._began = 0.0
        self._usual_app = self.app
        self._scheme: Literal["http", "https"] = "http" if self.config.ssl is None else "https"
        self._extensions: dict[str, dict[object, object]] = {WHOLE: {"write": self._whole}}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, or be turned away."""
        # Uvicorn's own would also ask the system for this end's address, which nobody here wants to know.
        self.connections.add(self)
        self.transport = transport
        self.flow = FlowControl(transport)
        self.client = get_remote_addr(transport)
        self.scheme = self._scheme
        if self.before is not None:
            self.table.leave(self.before)
            self.before = None
        host = self.client[0] if self.client else ""
        self._proxied = self.proxies.trust(host)
        if self.only_proxies and not self._proxied and not is_loopback(host):
            self._end(None)
            return
        source = None if self._proxied else host if ":" not in host else source_of(host)
        if not self.table.admit(self, source, Waiting.HEAD):
            self._end(FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._over = True
        self._gone()
        self.table.leave(self)
        super().connection_lost(exc)
        # Nothing may point back here: the interpreter rarely looks for circles, and thousands of closed connections would stay.
        self._extensions.clear()
        self.cycle = self._answering = self._short = None  # type: ignore[assignment]  # uvicorn begins with None, too

    def eof_received(self) -> None:
        """The client is gone; nothing is written to it any more."""
        self._gone()

    def data_received(self, data: bytes) -> None:
        """Some bytes; what they complete is noted when all of them are read."""
        if self._over:
            return
        if self._arriving is None:
            self._arriving, self._bytes = Waiting.HEAD, 0
        self._bytes += len(data)
        super().data_received(data)
        if self._over:
            return
        if self._short is not None and not self._short.more_body:
            self._go_short(self._short)
        limits = self.table.limits
        if len(self.pipeline) > limits.requests_ahead:
            self._end(None)
        elif self._arriving is Waiting.HEAD and self._bytes > limits.head_bytes:
            self._end(None if self._unanswered else TOO_LONG)
        elif self._bytes > limits.batch_bytes + limits.head_bytes + (1 << 20):
            self._end(None)  # no handler reads as much as this
        else:
            self._tell()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._arriving, self._head = Waiting.HEAD, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A piece of the address."""
        self._head += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header; those behind a body are not wanted, and those beyond the limit are not kept."""
        self._head += len(name) + len(value) + len(b": \r\n")
        if self._head > self.table.limits.head_bytes:
            if self._arriving is Waiting.BODY and not self._over:
                self._end(None)
        elif self._arriving is Waiting.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is here; who sends it is known now, if a proxy says so."""
        if len(self.pipeline) > self.table.limits.requests_ahead:
            return  # nothing more is read from this client
        self._arriving, self._bytes = Waiting.BODY, 0
        self._request += 1
        self._unanswered += 1
        self.app = self._usual_app
        self.scope["extensions"] = self._extensions
        if self._head > self.table.limits.head_bytes:
            self.app = _too_long  # one packet may hold all of it
        elif self._proxied:
            source = self.proxies.client_of(self.headers)
            if source is not None and self.client is not None:
                self.scope["client"] = (source, 0)
            if not self.table.assign(self, source):
                self.app = _too_many
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of the body; not of a request that is not taken."""
        if len(self.pipeline) <= self.table.limits.requests_ahead:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is here, all of it."""
        self._arriving, self._bytes = None, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Answered; the next request is waited for."""
        self._unanswered -= 1
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        # Uvicorn's own would also set a timer for whoever asks for nothing more; the table has one for all.
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        if not self._over:
            if self._proxied and not self._unanswered:
                self.table.assign(self, None)
            if self.pipeline:
                self.flow.pause_reading()  # what was sent ahead is answered before more is read
            self._tell()

    def pause_writing(self) -> None:
        """The client does not read what is written."""
        super().pause_writing()
        self._stuck = True
        self._tell()

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        self._stuck = False
        if not self._over:
            self._tell()

    def drop(self, late: Waiting | None) -> None:
        """End the connection; whoever is late with a body is told so."""
        alone = self._unanswered == 1 and not self.cycle.response_started
        self._end(TOO_LATE if late is Waiting.BODY and alone else None)

    def _tell(self) -> None:
        """Let the table know what is waited for, if that is something new."""
        if self._over:
            return
        if self._stuck or self.transport.is_closing():
            state: tuple[Waiting | None, int] = (Waiting.ANSWER, 0)
        elif self._arriving is not None:
            state = (self._arriving, self._request)
        else:
            state = (None if self._unanswered else Waiting.IDLE, self._request)
        if state != self._told:
            self._told = state
            self.table.wait(self, state[0])

    def _whole(self, head: bytes, body: bytes) -> bool:
        """Write an answer at once: its head and its body apart would cost the system twice. False when it must go the usual way."""
        cycle = self._answering
        if cycle is None or cycle.response_started or self.config.access_log or self._stuck:
            return False
        self._write(cycle, head, body)
        return True

    def _write(self, cycle: RequestResponseCycle, head: bytes, body: bytes) -> None:
        if not cycle.disconnected:
            cycle.response_started = cycle.response_complete = True
            cycle.message_event.set()
            self.transport.write(head + (b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n") + body)
            if not cycle.keep_alive:
                self.transport.close()
            cycle.on_response()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        # Of requests that were sent ahead only the last can still be arriving.
        arrives = cycle is self.cycle and self._arriving is Waiting.BODY and app is self._usual_app
        if arrives and self.shortcut is not None and self.shortcut.takes(cycle.scope):
            self._short, self._began = cycle, time.monotonic()
        else:
            super()._start_asgi_task(cycle, app)

    def _go_short(self, cycle: RequestResponseCycle) -> None:
        """The body of a submission is here."""
        self._short = None
        if self.shortcut is None or not self.shortcut.begin(
            cycle.scope["path"], bytes(cycle.body), self._began, partial(self._write, cycle)
        ):
            super()._start_asgi_task(cycle, self._usual_app)

    def _gone(self) -> None:
        """The application learns now that nobody listens, not when the transport has closed: until then it would still write.

        `cycle` is the last request that was read. With several in a row, the one that is being answered is another one, and
        those in between are never begun.
        """
        self.pipeline.clear()
        for cycle in (self._answering, self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def _end(self, words: bytes | None) -> None:
        self._over = True
        self._gone()
        self.table.leave(self)
        if words is None or self.transport.is_closing():
            self.transport.abort()
            return
        self.transport.write(words)
        self.transport.close()
        self.loop.call_later(LAST_WORDS, self.transport.abort)
