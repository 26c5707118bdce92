"""The handlers that only look: surveys, estimates, health, metrics."""

from __future__ import annotations

import heapq
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response

from deniable.collector.deadlines import TRANSACTION_SECONDS, WORK_SECONDS, off_loop
from deniable.collector.messages import ENCODER, Health, Refusal, SurveyLine, SurveyList, SurveyState
from deniable.collector.metrics import rendered, together
from deniable.collector.state import State
from deniable.collector.steps import published_counts

PAGE, MOST_PAGE = 100, 1000
"""Surveys on a page of the list: usually, and at most."""


async def _state(request: Request) -> State:
    state: State = request.app.state.collector
    await state.admit(request, role=None)
    return state


def json_response(message: object, status: int = 200) -> Response:
    """A message as JSON."""
    return Response(ENCODER.encode(message), status, media_type="application/json")


async def list_surveys(request: Request) -> Response:
    """GET /v1/surveys[?after=HASH][&limit=…]: a page of them, in the order of their hashes."""
    state = await _state(request)
    after, text = request.query_params.get("after", ""), request.query_params.get("limit", str(PAGE))
    if not text.isascii() or not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= MOST_PAGE or len(after) > 64:
        raise Refusal(400, f"limit must be a whole number from 1 to {MOST_PAGE}, and after a survey's hash")

    def look() -> SurveyList:
        with suppress(SQLAlchemyError):  # then what was known before
            state.catalog.look(now=False)
        some = heapq.nsmallest(int(text) + 1, (name for name in state.catalog.open if name > after))
        page = some[: int(text)]
        surveys = [survey for survey in map(state.store.survey, page) if survey is not None]
        counts = published_counts(state.store, surveys)
        lines = [SurveyLine(one.hash, one.title, state.is_open(one), *counts[one.hash]) for one in surveys]
        return SurveyList(lines, page[-1] if len(some) > len(page) else None)

    return json_response(await off_loop(look))


async def one_survey(request: Request) -> Response:
    """GET /v1/surveys/{hash}: the canonical document, byte for byte."""
    state = await _state(request)
    survey = await state.survey(request.path_params["hash"])
    # The address is the hash of the content, so it can be kept for ever.
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(survey.to_json(), media_type="application/json", headers=headers)


async def survey_state(request: Request) -> Response:
    """GET /v1/surveys/{hash}/state: is it open, and which round follows?"""
    state = await _state(request)
    survey = await state.survey(request.path_params["hash"])
    if state.is_open(survey):
        return json_response(SurveyState(True))
    lines = await off_loop(state.store.lines, [survey.hash])
    return json_response(SurveyState(False, next((line.successor for line in lines), None)))


async def show_estimates(request: Request) -> Response:
    """GET /v1/surveys/{hash}/estimates[?window=…]: what is public, or with an admin's token everything as it is now."""
    state = await _state(request)
    survey = await state.survey(request.path_params["hash"])
    window = request.query_params.get("window", "")
    if len(window) > 16:
        raise Refusal(400, "window must be the name of one of the survey's windows")
    everything = await state.is_admin(request)
    # The first estimates of many categories take a while to work out; a database that does not answer is not waited for.
    seconds = TRANSACTION_SECONDS if state.catalog.failures.cause else WORK_SECONDS
    data = await off_loop(lambda: state.estimates.get(survey, window, everything=everything), seconds=seconds)
    # One object for everybody: a reader that does not read holds no copy of its own.
    return Response(data, media_type="application/json")


async def show_groups(request: Request) -> Response:
    """GET /v1/surveys/{hash}/groups: what is public of a survey's groups, compared; with an admin's token as it is now."""
    state = await _state(request)
    survey = await state.survey(request.path_params["hash"])
    seconds = TRANSACTION_SECONDS if state.catalog.failures.cause else WORK_SECONDS
    everything = await state.is_admin(request)
    data = await off_loop(lambda: state.estimates.groups(survey, everything=everything), seconds=seconds)
    return Response(data, media_type="application/json")


async def alive(_: Request) -> Response:
    """GET /livez: 200 as long as this process answers at all."""
    return json_response(Health("ok"))


async def ready(request: Request) -> Response:
    """GET /readyz: 200 when something was written to the database in the last seconds."""
    state: State = request.app.state.collector
    why = await state.readiness.problem()
    return json_response(Health(why or "ok"), 503 if why else 200)


async def metrics(request: Request) -> Response:
    """GET /metrics: Prometheus text. Everyone sees what is public; with an admin's token also what the workers did."""
    state: State = request.app.state.collector
    public = await off_loop(_public, state)
    samples = {f'deniable_survey_reports{{survey="{name[:12]}"}}': float(n) for name, n in public.items()}
    samples["deniable_surveys"] = float(len(state.catalog.open))
    if await state.is_admin(request):
        # Counters that move with every report would say when each one came.
        samples |= together(*state.measured())
        stored = await off_loop(state.store.counted)
        samples |= {f'deniable_survey_reports_stored{{survey="{name[:12]}"}}': float(n) for name, n in stored.items()}
    return Response(rendered(samples), media_type="text/plain; version=0.0.4")


def _public(state: State) -> dict[str, int]:
    """The number of public reports of every survey; of the first thousand that have any, when there are more."""
    some = heapq.nsmallest(MOST_PAGE, state.store.counted())
    surveys = [survey for survey in map(state.store.survey, some) if survey is not None]
    return {name: n for name, (n, _) in published_counts(state.store, surveys).items()}
