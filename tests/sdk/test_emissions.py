"""What the JavaScript client sends, keeps and says is the same for every answer that gives the same output."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.guards.scenarios import SCRIPT, an_output, answers_of, bodies, keys, survey_of
from tests.guards.wire_tap import WireTap

from deniable.core import Categories, Interval, make_mechanism
from deniable.surveys import Survey, survey_from_toml

SDK = Path(__file__).parents[2] / "sdk" / "js"
DEVICE = Path(__file__).parent / "device.mjs"
NODE = shutil.which("node")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested here"),
]
RECORD = survey_from_toml(
    'title="T"\npurpose="P"\nepsilon=1\nbudget=4\nrepeat="each-window"\nwindow="day"\nstrategy="split"\n'
    '[attributes.bread]\nquestion="?"\ndomain="categories:rye,oat,malt"\n[attributes.smokes]\nquestion="?"\ndomain="binary"\n'
)


@pytest.fixture(scope="module")
def tap() -> Iterator[WireTap]:
    server = WireTap()
    yield server
    server.close()


def left(survey: Survey, answers: Any, folder: Path, tap: WireTap) -> dict[str, Any]:
    """Everything others can see of one run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    tap.begin(survey.to_json(), SCRIPT)
    output = str(an_output(survey.mechanism))
    command = [str(NODE), str(DEVICE), str(SDK), tap.address, survey.hash, "ledger.json", json.dumps(answers), output]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    secrets = document.pop("given")
    files = {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes()) for path in folder.rglob("*") if path.is_file()
    }
    return {**document, "stderr": done.stderr, "wire": tap.heard(), "files": files, "given": secrets}


def assert_nothing_told(runs: list[dict[str, Any]]) -> None:
    for place, run in enumerate(runs):
        different = [part for part in run if run[part] != runs[0][part]]
        assert not different, f"the answer number {place} can be told from the first by: {', '.join(different)}"


SURVEYS: dict[str, tuple[Survey, list[Any]]] = {
    "categories": (survey := survey_of(make_mechanism("k-rr", domain=Categories(9), epsilon=1)), answers_of(survey, 6)),
    "interval": (survey := survey_of(make_mechanism("window", domain=Interval(0, 8, cells=9), epsilon=1)), answers_of(survey, 4)),
    "record": (
        RECORD,
        [
            {"bread": "rye", "smokes": True},
            {"smokes": True, "bread": "rye"},
            {"smokes": False, "bread": "malt"},
            {"bread": "oat", "smokes": False},
        ],
    ),
}


@pytest.mark.parametrize("name", SURVEYS)
def test_a_sessions_life_is_the_same_for_every_answer(name: str, tmp_path: Path, tap: WireTap) -> None:
    survey, answers = SURVEYS[name]
    runs = [left(survey, each, tmp_path / "device", tap) for each in answers]
    assert_nothing_told(runs)
    assert runs[0]["draws"] == 4
    assert [len(body.get("submissions", [body])) for body in bodies(runs[0]["wire"])] == [1] * 7 + [2] * 3 + [1]


def test_keys_are_exactly_what_the_generator_gave(tmp_path: Path, tap: WireTap) -> None:
    survey, answers = SURVEYS["categories"]
    run = left(survey, answers[1], tmp_path / "device", tap)
    sent = keys(run["wire"])
    pieces = [bytes.fromhex(piece) for piece in run["given"] if isinstance(piece, str)]
    assert len(sent) == 4
    assert set(sent) <= set(pieces)


def test_permanent_answers_leave_the_same_but_for_their_tag(tmp_path: Path, tap: WireTap) -> None:
    survey = survey_of(make_mechanism("k-rr", domain=Categories(5), epsilon=1), "permanent")
    runs = []
    for index, answers in enumerate(answers_of(survey, 5)):
        run = left(survey, answers, tmp_path / "device", tap)
        mode, data = run["files"]["ledger.json"]
        secret = bytes.fromhex(json.loads(data)["key"])
        tag = hmac.new(secret, f"{survey.hash}\0{index}".encode(), hashlib.sha256).hexdigest().encode()
        assert data.count(tag) == 1
        run["files"]["ledger.json"] = (mode, data.replace(tag, b"tag"))
        runs.append(run)
    assert_nothing_told(runs)
    assert runs[0]["draws"] == 1
