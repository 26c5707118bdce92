"""The relay: knows who sends and passes on what it cannot read. It stores nothing and logs nothing."""

from __future__ import annotations

import asyncio
import ssl
import time
import urllib.parse
from collections import deque
from dataclasses import dataclass, field

from starlette.types import Receive, Scope, Send

from deniable.collector.gateway import KEYS_PATH, MOST_BYTES, PATH, answer, problem, whole_body
from deniable.collector.origins import for_any_page, preflight
from deniable.errors import InvalidParameter
from deniable.privacy import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE
from deniable.surveys import checked_url

ANSWER_SECONDS = 20.0
KEYS_SECONDS = 60.0
"""How long the gateway's keys are handed out before they are fetched again: everyone gets the same ones."""
IDLE_CONNECTIONS = 64
_HEAD = 1 << 14


class Unreachable(Exception):
    """The gateway did not answer."""


@dataclass
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def exchange(self, request: bytes) -> tuple[int, bytes, bytes, bool]:
        """Status, content type, body, and whether the connection can be used again."""
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        status = int(head[0].split(b" ", 2)[1])
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in head[1:])}
        length = int(headers[b"content-length"])
        if length > 2 * MOST_BYTES:
            raise Unreachable
        body = await self.reader.readexactly(length)
        return status, headers.get(b"content-type", b""), body, headers.get(b"connection", b"").lower() != b"close"


@dataclass
class Upstream:
    """Kept connections to one gateway."""

    gateway: str
    context: ssl.SSLContext | None = None
    _idle: deque[_Connection] = field(default_factory=deque, init=False)

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(checked_url(self.gateway))
        if parts.username or parts.query or parts.fragment:
            raise InvalidParameter("the gateway's address has no user, query or fragment")
        self._host, self._secure = str(parts.hostname), parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._authority, self._base = parts.netloc, parts.path.rstrip("/")
        if self._secure and self.context is None:
            self.context = ssl.create_default_context()

    async def post(self, body: bytes) -> tuple[int, bytes, bytes]:
        """Hand over one encapsulated request. Nothing of the sender's own request goes with it."""
        head = f"POST {self._base}{PATH} HTTP/1.1\r\nHost: {self._authority}\r\nContent-Type: {REQUEST_TYPE}\r\n"
        return await self._exchange(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def keys(self) -> tuple[int, bytes, bytes]:
        """The gateway's keys."""
        return await self._exchange(f"GET {self._base}{KEYS_PATH} HTTP/1.1\r\nHost: {self._authority}\r\n\r\n".encode())

    async def _exchange(self, request: bytes) -> tuple[int, bytes, bytes]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while self._idle:
                    kept = self._idle.pop()
                    try:
                        return await self._over(kept, request)
                    except (OSError, asyncio.IncompleteReadError):
                        continue  # it was closed while nobody used it; a request carries its own key and counts once
                streams = await asyncio.open_connection(self._host, self._port, ssl=self.context, limit=_HEAD)
                return await self._over(_Connection(*streams), request)
        except (OSError, TimeoutError, ValueError, KeyError, IndexError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise Unreachable from None

    async def _over(self, connection: _Connection, request: bytes) -> tuple[int, bytes, bytes]:
        reusable = False
        try:
            status, kind, body, reusable = await connection.exchange(request)
        finally:
            if reusable and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
            else:
                connection.writer.close()
        return status, kind, body

    def close(self) -> None:
        """Let go of every kept connection."""
        while self._idle:
            self._idle.pop().writer.close()


class Relay:
    """An ASGI application: POST / and GET /ohttp-keys."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._keys: tuple[float, bytes] | None = None
        self._asking = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on one request."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return

        to_page = for_any_page(send)
        try:
            if scope["method"] == "POST" and scope["path"] == "/":
                await self._pass_on(scope, receive, to_page)
            elif scope["method"] == "GET" and scope["path"] == KEYS_PATH:
                await answer(to_page, 200, await self._gateway_keys(), KEYS_TYPE)
            elif scope["method"] == "OPTIONS" and scope["path"] in ("/", KEYS_PATH):
                await preflight(send, b"content-type")
            else:
                await problem(to_page, 404, f"a relay takes {REQUEST_TYPE} at / and gives out keys at {KEYS_PATH}")
        except Unreachable:
            await problem(to_page, 502, "the gateway cannot be reached; come back later")

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        if dict(scope["headers"]).get(b"content-type") != REQUEST_TYPE.encode():
            await problem(send, 415, f"content-type must be {REQUEST_TYPE}")
            return
        body = await whole_body(receive)
        if body is None:
            await problem(send, 413, f"an encapsulated request may have at most {MOST_BYTES} bytes")
            return
        status, kind, reply = await self.upstream.post(body)
        if status == 200 and kind == RESPONSE_TYPE.encode():
            await answer(send, 200, reply, RESPONSE_TYPE)
        elif 400 <= status < 500:
            self._keys = None  # perhaps the gateway has new ones
            await answer(send, status, reply, "application/problem+json")
        else:
            raise Unreachable

    async def _gateway_keys(self) -> bytes:
        async with self._asking:
            if self._keys is None or time.monotonic() - self._keys[0] > KEYS_SECONDS:
                status, kind, data = await self.upstream.keys()
                if status != 200 or kind != KEYS_TYPE.encode():
                    raise Unreachable
                self._keys = time.monotonic(), data
            return self._keys[1]

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                self.upstream.close()
                await send({"type": "lifespan.shutdown.complete"})
                return
