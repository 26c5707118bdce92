"""Single submissions from the connection to the writer and back, with no task and no messages in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT

from deniable.collector.holding import Busy, Outcome
from deniable.collector.messages import ENCODER, Accepted, Problem, Refusal, read_single
from deniable.collector.state import State, current_period
from deniable.collector.submitting import arrival_of

START, SINGLES = "/v1/surveys/", "/submissions"
HASH = slice(len(START), len(START) + 64)
UNUSUAL = {b"content-encoding", b"authorization", b"transfer-encoding", b"expect"}
_LAYERED = {*UNUSUAL, b"origin"}
"""A page of another origin needs headers that the framework's layers add."""

Reply = Callable[[bytes, bytes], None]
"""Writes the head of an answer, but for the line that ends it, and its body."""


class Shortcut:
    """Answers a plain POST of one submission as `submit_one` does; everything else is left to the application.

    Plain means: without a token, not compressed, from no other page, of a stated length that the connection takes whole.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self._most = min(HIGH_WATER_LIMIT, state.limits.single_bytes)

    def takes(self, scope: Mapping[str, Any]) -> bool:
        """Is this the head of a plain submission?"""
        path: str = scope["path"]
        if scope["method"] != "POST" or path[HASH.stop :] != SINGLES or not path.startswith(START):
            return False
        given = dict(scope["headers"])
        length = given.get(b"content-length", b"")
        if self.state.submit_needs_token or not _LAYERED.isdisjoint(given):
            return False
        return 0 < len(length) <= len(str(self._most)) and int(length) <= self._most

    def begin(self, path: str, body: bytes, began: float, reply: Reply) -> bool:
        """Count the submission and reply when that is durable; False leaves it to the application."""
        state = self.state
        survey = state.at_hand(path[HASH])
        if survey is None:
            return False  # the database has to be asked
        state.pulse.requests += 1
        try:
            state.take(counts=True)
            state.refuse_closed(survey)
            arrival = arrival_of(survey, read_single(body), current_period(survey))
            state.writer.submit([arrival], asyncio.get_running_loop(), partial(self._counted, began, reply))
        except Refusal as refusal:
            self._answer(began, reply, refusal.status, ENCODER.encode(Problem(refusal.why)))
        except Busy as busy:
            self._counted(began, reply, busy)
        return True

    def _counted(self, began: float, reply: Reply, outcome: Outcome) -> None:
        if isinstance(outcome, Busy):
            self._answer(began, reply, 503, ENCODER.encode(Problem(outcome.why)))
        else:
            self._answer(began, reply, 200, NEW if outcome[0] else KNOWN)

    def _answer(self, began: float, reply: Reply, status: int, body: bytes) -> None:
        self.state.pulse.requests -= 1
        self.state.requests.answered(status, time.monotonic() - began)
        reply(head_of(status, len(body)), body)


NEW, KNOWN = ENCODER.encode(Accepted(1, 0)), ENCODER.encode(Accepted(0, 1))


@lru_cache(maxsize=256)
def head_of(status: int, length: int) -> bytes:
    """The head of an answer in JSON, but for the line that ends it."""
    later = "retry-after: 1\r\n" if status in (429, 503) else ""
    first = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    return f"{first}content-type: application/json\r\ncontent-length: {length}\r\n{later}".encode()
