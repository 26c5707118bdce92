"""What the pages ask for beyond the collector's API."""

from __future__ import annotations

import threading

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from deniable.collector.dashboard.explorer import EPSILONS, POSITIONS, explored
from deniable.collector.dashboard.places import PlaceMaps
from deniable.collector.dashboard.privacy import privacy_of
from deniable.collector.messages import Refusal
from deniable.collector.reading import json_response
from deniable.collector.retention import retention_words
from deniable.collector.state import State
from deniable.surveys import Survey

ONE_AT_A_TIME = threading.Lock()
"""Laws of mechanisms that nobody collects with are worked out one after the other: counting comes first."""
PATIENCE = 2.0
"""Seconds to wait for one's turn."""


async def _admitted(request: Request) -> tuple[State, Survey]:
    state: State = request.app.state.collector
    await state.admit(request, role=None)
    return state, await state.survey(request.path_params["hash"])


async def privacy(request: Request) -> Response:
    """GET /dashboard/surveys/{hash}/privacy: the certificate, and what it means."""
    state, survey = await _admitted(request)

    def look() -> object:
        kept = " ".join(retention_words(survey, line) for line in state.store.lines([survey.hash]))
        return privacy_of(survey, state.store.reasons(survey.hash), needs_token=state.submit_needs_token, kept=kept)

    return json_response(await run_in_threadpool(look))


async def explorer(request: Request) -> Response:
    """GET /dashboard/surveys/{hash}/explorer?attribute=…&step=…&position=…: the law at another epsilon."""
    _, survey = await _admitted(request)
    name = request.query_params.get("attribute", survey.names[0])
    if name not in survey.names:
        raise Refusal(404, "the survey has no such attribute")
    step = _number(request, "step", len(EPSILONS))
    position = _number(request, "position", POSITIONS)

    def look() -> object:
        if not ONE_AT_A_TIME.acquire(timeout=PATIENCE):
            raise Refusal(503, "busy with other questions; come back later", retry_after=1)
        try:
            return explored(survey.parts[name], step, position)
        finally:
            ONE_AT_A_TIME.release()

    return json_response(await run_in_threadpool(look))


def _number(request: Request, name: str, end: int) -> int:
    text = request.query_params.get(name, "0")
    if not text.isascii() or not text.isdecimal() or len(text) > 3 or int(text) >= end:
        raise Refusal(400, f"{name} must be a whole number from 0 to {end - 1}")
    return int(text)


async def map_of_places(request: Request) -> Response:
    """GET /dashboard/surveys/{hash}/map?attribute=…: where people are, for attributes that are places."""
    state, survey = await _admitted(request)
    name = request.query_params.get("attribute", survey.names[0])
    if name not in survey.names:
        raise Refusal(404, "the survey has no such attribute")
    maps: PlaceMaps | None = getattr(request.app.state, "place_maps", None)
    if maps is None:
        maps = request.app.state.place_maps = PlaceMaps(state.store)
    return json_response(await run_in_threadpool(maps.get, survey, name))
