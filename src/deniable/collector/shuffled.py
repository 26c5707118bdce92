"""The collector behind a shuffler: opens what arrives mixed, counts it, and knows nothing of when or from whom it came."""

from __future__ import annotations

from collections.abc import Mapping

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deniable.collector.deadlines import off_loop
from deniable.collector.limits import body_of
from deniable.collector.messages import Refusal, Unsealed
from deniable.collector.reading import json_response
from deniable.collector.spending import nonce_of
from deniable.collector.state import State, current_period
from deniable.collector.store import Arrival
from deniable.collector.submitting import count_now
from deniable.core import decode_report
from deniable.errors import BadMessage, WireError
from deniable.privacy import SHUFFLED_TYPE, GatewayKeys, open_report, split_records
from deniable.surveys import Survey


def shuffled_route(keys: GatewayKeys) -> Route:
    """POST /v1/surveys/{hash}/shuffled, for surveys whose document names one of these keys."""
    private = {key.public_key().public_bytes_raw().hex(): key for key in keys.keys.values()}

    async def count_shuffled(request: Request) -> Response:
        state: State = request.app.state.collector
        await state.admit(request, role="submit" if state.submit_needs_token else None)
        survey = await state.survey(request.path_params["hash"], open_only=True)
        if request.headers.get("content-type") != SHUFFLED_TYPE:
            raise Refusal(415, f"content-type must be {SHUFFLED_TYPE}")
        body = await body_of(request, state.limits.batch_bytes)
        arrivals, refused = await off_loop(_opened, private, survey, body)
        accepted, known = await count_now(state, arrivals) if arrivals else (0, 0)
        return json_response(Unsealed(accepted, known, refused))

    return Route("/v1/surveys/{hash}/shuffled", count_shuffled, methods=["POST"])


def _opened(private: Mapping[str, X25519PrivateKey], survey: Survey, body: bytes) -> tuple[list[Arrival], int]:
    """What can be counted, and how many records cannot: anybody can send a shuffler what is no report."""
    key = None if survey.shuffle is None else private.get(survey.shuffle.key)
    if key is None:
        raise Refusal(403, "this survey is not one whose reports are shuffled for this collector")
    try:
        records = split_records(survey, body)
    except BadMessage as error:
        raise Refusal(400, str(error)) from None
    period = current_period(survey)
    arrivals: dict[bytes, Arrival] = {}
    for name, token, sealed in records:
        try:
            nonce = nonce_of(survey, token)
            report = decode_report(survey.mechanism, open_report(key, survey, name, sealed))
        except (BadMessage, WireError, Refusal):
            continue
        arrivals.setdefault(name, Arrival(survey, period, name, [report], 1, nonce))
    return list(arrivals.values()), len(records) - len(arrivals)
