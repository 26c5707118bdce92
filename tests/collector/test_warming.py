"""The first submission finds everything loaded."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Store, make_app, warming
from deniable.surveys import survey_from_toml

TOML = """
title = "T"
purpose = "P"
epsilon = 1
release = "live"
[attributes.a]
question = "Q"
domain = "categories:50"
mechanism = "{mechanism}"
"""
FIRST = """
import asyncio, json, secrets, sys
from deniable.collector import Store, make_app
from deniable.surveys import BATCH_TYPE, Submission, encode_batch, submission_to_json

store = Store(sys.argv[1])
(name,) = store.open_hashes()
survey = store.survey(name)
bodies = {
    "submissions": (submission_to_json(survey, Submission.fresh(survey.mechanism.randomize(3))), b"application/json"),
    "batches": (encode_batch(survey, [survey.mechanism.randomize(3)] * 5), BATCH_TYPE.encode()),
}
app = make_app(store)

async def asked(what):
    body, kind = bodies[what]
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    scope = {"type": "http", "method": "POST", "path": f"/v1/surveys/{name}/{what}", "query_string": b"", "headers": headers}
    messages = []
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}
    async def send(message):
        messages.append(message)
    await app({**scope, "raw_path": b"", "root_path": "", "http_version": "1.1", "scheme": "http"}, receive, send)
    return messages[0]["status"]

async def run():
    async with app.router.lifespan_context(app):
        loaded = set(sys.modules)
        statuses = [await asked(what) for what in bodies]
        print(json.dumps({"statuses": statuses, "later": sorted(set(sys.modules) - loaded)}))

asyncio.run(run())
"""


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["oue", "olh", "k-rr"])
def test_the_first_submission_loads_no_module(tmp_path: Path, mechanism: str) -> None:
    url = f"sqlite:///{tmp_path / 'collector.db'}"
    store = Store(url)
    store.add_survey(survey_from_toml(TOML.format(mechanism=mechanism)))
    store.close()
    done = subprocess.run([sys.executable, "-c", FIRST, url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said == {"statuses": [200, 200], "later": []}


def test_every_kind_of_mechanism_is_tried_once_before_the_application_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    for title, mechanism in (("one", "oue"), ("two", "oue"), ("three", "k-rr"), ("four", "olh")):
        survey = survey_from_toml(TOML.replace('"T"', f'"{title}"').format(mechanism=mechanism))
        store.add_survey(survey)
        if title == "four":
            store.close_survey(survey.hash)
    monkeypatch.setattr(warming, "warm", lambda survey: tried.append(survey.mechanism.name))

    async def start() -> None:
        app = make_app(store)
        async with app.router.lifespan_context(app):
            assert sorted(tried) == ["k-rr", "oue"]

    asyncio.run(start())


def test_trying_out_leaves_nothing_in_the_database(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'collector.db'}")
    survey = survey_from_toml(TOML.format(mechanism="oue"))
    store.add_survey(survey)
    warming.warm_all(store)
    assert store.counted() == {}
    assert store.sums(survey) == {}
    store.close()
