"""The shuffler: holds sealed reports until enough are there, and passes them on in random order. It cannot read them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.types import Receive, Scope, Send

from deniable.collector.failures import LOGGER
from deniable.collector.gateway import answer, problem, whole_body
from deniable.collector.messages import Refusal
from deniable.collector.mixing import NEW, SPENT, Batch, Mixing, Sealed
from deniable.collector.spending import AGAIN, nonce_of, token_from_header
from deniable.core import Report, encode_report
from deniable.errors import InvalidParameter, NotDelivered
from deniable.privacy import SEALED_OVERHEAD, SEALED_TYPE, SHUFFLED_TYPE, join_records
from deniable.surveys import KEY_BYTES, Survey, Transport

TIDY_SECONDS = 2.0
LOOK_SECONDS = 0.2
LONGEST_PAUSE = 30.0
MOST_WAITING = 4096
"""Requests that may wait for the disk; more are told to come back."""


@dataclass(frozen=True)
class Destination:
    """A survey, and where its reports go."""

    survey: Survey
    collector: str

    @property
    def url(self) -> str:
        """Where shuffled reports are posted."""
        return f"{self.collector.rstrip('/')}/v1/surveys/{self.survey.hash}/shuffled"

    @property
    def sealed_bytes(self) -> int:
        """How long every sealed report of this survey is."""
        mechanism = self.survey.mechanism
        return len(encode_report(mechanism, Report(mechanism.fingerprint, 0))) + SEALED_OVERHEAD


@dataclass
class _Waiting:
    survey: str
    arrival: Sealed
    outcome: asyncio.Future[str]


@dataclass
class Shuffler:
    """An ASGI application: GET /v1/surveys/{hash} and POST /v1/surveys/{hash}/sealed; forwards in the background.

    `at_least` is the operator's own limit: no batch is smaller than that, whatever a survey says.
    """

    mixing: Mixing
    destinations: Mapping[str, Destination]
    carrier: Transport
    at_least: int = 2
    _waiting: list[_Waiting] = field(default_factory=list, init=False)
    _wake: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list, init=False)
    _closed: set[str] = field(default_factory=set, init=False)
    """Surveys whose collector takes nothing more, as far as is known."""

    def __post_init__(self) -> None:
        for destination in self.destinations.values():
            if destination.survey.shuffle is None:
                raise InvalidParameter(
                    f"the survey {destination.survey.title!r} has no [shuffle]; its reports go straight to its collector"
                )
            self.mixing.open(destination.survey.hash)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        parts = scope["path"].split("/")
        destination = self.destinations.get(parts[3]) if parts[:3] == ["", "v1", "surveys"] and len(parts) in (4, 5) else None
        if scope["path"] == "/livez":
            await answer(send, 200, b'{"status":"ok"}', "application/json")
        elif destination is None:
            await problem(send, 404, "this shuffler does not serve such a survey")
        elif scope["method"] == "GET" and len(parts) == 4:
            await answer(send, 200, destination.survey.to_json(), "application/json")
        elif scope["method"] == "POST" and parts[4:] == ["sealed"]:
            try:
                await self._take(destination, dict(scope["headers"]), receive, send)
            except Refusal as refusal:
                await problem(send, refusal.status, refusal.why)
        else:
            await problem(send, 404, "a shuffler gives out surveys and takes sealed reports, nothing else")

    async def _take(self, destination: Destination, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        if destination.survey.hash in self._closed:
            raise Refusal(410, "the survey is closed")
        if headers.get(b"content-type") != SEALED_TYPE.encode():
            raise Refusal(415, f"content-type must be {SEALED_TYPE}")
        body = await whole_body(receive)
        if body is None or len(body) != KEY_BYTES + destination.sealed_bytes:
            raise Refusal(400, f"a sealed report of this survey has {KEY_BYTES + destination.sealed_bytes} bytes with its key")
        token = token_from_header(headers.get(b"authorization", b"").decode("latin-1") or None)
        nonce = nonce_of(destination.survey, token)
        key, sealed = body[:KEY_BYTES], body[KEY_BYTES:]
        if len(self._waiting) >= MOST_WAITING:
            raise Refusal(503, "busy; come back later with the same report")
        outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        record = key + (token or b"") + sealed
        self._waiting.append(_Waiting(destination.survey.hash, Sealed(key, nonce or key, record), outcome))
        self._wake.set()
        what = await outcome
        if what == SPENT:
            raise Refusal(409, AGAIN)
        counts = {"accepted": int(what == NEW), "known": int(what != NEW)}
        await answer(send, 200, json.dumps(counts).encode(), "application/json")

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._forward())]
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(self.mixing.close)
        await send({"type": "lifespan.shutdown.complete"})

    async def _write(self) -> None:
        """Whatever arrived while the last transaction was written goes into the next one."""
        tidied = time.monotonic()
        untidy = True
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), TIDY_SECONDS)
            self._wake.clear()
            group, self._waiting = self._waiting, []
            for survey in {item.survey for item in group}:
                mine = [item for item in group if item.survey == survey]
                await self._written(survey, mine)
                untidy = True
            if untidy and time.monotonic() - tidied >= TIDY_SECONDS:
                await asyncio.to_thread(self.mixing.tidy)
                tidied, untidy = time.monotonic(), False

    async def _written(self, survey: str, items: list[_Waiting]) -> None:
        try:
            outcomes = await asyncio.to_thread(self.mixing.add, survey, [item.arrival for item in items])
        except Exception as error:  # a full disk: nobody is told that it was taken
            LOGGER.error("the shuffler's file cannot be written: %s", type(error).__name__)
            for item in items:
                item.outcome.set_exception(Refusal(503, "the shuffler cannot write now; come back later with the same report"))
            return
        for item, outcome in zip(items, outcomes, strict=True):
            if not item.outcome.done():
                item.outcome.set_result(outcome)

    async def _forward(self) -> None:
        """One survey after the other; those whose collector does not take reports now rest, longer each time."""
        pauses: dict[str, float] = {}
        until: dict[str, float] = {}
        while True:
            worked = False
            for survey in self.destinations:
                if time.monotonic() < until.get(survey, 0.0):
                    continue
                try:
                    worked = await asyncio.to_thread(self.forward, survey) or worked
                    pauses.pop(survey, None)
                except NotDelivered as error:
                    pauses[survey] = min(2 * pauses.get(survey, LOOK_SECONDS), LONGEST_PAUSE)
                    until[survey] = time.monotonic() + pauses[survey]
                    LOGGER.warning("shuffled reports wait for the collector: %s", error)
            if not worked:
                await asyncio.sleep(LOOK_SECONDS)

    def forward(self, only: str | None = None, *, now: float | None = None) -> bool:
        """Close the batches that are ready, and hand over one chunk; False when there was none. Raises NotDelivered.

        `only` names the survey that is looked at, by its hash.
        """
        chosen = self.destinations if only is None else {only: self.destinations[only]}
        for destination in chosen.values():
            shuffle = destination.survey.shuffle
            assert shuffle is not None
            fewest = max(shuffle.reports, self.at_least)
            self.mixing.release(destination.survey.hash, at_least=fewest, seconds=60.0 * shuffle.minutes, now=now)
        for batch in self.mixing.sending():
            if batch.survey in chosen:
                self._hand_over(batch)
                return True
        return False

    def _hand_over(self, batch: Batch) -> None:
        records = self.mixing.chunk(batch)
        status, _ = self.carrier.post(self.destinations[batch.survey].url, join_records(records), SHUFFLED_TYPE)
        if status == 410:
            self._closed.add(batch.survey)
            raise NotDelivered("the survey is closed; its reports wait until it is opened again")
        if status != 200:
            raise NotDelivered(f"the collector does not take them now (status {status})")
        self._closed.discard(batch.survey)
        # A crash before this line sends them again, under the same keys: they count once.
        self.mixing.acknowledged(batch, len(records))
