"""The handlers behind an admin token: open and close surveys, export what was collected."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from deniable.collector.deadlines import off_loop
from deniable.collector.export import parquet_of_reports, parquet_of_sums
from deniable.collector.limits import body_of
from deniable.collector.messages import Created, Health, OperatorsView, Refusal
from deniable.collector.planned import Planned, opened
from deniable.collector.reading import json_response
from deniable.collector.retention import retention_words
from deniable.collector.state import State
from deniable.collector.store import Store
from deniable.collector.warming import warm
from deniable.errors import DeniableError, MissingPackage
from deniable.surveys import Survey

PARQUET = "application/vnd.apache.parquet"


async def _admin(request: Request) -> State:
    state: State = request.app.state.collector
    await state.admit(request, role="admin")
    return state


async def create_survey(request: Request) -> Response:
    """POST /v1/admin/surveys: a survey file in TOML, or a canonical document in JSON."""
    state = await _admin(request)
    body = await body_of(request, state.limits.batch_bytes)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        surveys = await run_in_threadpool(_opened, state.store, body, as_json=kind == "application/json")
    except (DeniableError, UnicodeDecodeError) as error:
        raise Refusal(400, str(error) if isinstance(error, DeniableError) else "the survey is not text") from None
    await off_loop(state.catalog.look)
    first = next(iter(surveys.values()))[0]
    created = any(new for _, new in surveys.values())
    groups = {name: planned.survey.hash for name, (planned, _) in surveys.items() if name}
    return json_response(Created(first.survey.hash, created, first.reasons, groups), 201 if created else 200)


def _opened(store: Store, body: bytes, *, as_json: bool) -> dict[str, tuple[Planned, bool]]:
    if as_json:
        survey = Survey.from_json(body)
        surveys = {"": (Planned(survey), store.add_survey(survey))}
    else:
        surveys = opened(store, body.decode())
    warm(next(iter(surveys.values()))[0].survey)  # those of other groups have the same mechanism
    return surveys


async def operators_view(request: Request) -> Response:
    """GET /v1/admin/surveys/{hash}: is it open, how many reports it has, how long they are kept."""
    state = await _admin(request)
    survey = await state.survey(request.path_params["hash"])

    def look() -> OperatorsView:
        (line,) = state.store.lines([survey.hash])
        stored = state.store.counted().get(survey.hash, 0)
        return OperatorsView(line.hash, line.title, state.is_open(survey), stored, line.successor, retention_words(survey, line))

    return json_response(await off_loop(look))


async def close_survey(request: Request) -> Response:
    """POST /v1/admin/surveys/{hash}/close."""
    state = await _admin(request)
    if not await off_loop(state.store.close_survey, request.path_params["hash"]):
        raise Refusal(404, "there is no such survey")
    await off_loop(state.catalog.look)
    return json_response(Health("closed"))


async def export(request: Request) -> Response:
    """GET /v1/admin/surveys/{hash}/export?what=sums|reports: a Parquet file."""
    state = await _admin(request)
    survey = await state.survey(request.path_params["hash"])
    what = request.query_params.get("what", "sums")
    if what not in ("sums", "reports"):
        raise Refusal(400, "what must be sums or reports")
    if what == "reports" and not survey.keep_reports:
        raise Refusal(409, "this survey keeps no reports, only sums; its document says keep_reports = false")
    try:
        parts: Iterator[bytes] = (parquet_of_sums if what == "sums" else parquet_of_reports)(state.store, survey)
    except MissingPackage as error:
        raise Refusal(501, str(error)) from None
    name = f"{survey.hash[:12]}-{what}.parquet"
    return StreamingResponse(parts, media_type=PARQUET, headers={"Content-Disposition": f'attachment; filename="{name}"'})
