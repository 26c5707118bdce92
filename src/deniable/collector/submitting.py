"""The handlers that count: one submission, several in JSON, or a binary batch."""

from __future__ import annotations

import binascii

from starlette.requests import Request
from starlette.responses import Response

from deniable.batch import Reports
from deniable.collector.deadlines import off_loop
from deniable.collector.holding import Busy
from deniable.collector.limits import body_of
from deniable.collector.messages import ENCODER, Accepted, Refusal, SubmissionMessage, read_several, read_single
from deniable.collector.spending import AGAIN, nonce_of, token_from_header
from deniable.collector.state import State, current_period
from deniable.collector.store import Arrival
from deniable.core import decode_report
from deniable.errors import WireError
from deniable.surveys import BATCH_TYPE, Survey, decode_batch


async def submit_one(request: Request) -> Response:
    """POST /v1/surveys/{hash}/submissions."""
    state, survey = await _admitted(request)
    body = await body_of(request, state.limits.single_bytes)
    token = token_from_header(request.headers.get("authorization"))
    arrival = arrival_of(survey, read_single(body), current_period(survey), token)
    answer = await _counted(state, [arrival])
    if arrival.nonce is not None:
        await refuse_spent(state, arrival)
    return answer


async def submit_batch(request: Request) -> Response:
    """POST /v1/surveys/{hash}/batches."""
    state, survey = await _admitted(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", BATCH_TYPE):
        raise Refusal(415, f"content-type must be application/json or {BATCH_TYPE}")
    body = await body_of(request, state.limits.batch_bytes)
    period = current_period(survey)
    if kind == BATCH_TYPE:
        return await _counted(state, [batch_of(survey, body, period)])
    arrivals = [arrival_of(survey, message, period) for message in read_several(body)]
    if len({arrival.key for arrival in arrivals}) != len(arrivals):
        raise Refusal(400, "a key occurs twice in one request")
    return await _counted(state, arrivals)


async def _admitted(request: Request) -> tuple[State, Survey]:
    state: State = request.app.state.collector
    await state.admit(request, role="submit" if state.submit_needs_token else None)
    return state, await state.survey(request.path_params["hash"], open_only=True)


async def refuse_spent(state: State, arrival: Arrival) -> None:
    """Another report came with this token before: this one was not counted, and its sender is told so."""
    assert arrival.nonce is not None
    if await off_loop(state.store.token_owner, arrival.survey.hash, arrival.nonce) != arrival.key:
        raise Refusal(409, AGAIN)


def arrival_of(survey: Survey, message: SubmissionMessage, period: str, token: bytes | None = None) -> Arrival:
    """One submission, checked and decoded."""
    if survey.shuffle is not None:
        raise Refusal(403, "this survey takes reports from its shuffler only, encrypted and mixed")
    nonce = nonce_of(survey, token)
    try:
        report = decode_report(survey.mechanism, binascii.unhexlify(message.report))
    except (WireError, binascii.Error, ValueError) as error:
        raise Refusal(400, str(error) if isinstance(error, WireError) else "report must be hexadecimal digits") from None
    return Arrival(survey, period, binascii.unhexlify(message.key), [report], 1, nonce)


def batch_of(survey: Survey, body: bytes, period: str) -> Arrival:
    """A binary batch, checked and decoded."""
    if survey.admission is not None or survey.shuffle is not None:
        raise Refusal(403, "this survey takes single reports only: each needs its token, or its place among others")
    try:
        key, frame = decode_batch(survey, body)
        reports = Reports.from_bytes(survey.mechanism, bytes(frame))
    except WireError as error:
        raise Refusal(400, str(error)) from None
    return Arrival(survey, period, key, reports, len(reports))


async def _counted(state: State, arrivals: list[Arrival]) -> Response:
    return Response(ENCODER.encode(Accepted(*await count_now(state, arrivals))), media_type="application/json")


async def count_now(state: State, arrivals: list[Arrival]) -> tuple[int, int]:
    """How many reports were counted now, and how many had been before; durable when this returns."""
    try:
        fresh = await state.writer.count(arrivals)
    except Busy as busy:
        raise Refusal(503, busy.why, retry_after=1) from None
    accepted = sum(arrival.count for arrival, new in zip(arrivals, fresh, strict=True) if new)
    return accepted, sum(arrival.count for arrival in arrivals) - accepted
