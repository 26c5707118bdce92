"""Surveys that Python writes are opened, answered and refused by the JavaScript client as by the Python one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deniable.surveys import Survey, submission_from_json, survey_from_toml

SDK = Path(__file__).parents[2] / "sdk" / "js"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here")

HEAD = 'title = "Été ☀"\npurpose = "Why\\nnot."\nepsilon = "3/2"\n'
RECORD = """
[attributes.commute]
question = "How?"
domain = "categories:bike,bus,car,walk"
[attributes.smokes]
question = "Do you?"
domain = "binary"
"""
NUMBERS = """
[attributes.minutes]
question = "How long?"
domain = "interval:0,180"
[attributes.hour]
question = "When?"
domain = "circle:24,48"
[attributes.home]
question = "Where?"
domain = "rectangle:0,10,0,8,16"
"""


def one(domain: str, mechanism: str = "auto") -> str:
    return f'[attributes.it]\nquestion = "What?"\ndomain = "{domain}"\nmechanism = "{mechanism}"\n'


SURVEYS: dict[str, tuple[str, dict[str, Any]]] = {
    "split": (HEAD + 'strategy = "split"\n' + RECORD, {"commute": "car", "smokes": True}),
    "sample-one": (HEAD + 'strategy = "sample-one"\n' + RECORD, {"commute": "car", "smokes": False}),
    "fake-data": (HEAD + 'strategy = "fake-data"\n' + RECORD, {"commute": "bike", "smokes": 1}),
    "numbers": (HEAD + 'strategy = "split"\n' + NUMBERS, {"minutes": 34.5, "hour": 8.25, "home": [3.5, 7.25]}),
    "permanent": (HEAD + 'repeat = "permanent"\nwindow = "week"\n' + one("categories:a,b,c", "oue"), {"it": "b"}),
    "words": (HEAD + one("text:6", "tree-hist"), {"it": "été"}),
    "disc": (HEAD + one("disc:0,0,2,12", "nearest-cells"), {"it": [0.5, -1.25]}),
    "mean": (HEAD + one("interval:-1,1,100", "pm"), {"it": 0.125}),
    "hashing": (HEAD + one("categories:1000", "olh"), {"it": 999}),
}

SCRIPT = """
import { readFileSync } from "node:fs";
import { Ledger, MemoryStore, Session } from "./src/index.js";
const surveys = JSON.parse(readFileSync(0, "utf8"));
const said = {};
for (const [name, { document, hash, answers }] of Object.entries(surveys)) {
  let posted = null;
  const fetch = async (url, { method, body } = {}) => {
    if (method === "POST") posted = { url, body };
    return { status: 200, arrayBuffer: async () => new TextEncoder().encode(document) };
  };
  try {
    const session = await Session.open("http://localhost", hash, new Ledger(new MemoryStore()), { fetch });
    const words = await session.explain();
    await session.answer(answers);
    said[name] = { posted, index: String(session.survey.inputOf(answers)), words };
  } catch (error) {
    said[name] = { error: error.name };
  }
}
console.log(JSON.stringify(said));
"""


def run(surveys: dict[str, dict[str, Any]]) -> Any:
    command = [str(NODE), "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, cwd=SDK, input=json.dumps(surveys), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def given(survey: Survey, answers: dict[str, Any], **changes: str) -> dict[str, Any]:
    return {"document": survey.to_json().decode(), "hash": survey.hash, "answers": answers, **changes}


def test_every_kind_of_survey_is_answered_with_a_report_python_reads() -> None:
    surveys = {name: survey_from_toml(toml) for name, (toml, _) in SURVEYS.items()}
    found = run({name: given(surveys[name], answers) for name, (_, answers) in SURVEYS.items()})
    for name, (_, answers) in SURVEYS.items():
        survey = surveys[name]
        assert "error" not in found[name], (name, found[name])
        assert found[name]["posted"]["url"] == f"http://localhost/v1/surveys/{survey.hash}/submissions"
        submission = submission_from_json(survey, found[name]["posted"]["body"].encode())
        assert submission.report.recipe == survey.mechanism.fingerprint
        assert int(found[name]["index"]) == survey.mechanism.encode(survey.value(answers))
        assert found[name]["words"]["title"] == "Été ☀"


def test_a_changed_document_is_refused() -> None:
    toml, answers = SURVEYS["split"]
    survey = survey_from_toml(toml)
    document = survey.document()
    document["channel"]["parts"][0]["high"] += 1
    greedy = json.dumps(document, sort_keys=True, separators=(",", ":"))
    other = survey_from_toml(toml.replace("Why", "Because"))
    found = run(
        {
            "another survey": given(survey, answers, document=other.to_json().decode()),
            "changed integers": given(survey, answers, document=greedy),
            "outside": given(survey, {"commute": "rocket", "smokes": True}),
        }
    )
    assert {name: item["error"] for name, item in found.items()} == {
        "another survey": "NotTrusted",
        "changed integers": "NotTrusted",
        "outside": "OutOfDomain",
    }
