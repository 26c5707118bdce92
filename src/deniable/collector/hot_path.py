"""Single submissions without the framework's detours: they are nearly all of a collector's requests."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deniable.collector.messages import ENCODER, Accepted, Problem, Refusal, read_single
from deniable.collector.schema import reason
from deniable.collector.state import State, current_period
from deniable.collector.submitting import arrival_of, count_now

START, END = "/v1/surveys/", "/submissions"
LENGTH = len(START) + 64 + len(END)
UNUSUAL = {b"content-encoding", b"authorization", b"transfer-encoding", b"expect"}
AWAY = "the database does not answer; come back later with the same key"
HEADERS = [(b"content-type", b"application/json")]


class HotPath:
    """Answers a plain POST of one submission itself, and leaves everything else to the application.

    Plain means: no token, no compression, the whole body in one piece. What it does then is what `submit_one` does.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self.state.pulse.requests += 1
        try:
            await self._answered(scope, receive, send, time.monotonic())
        finally:
            self.state.pulse.requests -= 1

    async def _answered(self, scope: Scope, receive: Receive, send: Send, began: float) -> None:
        if not self._is_plain(scope):
            await self.app(scope, receive, self._measured(send, began))
            return
        first = await receive()
        if first["type"] != "http.request":
            return  # the client is gone, or its body was late
        if first.get("more_body"):
            await self.app(scope, _replayed(first, receive), self._measured(send, began))
            return
        try:
            status, answer = 200, await self._submitted(scope["path"][len(START) : len(START) + 64], first["body"])
        except Refusal as refusal:
            status, answer = refusal.status, ENCODER.encode(Problem(refusal.why))
        except SQLAlchemyError as error:
            self.state.catalog.failures.failed(reason(error))
            status, answer = 503, ENCODER.encode(Problem(AWAY))
        headers = [*HEADERS, (b"content-length", str(len(answer)).encode())]
        if status in (429, 503):
            headers.append((b"retry-after", b"1"))
        self.state.requests.answered(status, time.monotonic() - began)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def _measured(self, send: Send, began: float) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.state.requests.answered(message["status"], time.monotonic() - began)
            await send(message)

        return sent

    def _is_plain(self, scope: Scope) -> bool:
        if scope["method"] != "POST" or self.state.submit_needs_token:
            return False
        path: str = scope["path"]
        if len(path) != LENGTH or not path.startswith(START) or not path.endswith(END):
            return False
        return UNUSUAL.isdisjoint(name for name, _ in scope["headers"])

    async def _submitted(self, survey_hash: str, body: bytes) -> bytes:
        state = self.state
        state.take()
        survey = await state.survey(survey_hash, open_only=True)
        if len(body) > state.limits.single_bytes:
            raise Refusal(413, f"the body may have at most {state.limits.single_bytes} bytes")
        accepted, known = await count_now(state, [arrival_of(survey, read_single(body), current_period(survey))])
        return NEW if accepted == 1 else ENCODER.encode(Accepted(accepted, known))


NEW = ENCODER.encode(Accepted(1, 0))


def _replayed(first: Message, receive: Receive) -> Receive:
    """A `receive` that begins with a message that was already taken."""
    waiting: list[Any] = [first]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
