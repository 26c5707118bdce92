"""The collector over real sockets: counts once, refuses what it must, tells nothing it should not."""

from __future__ import annotations

import gzip
import io
import json
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.batch import accumulator_from_bytes
from deniable.core import Report
from deniable.surveys import (
    BATCH_TYPE,
    Ledger,
    Session,
    Submission,
    Survey,
    encode_batch,
    submission_to_json,
    submissions_to_json,
    survey_from_toml,
)

from .running import TOML, Running, call, collector, counted, start

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")
BINARY = {"Content-Type": BATCH_TYPE}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with collector(tmp_path_factory.mktemp("collector")) as found:
        yield found


@pytest.fixture(scope="module")
def survey(running: Running) -> Survey:
    status, data = call(running.survey)
    assert status == 200
    return Survey.from_json(data, hash=running.hash)


def one(survey: Survey, value: str = "bus") -> bytes:
    return submission_to_json(survey, Submission.fresh(survey.mechanism.randomize(value)))


@pytest.mark.slow
def test_a_submission_counts_once_however_often_it_is_sent(running: Running, survey: Survey) -> None:
    before = counted(running)
    body = one(survey)
    answers = [json.loads(call(f"{running.survey}/submissions", body)[1]) for _ in range(3)]
    assert answers == [{"accepted": 1, "known": 0}, {"accepted": 0, "known": 1}, {"accepted": 0, "known": 1}]
    assert counted(running) == before + 1


def test_batches_count_together(running: Running, survey: Survey) -> None:
    before = counted(running)
    reports = [survey.mechanism.randomize("car") for _ in range(50)]
    several = submissions_to_json(survey, [Submission.fresh(report) for report in reports])
    assert json.loads(call(f"{running.survey}/batches", several)[1]) == {"accepted": 50, "known": 0}
    assert json.loads(call(f"{running.survey}/batches", several)[1]) == {"accepted": 0, "known": 50}
    binary = encode_batch(survey, reports)
    zipped = BINARY | {"Content-Encoding": "gzip"}
    assert json.loads(call(f"{running.survey}/batches", gzip.compress(binary), zipped)[1]) == {"accepted": 50, "known": 0}
    assert json.loads(call(f"{running.survey}/batches", binary, BINARY)[1]) == {"accepted": 0, "known": 50}
    assert counted(running) == before + 100


def test_a_device_answers_end_to_end(running: Running, tmp_path: Path) -> None:
    before = counted(running)
    device = Session.open(running.address, running.hash, Ledger(tmp_path / "ledger.db"))
    assert device.answer({"commute": "bike"}).delivered
    assert counted(running) == before + 1


def test_estimates_have_intervals(running: Running, survey: Survey) -> None:
    binary = encode_batch(survey, _many(survey))
    assert call(f"{running.survey}/batches", binary, BINARY)[0] == 200
    counted(running)
    (attribute,) = json.loads(call(f"{running.survey}/estimates")[1])["attributes"]
    (view,) = attribute["views"]
    rows = {row["label"]: row for row in view["rows"]}
    assert set(rows) == {"bike", "bus", "car", "walk"}
    assert all(0 <= row["low"] < row["high"] <= 1 for row in rows.values())  # an unbiased share may lie outside
    assert rows["walk"]["value"] > 0.5


def _many(survey: Survey) -> list[Report]:
    reports = survey.mechanism.randomize_many(["walk"] * 20_000)
    return [reports[i] for i in range(len(reports))]


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("submissions", b"", None, 400),
        ("submissions", b"{", None, 400),
        ("submissions", b'{"key":"00","report":"00"}', None, 400),
        ("submissions", b'{"key":"' + b"0" * 32 + b'","report":"ff"}', None, 400),
        ("submissions", b'{"key":"' + b"0" * 32 + b'","report":"ff","more":1}', None, 400),
        ("submissions", b'{"key":"' + b"0" * 32 + b'\\n","report":"ff"}', None, 400),
        ("submissions", b'{"key":"' + b"0" * 32 + b'","key":"' + b"1" * 32 + b'","report":"ff"}', None, 400),
        ("submissions", b"\xff" * 100, None, 400),
        ("batches", b'{"submissions":[]}', None, 400),
        ("batches", b"ds", BINARY, 400),
        ("batches", b"x", {"Content-Type": "text/plain"}, 415),
        ("batches", b"x", BINARY | {"Content-Encoding": "br"}, 415),
        ("batches", b"not gzip", BINARY | {"Content-Encoding": "gzip"}, 400),
        ("batches", gzip.compress(b"x", mtime=0)[:-4], BINARY | {"Content-Encoding": "gzip"}, 400),
        ("submissions", b"x" * (1 << 18), None, 413),
        ("nowhere", b"x", None, 404),
    ],
)
def test_bad_requests_are_refused(running: Running, path: str, body: bytes, headers: dict[str, str] | None, status: int) -> None:
    found, answer = call(f"{running.survey}/{path}", body, headers)
    assert found == status
    assert set(json.loads(answer)) == {"error"}
    assert b"Traceback" not in answer


def test_a_report_of_another_survey_is_refused(running: Running) -> None:
    other = survey_from_toml(TOML.replace("epsilon = 1", "epsilon = 2"))
    assert call(f"{running.survey}/submissions", one(other))[0] == 400
    assert call(f"{running.survey}/batches", encode_batch(other, []), BINARY)[0] == 400
    assert call(f"{running.address}/v1/surveys/{other.hash}")[0] == 404


def test_a_gzip_bomb_is_refused_before_it_grows(running: Running) -> None:
    bomb = gzip.compress(b"\0" * (1 << 28))
    assert len(bomb) < 1 << 20
    assert call(f"{running.survey}/batches", bomb, BINARY | {"Content-Encoding": "gzip"})[0] == 413
    assert memory_mb(running) < 300


def memory_mb(running: Running) -> float:
    status = Path(f"/proc/{running.process.pid}/status")
    if not status.exists():
        pytest.skip("memory is read from /proc, which this system lacks")
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def test_a_body_that_says_it_is_huge_is_refused_at_once(running: Running) -> None:
    host, port = running.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as line:
        head = f"POST /v1/surveys/{running.hash}/batches HTTP/1.1\r\nHost: x\r\nContent-Type: {BATCH_TYPE}\r\n"
        line.sendall((head + f"Content-Length: {1 << 30}\r\n\r\n").encode())
        assert b" 413 " in line.recv(4096)
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        sent = 0
        try:
            while sent < 1 << 30:
                line.sendall(piece)
                sent += 65536
        except OSError:
            pass
        assert sent < 1 << 27
    assert call(f"{running.address}/health")[0] == 200


@pytest.mark.slow
def test_administration_needs_a_token(tmp_path: Path) -> None:
    with collector(tmp_path) as running:
        url = f"{running.address}/v1/admin/surveys"
        assert call(url, TOML.encode())[0] == 401
        assert call(url, TOML.encode(), {"Authorization": "Bearer wrong"})[0] == 403
        database = f"sqlite:///{tmp_path / 'collector.db'}"
        command = [sys.executable, "-m", "deniable.cli", "token", "alice", "--database", database]
        token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        admin = {"Authorization": f"Bearer {token}"}
        stored = (tmp_path / "collector.db").read_bytes() + (tmp_path / "collector.db-wal").read_bytes()
        assert token.encode() not in stored
        another = TOML.replace("Travel", "Second")
        status, answer = call(url, another.encode(), admin)
        assert status == 201
        survey = survey_from_toml(another)
        document = json.loads(answer)
        assert (document["hash"], document["created"]) == (survey.hash, True)
        assert document["reasons"]["commute"].startswith("k-rr: the best of")
        assert call(url, b"title = 1", admin)[0] == 400
        second = f"{running.address}/v1/surveys/{survey.hash}"
        assert call(f"{second}/submissions", one(survey))[0] == 200
        assert call(f"{url}/{survey.hash}/close", b"", admin)[0] == 200
        assert call(f"{second}/submissions", one(survey))[0] == 410
        assert call(f"{url}/{'0' * 64}/close", b"", admin)[0] == 404
        _check_export(call(f"{url}/{survey.hash}/export?what=sums", headers=admin)[1], survey)
        assert call(f"{url}/{survey.hash}/export?what=reports", headers=admin)[0] == 409
        assert call(f"{url}/{survey.hash}/export?what=sums")[0] == 401


def _check_export(data: bytes, survey: Survey) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(data))
    assert sum(accumulator_from_bytes(survey.mechanism, item).n for item in table.column("data").to_pylist()) == 1
    assert Survey.from_json(table.schema.metadata[b"deniable.survey"]) == survey


@pytest.mark.slow
def test_reports_are_kept_only_where_the_survey_says_so(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with collector(tmp_path, toml="keep_reports = true\n" + TOML) as running:
        survey = Survey.from_json(call(running.survey)[1])
        for _ in range(3):
            assert call(f"{running.survey}/submissions", one(survey))[0] == 200
        reports = [survey.mechanism.randomize("car") for _ in range(20)]
        assert call(f"{running.survey}/batches", encode_batch(survey, reports), BINARY)[0] == 200
        database = f"sqlite:///{tmp_path / 'collector.db'}"
        command = [sys.executable, "-m", "deniable.cli", "token", "alice", "--database", database]
        token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        url = f"{running.address}/v1/admin/surveys/{survey.hash}/export?what=reports"
        table = parquet.read_table(io.BytesIO(call(url, headers={"Authorization": f"Bearer {token}"})[1]))
        assert table.num_rows == 23
        assert set(table.column("recipe").to_pylist()) == {survey.mechanism.fingerprint}
        kept = table.column("output").to_pylist()
        for report in reports:
            kept.remove(report.output)
        assert len(kept) == 3


@pytest.mark.slow
def test_nothing_about_the_sender_is_stored(tmp_path: Path) -> None:
    with collector(tmp_path) as running:
        survey = Survey.from_json(call(running.survey)[1])
        headers = {"Content-Type": "application/json", "User-Agent": "TellTaleBrowser/1.0", "X-Forwarded-For": "203.0.113.77"}
        assert call(f"{running.survey}/submissions", one(survey), headers)[0] == 200
        assert running.stop() == 0
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for mark in (b"TellTale", b"203.0.113.77", b"127.0.0.1"):
        assert mark not in stored
    columns = sqlite3.connect(tmp_path / "collector.db").execute("PRAGMA table_info(receipts_1)").fetchall()
    assert [column[1] for column in columns] == ["key"]


@pytest.mark.slow
def test_it_ends_cleanly_and_remembers(tmp_path: Path) -> None:
    first = start(tmp_path)
    survey = Survey.from_json(call(first.survey)[1])
    body = one(survey)
    assert call(f"{first.survey}/submissions", body)[0] == 200
    assert first.stop() == 0
    assert first.process.stdout is not None
    first.process.stdout.close()
    with collector(tmp_path) as again:
        assert json.loads(call(f"{again.survey}/submissions", body)[1]) == {"accepted": 0, "known": 1}
        assert counted(again) == 1


@pytest.mark.slow
def test_metrics_and_openapi(running: Running) -> None:
    status, text = call(f"{running.address}/metrics")
    assert status == 200
    assert b"deniable_survey_reports{" in text
    assert b"deniable_reports_accepted_total" not in text, "it moves with every report; only an admin sees it"
    document = json.loads(call(f"{running.address}/openapi.json")[1])
    assert document["openapi"].startswith("3.1")
    assert "/v1/surveys/{hash}/submissions" in document["paths"]


@pytest.mark.slow
def test_pages_elsewhere_may_only_talk_to_it_when_allowed(tmp_path: Path, running: Running) -> None:
    asking = {"Origin": "https://example.org", "Content-Type": "application/json"}
    request = f"{running.survey}"
    assert "access-control-allow-origin" not in _headers(request, asking)
    with collector(tmp_path, options=("--origin", "https://example.org")) as open_to:
        assert _headers(open_to.survey, asking)["access-control-allow-origin"] == "https://example.org"


def _headers(url: str, headers: dict[str, str]) -> dict[str, str]:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as answer:
        return {name.lower(): value for name, value in answer.headers.items()}


@pytest.mark.slow
def test_requests_are_logged_only_when_that_is_asked_for(tmp_path: Path) -> None:
    for options in ((), ("--access-log",)):
        log = tmp_path / "log"
        with log.open("w") as errors, collector(tmp_path, options=options, stderr=errors) as running:
            survey = Survey.from_json(call(running.survey)[1])
            assert call(f"{running.survey}/submissions", one(survey))[0] == 200
            assert running.process.stdout is not None
            running.stop()
            assert running.process.stdout.read() == ""  # the output is for programs
        lines = log.read_text().splitlines()
        if options:
            assert [line.split(" ", 1)[1] for line in lines] == [
                f'"GET /v1/surveys/{running.hash} HTTP/1.1" 200 OK',
                f'"POST /v1/surveys/{running.hash}/submissions HTTP/1.1" 200 OK',
            ]
            assert all(line.startswith("127.0.0.1:") for line in lines)
        else:
            assert lines == []


@pytest.mark.slow
def test_several_workers_share_one_database(tmp_path: Path) -> None:
    with collector(tmp_path, options=("--workers", "2")) as running:
        survey = _waiting_for(running)
        for _ in range(40):
            assert call(f"{running.survey}/submissions", one(survey))[0] == 200
        assert counted(running) == 40


def _waiting_for(running: Running) -> Survey:
    for _ in range(100):
        status, data = call(running.survey, timeout=60)
        if status == 200:
            return Survey.from_json(data)
        time.sleep(0.1)
    raise AssertionError("the workers did not start")
