"""The gateway inside the collector: opens what came through a relay, has it answered, closes the answer (RFC 9458)."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deniable.collector.protocol import WHOLE
from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy import (
    KEYS_TYPE,
    REQUEST_TYPE,
    RESPONSE_TYPE,
    GatewayKeys,
    HttpRequest,
    HttpResponse,
    UnknownKey,
    decode_request,
    encode_response,
    padded_size,
)

KEYS_PATH, PATH = "/ohttp-keys", "/ohttp"
MOST_BYTES = 1 << 18
_INSIDE = {
    b"GET": re.compile(rb"/v1/surveys/[0-9a-f]{64}\Z"),
    b"POST": re.compile(rb"/v1/surveys/[0-9a-f]{64}/(submissions|batches|sealed)\Z"),
}
"""What can be asked through a relay: a survey's document, and to count reports."""
_PASSED = {b"content-type", b"authorization"}
_NO_KEY = "https://iana.org/assignments/http-problem-types#ohttp-key"


class Gateway:
    """Answers encapsulated requests itself, from the application behind it, and leaves everything else to that application.

    What it passes on has no address, no headers but the content type and a token, and no connection of its own.
    """

    def __init__(self, app: ASGIApp, keys: GatewayKeys) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "http" and scope["path"] == KEYS_PATH and scope["method"] == "GET":
            await answer(send, 200, self.keys.published(), KEYS_TYPE)
        elif scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "POST":
            await self._encapsulated(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _encapsulated(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"])
        if given.get(b"content-type") != REQUEST_TYPE.encode():
            await problem(send, 415, f"content-type must be {REQUEST_TYPE}")
            return
        data = await whole_body(receive)
        if data is None:
            await problem(send, 413, f"an encapsulated request may have at most {MOST_BYTES} bytes")
            return
        try:
            received = self.keys.open(data)
            request = decode_request(received.message)
        except UnknownKey as error:
            await problem(send, 400, str(error), _NO_KEY)
            return
        except BadMessage as error:
            await problem(send, 400, str(error))
            return
        response = await self._inside(scope, request)
        reply = received.reply(_padded(response))
        # A page of another origin needs headers that the layers above add; a relay does not.
        write = None if b"origin" in given else scope.get("extensions", {}).get(WHOLE, {}).get("write")
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {RESPONSE_TYPE}\r\ncontent-length: {len(reply)}\r\ncache-control: no-store\r\n"
        if write is None or not write(head.encode(), reply):
            await answer(send, 200, reply, RESPONSE_TYPE)

    async def _inside(self, scope: Scope, request: HttpRequest) -> HttpResponse:
        allowed = _INSIDE.get(request.method)
        if allowed is None or not allowed.match(request.path):
            return HttpResponse(404, body=b'{"error":"through a relay, surveys can be fetched and reports submitted"}')
        inner: dict[str, Any] = {
            "type": "http",
            "asgi": scope["asgi"],
            "http_version": "1.1",
            "method": request.method.decode(),
            "scheme": "https",
            "path": request.path.decode(),
            "raw_path": request.path,
            "query_string": b"",
            "root_path": "",
            "headers": [
                *((name, value) for name, value in request.headers if name in _PASSED),
                (b"content-length", str(len(request.body)).encode()),
            ],
            "client": None,
            "server": None,
        }
        # Not the extensions: one of them writes to the connection, on which only what is encapsulated may go out.
        for shared in ("app", "state"):
            if shared in scope:
                inner[shared] = scope[shared]
        waiting: list[Message] = [{"type": "http.request", "body": request.body, "more_body": False}]
        sent: list[Message] = []

        async def receive() -> Message:
            return waiting.pop() if waiting else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(inner, receive, send)
        headers = tuple((name, value) for name, value in sent[0]["headers"] if name in (b"content-type", b"retry-after"))
        return HttpResponse(sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))


@lru_cache(maxsize=64)  # most answers say the same
def _padded(response: HttpResponse) -> bytes:
    return encode_response(response, padded_size(len(encode_response(response)) + 3))


async def whole_body(receive: Receive) -> bytes | None:
    """The body of a request, or None where it is too long or the client is gone."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BYTES:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


async def answer(send: Send, status: int, body: bytes, media_type: str) -> None:
    """Send a whole response that nobody may keep."""
    headers = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def problem(send: Send, status: int, why: str, kind: str = "about:blank") -> None:
    """Send why a request was refused (RFC 9457)."""
    body = json.dumps({"type": kind, "title": why}).encode()
    await answer(send, status, body, "application/problem+json")


def gateway_keys(path: str | os.PathLike[str], *, rotate: bool = False) -> GatewayKeys:
    """The keys in a file that only its owner can read, made if there is none; `rotate` puts a new one first."""
    file = Path(path)
    if file.exists():
        keys = _read(file)
        if not rotate:
            return keys
        keys = keys.rotated()
    else:
        keys = GatewayKeys({0: X25519PrivateKey.generate()})
    lines = "".join(f"{number} {key.private_bytes_raw().hex()}\n" for number, key in keys.keys.items())
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(lines)
            out.flush()
            os.fsync(out.fileno())
        temporary.rename(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return keys


def _read(file: Path) -> GatewayKeys:
    if file.stat().st_mode & 0o077:
        raise InvalidParameter(f"{file.name} holds private keys and others may read it; chmod 600 {file.name}")
    try:
        pairs = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
        return GatewayKeys({int(number): X25519PrivateKey.from_private_bytes(bytes.fromhex(key)) for number, key in pairs})
    except ValueError:
        raise InvalidParameter(f"{file.name} is not a file of gateway keys, as `deniable serve --gateway-keys` makes it") from None
