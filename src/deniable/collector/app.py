"""The collector as an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from deniable.collector.administration import close_survey, create_survey, export, operators_view
from deniable.collector.gateway import Gateway
from deniable.collector.hot_path import AWAY, HotPath
from deniable.collector.limits import Limits
from deniable.collector.messages import Problem, Refusal
from deniable.collector.metrics import write_down
from deniable.collector.openapi import openapi_document
from deniable.collector.reading import (
    alive,
    json_response,
    list_surveys,
    metrics,
    one_survey,
    ready,
    show_estimates,
    show_groups,
    survey_state,
)
from deniable.collector.schema import reason
from deniable.collector.shuffled import shuffled_route
from deniable.collector.state import State
from deniable.collector.store import Store
from deniable.collector.submitting import submit_batch, submit_one
from deniable.collector.warming import warm_all
from deniable.collector.writer import Writer
from deniable.privacy import GatewayKeys


def make_app(
    store: Store,
    *,
    limits: Limits | None = None,
    origins: Sequence[str] = (),
    submit_needs_token: bool = False,
    write_at_least: int = 1,
    version: str = "1",
    pages: Sequence[BaseRoute] = (),
    gateway: GatewayKeys | None = None,
    analyst: GatewayKeys | None = None,
) -> Starlette:
    """The application over a store.

    `origins` are the web pages that may talk to it; `pages` are served beside the API; with keys for a `gateway`, it also
    takes what comes through a relay; with those of an `analyst`, what a shuffler passes on.
    """
    state = State(store, Writer(store, at_least=write_at_least), limits or Limits(), submit_needs_token)
    document = openapi_document(version, shuffled=analyst is not None)

    async def openapi(_: Request) -> Response:
        return json_response(document)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warm_all(store)
        state.catalog.watch()
        background = [asyncio.create_task(state.pulse.run()), asyncio.create_task(_report(state))]
        yield
        for task in background:
            task.cancel()
        state.catalog.close()
        # Everyone who was told "accepted" already is; those who still wait get their answer now.
        state.writer.close()
        store.close()

    routes = [
        Route("/v1/surveys", list_surveys),
        Route("/v1/surveys/{hash}", one_survey),
        Route("/v1/surveys/{hash}/state", survey_state),
        Route("/v1/surveys/{hash}/submissions", submit_one, methods=["POST"]),
        Route("/v1/surveys/{hash}/batches", submit_batch, methods=["POST"]),
        Route("/v1/surveys/{hash}/estimates", show_estimates),
        Route("/v1/surveys/{hash}/groups", show_groups),
        Route("/livez", alive),
        Route("/readyz", ready),
        Route("/health", ready),
        Route("/metrics", metrics),
        Route("/openapi.json", openapi),
        Route("/v1/admin/surveys", create_survey, methods=["POST"]),
        Route("/v1/admin/surveys/{hash}", operators_view),
        Route("/v1/admin/surveys/{hash}/close", close_survey, methods=["POST"]),
        Route("/v1/admin/surveys/{hash}/export", export),
        *([] if analyst is None else [shuffled_route(analyst)]),
        *pages,
    ]
    middleware: list[Middleware] = []
    if origins:
        allowed = ["Content-Type", "Content-Encoding", "Authorization"]
        middleware.append(
            Middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=allowed)
        )
    if gateway is not None:
        middleware.append(Middleware(Gateway, keys=gateway))
    middleware.append(Middleware(HotPath, state=state, origins=bool(origins)))

    async def away(_: Request, error: Exception) -> Response:
        state.catalog.failures.failed(reason(error))
        return await _refused(_, Refusal(503, AWAY, retry_after=1))

    handlers = {Refusal: _refused, HTTPException: _http, Exception: _failed, SQLAlchemyError: away}
    app = Starlette(routes=routes, middleware=middleware, exception_handlers=handlers, lifespan=lifespan)
    app.state.collector = state
    return app


async def _report(state: State) -> None:
    while True:
        await asyncio.sleep(1)
        write_down(*state.measured())


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    answer = json_response(Problem(refusal.why), refusal.status)
    if refusal.retry_after is not None:
        answer.headers["Retry-After"] = str(refusal.retry_after)
    if refusal.status in (408, 413):
        answer.headers["Connection"] = "close"  # the rest of the body is not wanted
    if refusal.status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = json_response(Problem(error.detail), error.status_code)
    for name, value in (error.headers or {}).items():
        answer.headers[name] = value
    return answer


async def _failed(_: Request, error: Exception) -> Response:
    return json_response(Problem("the collector cannot answer now; come back later with the same key"), 503)
