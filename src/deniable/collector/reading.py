"""The handlers that only look: surveys, estimates, health, metrics."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from deniable.collector.connections import Connections
from deniable.collector.messages import ENCODER, Health, Refusal, SurveyLine, SurveyList
from deniable.collector.state import State
from deniable.collector.steps import published_counts
from deniable.collector.writer import Tally


def _state(request: Request) -> State:
    state: State = request.app.state.collector
    state.admit(request, role=None)
    return state


def json_response(message: object, status: int = 200) -> Response:
    """A message as JSON."""
    return Response(ENCODER.encode(message), status, media_type="application/json")


async def list_surveys(request: Request) -> Response:
    """GET /v1/surveys."""
    state = _state(request)

    def look() -> SurveyList:
        counts = published_counts(state.store)
        surveys = [state.survey(name) for name in state.hashes()]
        return SurveyList([SurveyLine(s.hash, s.title, state.is_open(s), *counts.get(s.hash, (0, ""))) for s in surveys])

    return json_response(await run_in_threadpool(look))


async def one_survey(request: Request) -> Response:
    """GET /v1/surveys/{hash}: the canonical document, byte for byte."""
    survey = _state(request).survey(request.path_params["hash"])
    # The address is the hash of the content, so it can be kept for ever.
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(survey.to_json(), media_type="application/json", headers=headers)


async def show_estimates(request: Request) -> Response:
    """GET /v1/surveys/{hash}/estimates[?window=…]: what is public, or with an admin's token everything as it is now."""
    state = _state(request)
    survey = state.survey(request.path_params["hash"])
    window = request.query_params.get("window", "")
    if len(window) > 16:
        raise Refusal(400, "window must be the name of one of the survey's windows")
    everything = state.is_admin(request)
    return json_response(await run_in_threadpool(lambda: state.estimates.get(survey, window, everything=everything)))


async def health(request: Request) -> Response:
    """GET /health: 200 when the database answers."""
    state: State = request.app.state.collector
    try:
        alive = await run_in_threadpool(state.store.alive)
    except Exception:
        alive = False
    return json_response(Health("ok" if alive else "the database does not answer"), 200 if alive else 503)


async def metrics(request: Request) -> Response:
    """GET /metrics: Prometheus text. Everyone sees what is public; with an admin's token also what this worker did."""
    state: State = request.app.state.collector
    counts = await run_in_threadpool(published_counts, state.store)
    lines = [
        "# HELP deniable_survey_reports Reports of a survey that are public.",
        "# TYPE deniable_survey_reports gauge",
        *(f'deniable_survey_reports{{survey="{name[:12]}"}} {n}' for name, (n, _) in sorted(counts.items())),
    ]
    if state.is_admin(request):
        # Counters that move with every report would say when each one came.
        lines += _worker(state.writer.tally, getattr(request.app.state, "connections", None))
        counted = await run_in_threadpool(state.store.counted)
        lines += [
            "# HELP deniable_survey_reports_stored Reports of a survey in the database.",
            "# TYPE deniable_survey_reports_stored gauge",
            *(f'deniable_survey_reports_stored{{survey="{name[:12]}"}} {n}' for name, n in sorted(counted.items())),
        ]
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _worker(tally: Tally, connections: Connections | None) -> list[str]:
    """Counts of this worker since it began."""
    dropped = {} if connections is None else connections.dropped
    return [
        "# HELP deniable_reports_accepted_total Reports counted by this worker.",
        "# TYPE deniable_reports_accepted_total counter",
        f"deniable_reports_accepted_total {tally.accepted}",
        "# HELP deniable_reports_known_total Reports that had been counted before.",
        "# TYPE deniable_reports_known_total counter",
        f"deniable_reports_known_total {tally.known}",
        "# HELP deniable_transactions_total Group commits.",
        "# TYPE deniable_transactions_total counter",
        f"deniable_transactions_total {tally.transactions}",
        "# HELP deniable_transaction_failures_total Transactions that had to be tried again.",
        "# TYPE deniable_transaction_failures_total counter",
        f"deniable_transaction_failures_total {tally.failures}",
        "# HELP deniable_transaction_seconds_total Time spent in transactions.",
        "# TYPE deniable_transaction_seconds_total counter",
        f"deniable_transaction_seconds_total {tally.seconds:.6f}",
        "# HELP deniable_connections Open connections of this worker.",
        "# TYPE deniable_connections gauge",
        f"deniable_connections {0 if connections is None else len(connections)}",
        "# HELP deniable_connections_dropped_total Connections closed because their client was slow, by reason.",
        "# TYPE deniable_connections_dropped_total counter",
        *(f'deniable_connections_dropped_total{{why="{why}"}} {n}' for why, n in sorted(dropped.items())),
    ]
