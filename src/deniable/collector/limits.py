"""What a request may cost: bytes, inflated bytes, seconds, connections, and requests per second."""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request

from deniable.collector.messages import Refusal


@dataclass(frozen=True)
class Limits:
    """The bounds of one collector."""

    single_bytes: int = 1 << 17
    batch_bytes: int = 1 << 24
    head_bytes: int = 1 << 14
    head_seconds: float = 10.0
    """How long a client may take for a TLS handshake, and then for the head of each request."""
    body_seconds: float = 30.0
    """How long it may take for a request's body."""
    idle_seconds: float = 15.0
    """How long it may keep a connection without a request."""
    answer_seconds: float = 60.0
    """How long it may leave an answer unread."""
    requests_per_second: float = 20_000.0
    token_requests_per_second: float = 2_000.0
    connections: int = 8_000
    connections_per_address: int = 256
    requests_ahead: int = 100
    """Requests that a client may send on one connection before the first of them is answered; each takes memory."""


async def body_of(request: Request, most: int) -> bytes:
    """The body, unzipped if it says so; refused as soon as it is too long. Its deadline is the connection's."""
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise Refusal(415, "content-encoding must be gzip or absent")
    stated = request.headers.get("content-length", "0")
    if not stated.isascii() or not stated.isdecimal() or int(stated[:20]) > most:
        raise Refusal(413, f"the body may have at most {most} bytes")
    inflate = zlib.decompressobj(wbits=31) if encoding == "gzip" else None
    parts: list[bytes] = []
    size = 0
    try:
        async for raw in request.stream():
            data = raw
            if inflate is not None:
                data = inflate.decompress(raw, most + 1 - size)
                if inflate.unconsumed_tail or inflate.unused_data:
                    raise Refusal(413, f"the body may inflate to at most {most} bytes, in one member")
            size += len(data)
            if size > most:
                raise Refusal(413, f"the body may have at most {most} bytes")
            parts.append(data)
    except ClientDisconnect:
        raise Refusal(400, "the connection was closed") from None
    except zlib.error:
        raise Refusal(400, "the body is not gzip") from None
    if inflate is not None and not inflate.eof:
        raise Refusal(400, "the gzip body is cut short")
    return b"".join(parts)


@dataclass
class Bucket:
    """A bucket that fills at `rate` per second, up to two seconds' worth; every request takes one."""

    rate: float
    level: float = field(init=False)
    when: float = field(init=False)

    def __post_init__(self) -> None:
        self.level = 2 * self.rate
        self.when = time.monotonic()

    def take(self) -> None:
        """Take one, or refuse."""
        now = time.monotonic()
        self.level = min(2 * self.rate, self.level + (now - self.when) * self.rate)
        self.when = now
        if self.level < 1:
            raise Refusal(429, "too many requests; come back later with the same key", retry_after=1)
        self.level -= 1
