"""Submissions, and the survey they answer, without the framework's detours: they are nearly all of a collector's requests."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deniable.collector.messages import ENCODER, Accepted, Problem, Refusal, read_single
from deniable.collector.protocol import WHOLE
from deniable.collector.schema import reason
from deniable.collector.shortcut import HASH, NEW, SINGLES, START, UNUSUAL, head_of
from deniable.collector.state import State, current_period
from deniable.collector.submitting import arrival_of, batch_of, count_now
from deniable.surveys import BATCH_TYPE

ENDS = (SINGLES, "/batches")
FOR_EVER = (b"cache-control", b"public, max-age=31536000, immutable")
"""The address of a survey is the hash of its content."""
AWAY = "the database does not answer; come back later with the same key"


class HotPath:
    """Answers a plain GET of a survey and a plain POST of one submission or of a binary batch itself, where `Shortcut` did not.

    Plain means: no token, no compression, the whole body in one piece. What it does then is what `one_survey`, `submit_one`
    and `submit_batch` do. Everything else is left to the application.
    """

    def __init__(self, app: ASGIApp, state: State, origins: bool = False) -> None:
        self.app = app
        self.state = state
        self.origins = origins
        """May pages of other origins ask? Then caches have to keep their answers apart."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        pulse = self.state.pulse

        async def received() -> Message:
            pulse.requests -= 1  # now it is the client who is slow
            try:
                return await receive()
            finally:
                pulse.requests += 1

        pulse.requests += 1
        try:
            await self._answered(scope, received, send, time.monotonic())
        finally:
            pulse.requests -= 1

    async def _answered(self, scope: Scope, receive: Receive, send: Send, began: float) -> None:
        given = dict(scope["headers"])
        path: str = scope["path"]
        if not path.startswith(START) or not UNUSUAL.isdisjoint(given):
            plain = False
        elif scope["method"] == "GET":
            plain = len(path) == HASH.stop
        else:
            plain = scope["method"] == "POST" and self._is_submission(path, given)
        if not plain:
            await self.app(scope, receive, self._measured(send, began))
            return
        body = None
        if scope["method"] == "POST":
            first = await receive()
            if first["type"] != "http.request":
                return  # the client is gone, or its body was late
            if first.get("more_body"):
                await self.app(scope, _replayed(first, receive), self._measured(send, began))
                return
            body = first["body"]
        more: list[tuple[bytes, bytes]] = []
        try:
            self.state.take(counts=body is not None)
            if body is None:
                status, answer = 200, (await self.state.survey(path[HASH])).to_json()
                more.append(FOR_EVER)
            else:
                status, answer = 200, await self._submitted(path, body)
        except Refusal as refusal:
            status, answer = refusal.status, ENCODER.encode(Problem(refusal.why))
        except SQLAlchemyError as error:
            self.state.catalog.failures.failed(reason(error))
            status, answer = 503, ENCODER.encode(Problem(AWAY))
        self.state.requests.answered(status, time.monotonic() - began)
        # A page of another origin needs headers that the layers above add, and so does a cache that serves several pages.
        layered = b"origin" in given or (self.origins and body is None)
        write = None if layered else scope.get("extensions", {}).get(WHOLE, {}).get("write")
        head = head_of(status, len(answer))
        if write is None or not write(head + b"".join(b"%b: %b\r\n" % header for header in more), answer):
            named = [tuple(line.split(b": ")) for line in head.splitlines()[1:]]
            await send({"type": "http.response.start", "status": status, "headers": [*named, *more]})
            await send({"type": "http.response.body", "body": answer})

    def _measured(self, send: Send, began: float) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.state.requests.answered(message["status"], time.monotonic() - began)
            await send(message)

        return sent

    def _is_submission(self, path: str, headers: dict[bytes, bytes]) -> bool:
        """In one piece, and from anybody."""
        if self.state.submit_needs_token or path[HASH.stop :] not in ENDS:
            return False
        if len(headers.get(b"content-length", b"")) > len(str(self.state.limits.single_bytes)):
            return False  # refused before any of it is waited for, or not in one piece anyway
        return path.endswith(ENDS[0]) or headers.get(b"content-type") == BATCH_TYPE.encode()

    async def _submitted(self, path: str, body: bytes) -> bytes:
        state = self.state
        survey = await state.survey(path[HASH], open_only=True)
        single = path.endswith(ENDS[0])
        most = state.limits.single_bytes if single else state.limits.batch_bytes
        if len(body) > most:
            raise Refusal(413, f"the body may have at most {most} bytes")
        period = current_period(survey)
        arrival = arrival_of(survey, read_single(body), period) if single else batch_of(survey, body, period)
        accepted, known = await count_now(state, [arrival])
        return NEW if accepted == 1 else ENCODER.encode(Accepted(accepted, known))


def _replayed(first: Message, receive: Receive) -> Receive:
    """A `receive` that begins with a message that was already taken."""
    waiting: list[Any] = [first]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
