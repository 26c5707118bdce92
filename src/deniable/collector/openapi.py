"""The OpenAPI document, generated from the message types; no page, no script, no CDN."""

from __future__ import annotations

from typing import Any

import msgspec

from deniable.collector.messages import (
    Accepted,
    Created,
    Estimates,
    Groups,
    Health,
    OperatorsView,
    Problem,
    SubmissionMessage,
    SubmissionsMessage,
    SurveyList,
    SurveyState,
    Unsealed,
)
from deniable.privacy import SHUFFLED_TYPE
from deniable.surveys import BATCH_TYPE

TYPES = [
    Accepted,
    Created,
    Estimates,
    Groups,
    Health,
    Problem,
    SubmissionMessage,
    SubmissionsMessage,
    SurveyList,
    SurveyState,
    OperatorsView,
]
BYTES = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}


def openapi_document(version: str, *, shuffled: bool = False) -> dict[str, Any]:
    """OpenAPI 3.1, of a collector that takes shuffled reports or does not."""
    types = [*TYPES, Unsealed] if shuffled else TYPES
    _, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "deniable collector",
            "version": version,
            "description": "Collects randomized reports. It stores no address, no header and no time finer than a survey's window.",
        },
        "paths": {**_paths(), **(_shuffled_path() if shuffled else {})},
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "once": {
                    "type": "http",
                    "scheme": "PrivateToken",
                    "description": "A one-time token (RFC 9577), for surveys with an admission; 409 when it was spent.",
                },
            },
        },
    }


def _paths() -> dict[str, Any]:
    submit = _operation("Submit one report", 200, "Accepted", body={"application/json": _ref("SubmissionMessage")}, bad=SUBMIT)
    batch = _operation(
        "Submit many reports",
        200,
        "Accepted",
        body={
            "application/json": _ref("SubmissionsMessage"),
            BATCH_TYPE: BYTES,
        },
        bad=SUBMIT,
    )
    for operation in (submit, batch):
        operation["security"] = [{}, {"token": []}, {"once": []}]  # a token only where the collector or the survey wants one
    window = {"name": "window", "in": "query", "required": False, "schema": {"type": "string", "maxLength": 16}}
    what = {"name": "what", "in": "query", "required": False, "schema": {"type": "string", "enum": ["sums", "reports"]}}
    survey_text = {
        "application/toml": {"schema": {"type": "string"}},
        "application/json": {"schema": {"type": "object"}},
    }
    export = _operation("Everything collected, as Parquet", 200, None, bad=(400, 401, 403, 404, 409, 429, 501), secure=True)
    export["responses"]["200"]["content"] = {"application/vnd.apache.parquet": {"schema": {"type": "string"}}}
    document = _operation("The survey document, canonical JSON", 200, None, bad=(404, 429, 503))
    document["responses"]["200"]["content"] = {"application/json": {"schema": {"type": "object"}}}
    metrics = _operation("Prometheus text", 200, None)
    metrics["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    admin = (400, 401, 403, 404, 408, 413, 415, 429)
    return {
        "/v1/surveys": {
            "parameters": [AFTER, LIMIT],
            "get": _operation("A page of the surveys, in the order of their hashes", 200, "SurveyList", bad=(400, 429, 503)),
        },
        "/v1/surveys/{hash}": {"parameters": [HASH], "get": document},
        "/v1/surveys/{hash}/state": {
            "parameters": [HASH],
            "get": _operation("Is it open?", 200, "SurveyState", bad=(404, 429, 503)),
        },
        "/v1/surveys/{hash}/submissions": {"parameters": [HASH], "post": submit},
        "/v1/surveys/{hash}/batches": {"parameters": [HASH], "post": batch},
        "/v1/surveys/{hash}/estimates": {
            "parameters": [HASH, window],
            "get": _operation("Estimates with 95 % intervals", 200, "Estimates", bad=(400, 404, 429, 503)),
        },
        "/v1/surveys/{hash}/groups": {
            "parameters": [HASH],
            "get": _operation("The groups of a survey, compared", 200, "Groups", bad=(404, 429, 503)),
        },
        "/livez": {"get": _operation("Does this process answer?", 200, "Health")},
        "/readyz": {"get": _operation("Can reports be written?", 200, "Health", also={503: "Health"})},
        "/health": {"get": _operation("The same as /readyz", 200, "Health", also={503: "Health"})},
        "/metrics": {"get": metrics},
        "/v1/admin/surveys": {
            "post": _operation("Open a survey", 201, "Created", body=survey_text, bad=admin, secure=True, also={200: "Created"})
        },
        "/v1/admin/surveys/{hash}": {
            "parameters": [HASH],
            "get": _operation("What the operator sees of a survey", 200, "OperatorsView", bad=admin, secure=True),
        },
        "/v1/admin/surveys/{hash}/close": {
            "parameters": [HASH],
            "post": _operation("Close a survey", 200, "Health", bad=admin, secure=True),
        },
        "/v1/admin/surveys/{hash}/export": {"parameters": [HASH, what], "get": export},
    }


def _shuffled_path() -> dict[str, Any]:
    count = _operation("Count shuffled reports, from a shuffler", 200, "Unsealed", body={SHUFFLED_TYPE: BYTES}, bad=SUBMIT)
    count["security"] = [{}, {"token": []}]
    return {"/v1/surveys/{hash}/shuffled": {"parameters": [HASH], "post": count}}


HASH = {"name": "hash", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
AFTER = {"name": "after", "in": "query", "required": False, "schema": {"type": "string", "maxLength": 64}}
LIMIT = {"name": "limit", "in": "query", "required": False, "schema": {"type": "integer", "minimum": 1, "maximum": 1000}}
SUBMIT = (400, 401, 403, 404, 408, 409, 410, 413, 415, 429, 503)


def _ref(name: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


def _operation(
    summary: str,
    status: int,
    message: str | None,
    *,
    body: dict[str, Any] | None = None,
    bad: tuple[int, ...] = (),
    also: dict[int, str] | None = None,
    secure: bool = False,
) -> dict[str, Any]:
    good = {"description": summary}
    if message is not None:
        good["content"] = {"application/json": _ref(message)}  # type: ignore[assignment]
    responses: dict[str, Any] = {str(status): good}
    for code, name in (also or {}).items():
        responses[str(code)] = {"description": summary, "content": {"application/json": _ref(name)}}
    for code in bad:
        responses[str(code)] = {"description": "refused", "content": {"application/json": _ref("Problem")}}
    operation: dict[str, Any] = {"summary": summary, "responses": responses}
    if body is not None:
        operation["requestBody"] = {"required": True, "content": body}
    if secure:
        operation["security"] = [{"token": []}]
    return operation
