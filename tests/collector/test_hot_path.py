"""Answers that are written at once are the answers that the usual way gives."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector.limits import Limits
from deniable.collector.shortcut import Shortcut
from deniable.surveys import BATCH_TYPE, Submission, Survey, batch_head, submission_to_json

from .limited import Limited, answer, connected, head, limited, until_closed
from .running import call

pytestmark = pytest.mark.slow
ORIGIN = "https://example.org"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    with limited(tmp_path_factory.mktemp("hot"), origins=(ORIGIN,)) as found:
        yield found


@pytest.fixture(scope="module")
def survey(running: Limited) -> Survey:
    return Survey.from_json(call(running.survey)[1])


def submission(survey: Survey) -> bytes:
    return submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))


def test_requests_sent_ahead_are_answered_in_order_on_one_connection(running: Limited, survey: Survey) -> None:
    with connected(running) as line:
        good, again = submission(survey), submission(survey)
        bad = good.replace(b"key", b"yek")
        for body, said in ((good, b'{"accepted":1,"known":0}'), (good, b'{"accepted":0,"known":1}'), (again, b'"accepted":1')):
            line.sendall(head(running, len(body)) + body)
            assert said in answer(line)
        line.sendall(head(running, len(bad)) + bad)
        assert answer(line).startswith(b"HTTP/1.1 400 Bad Request")


def test_a_batch_counts_once_and_one_that_is_damaged_not_at_all(running: Limited, survey: Survey) -> None:
    body = batch_head(survey) + survey.mechanism.randomize_many(["bus"] * 50).to_bytes()
    with connected(running) as line:
        for data, said in ((body, b'{"accepted":50,"known":0}'), (body, b'{"accepted":0,"known":50}'), (body[:-1], b" 400 ")):
            line.sendall(head(running, len(data), "batches").replace(b"application/json", BATCH_TYPE.encode()) + data)
            assert said in answer(line)


def test_whoever_asks_for_the_end_is_told_and_gets_it(running: Limited, survey: Survey) -> None:
    body = submission(survey)
    with connected(running) as line:
        line.sendall(head(running, len(body), more="Connection: close\r\n") + body)
        said = until_closed(line)
    assert said.lower().count(b"connection: close") == 1
    assert said.endswith(b'{"accepted":1,"known":0}')


def test_a_page_of_another_origin_may_read_the_answer(running: Limited, survey: Survey) -> None:
    body = submission(survey)
    with connected(running) as line:
        line.sendall(head(running, len(body), more=f"Origin: {ORIGIN}\r\nConnection: close\r\n") + body)
        said = until_closed(line)
    assert f"access-control-allow-origin: {ORIGIN}".encode() in said.lower()


def test_the_survey_is_the_same_by_both_ways(running: Limited, survey: Survey) -> None:
    """With a token the framework answers, without one the short path."""

    def asked(path: str, more: str) -> tuple[bytes, set[bytes], bytes]:
        with connected(running) as line:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{more}\r\n".encode())
            head, _, body = until_closed(line).partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        return first, {header.lower() for header in headers}, body

    path = running.survey.removeprefix(running.address)
    short = asked(path, "")
    assert short == asked(path, f"Authorization: Bearer {running.token}\r\n")
    assert short[2] == survey.to_json()
    unknown = path[:-1] + ("0" if path[-1] != "0" else "1")
    assert asked(unknown, "") == asked(unknown, f"Authorization: Bearer {running.token}\r\n")
    assert asked(unknown, "")[0] == b"HTTP/1.1 404 Not Found"


def spoken(line: Any) -> tuple[bytes, set[bytes], bytes]:
    """First line, headers and body of everything that is said until the end."""
    head, _, body = until_closed(line).partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    return first, {header.lower() for header in headers} - {b"vary: origin"}, body  # no cache keeps the answer to a POST


@pytest.fixture
def shortened(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For every submission that comes to the shortcut: was it answered there?"""
    said: list[bool] = []
    begin = Shortcut.begin

    def noted(*given: Any) -> bool:
        said.append(begin(*given))
        return said[-1]

    monkeypatch.setattr(Shortcut, "begin", noted)
    return said


@pytest.mark.parametrize("kind", ["new", "known", "malformed", "another recipe", "empty", "unknown survey"])
def test_a_submission_is_answered_alike_by_the_shortcut_and_by_the_framework(
    running: Limited, survey: Survey, shortened: list[bool], kind: str
) -> None:
    def asked(more: str) -> tuple[bytes, set[bytes], bytes]:
        body = submission(survey)
        begun = head(running, len(body), more=f"Connection: close\r\n{more}")
        if kind == "malformed":
            body = body.replace(b'"report"', b'"repeat"')
        elif kind == "another recipe":
            recipe = survey.mechanism.fingerprint.encode()
            body = body.replace(recipe, recipe[::-1])
        elif kind == "empty":
            begun, body = head(running, 0, more=f"Connection: close\r\n{more}"), b""
        elif kind == "unknown survey":
            begun = begun.replace(running.hash.encode(), b"0" * 64)
        elif kind == "known":
            call(f"{running.survey}/submissions", body, {"Content-Type": "application/json"})
            shortened.clear()
        with connected(running) as line:
            line.sendall(begun + body)
            return spoken(line)

    short = asked("")
    # An unknown survey has to be looked for in the database: then the application is asked.
    assert shortened == [kind != "unknown survey"]
    shortened.clear()
    assert asked(f"Authorization: Bearer {running.token}\r\n") == short
    assert not shortened
    assert short[0].split()[1] == {"new": b"200", "known": b"200", "unknown survey": b"404"}.get(kind, b"400")


def test_a_body_in_pieces_and_requests_sent_ahead_are_counted_once_each(
    running: Limited, survey: Survey, shortened: list[bool]
) -> None:
    first, second, third = (submission(survey) for _ in range(3))
    with connected(running) as line:
        line.sendall(head(running, len(first)))
        for piece in (first[:7], first[7:40], first[40:]):
            time.sleep(0.05)
            line.sendall(piece)
        assert answer(line) == b'HTTP/1.1 200 OK {"accepted":1,"known":0}'
        ahead = b"".join(head(running, len(body)) + body for body in (second, third))
        line.sendall(ahead + head(running, len(second), more="Connection: close\r\n") + second)
        said = until_closed(line)
    assert [said.count(word) for word in (b'{"accepted":1,"known":0}', b'{"accepted":0,"known":1}')] == [2, 1]
    assert shortened == [True, True]  # the others were sent ahead: they wait for their turn in the usual way


def test_a_client_that_goes_away_or_never_sends_the_body_leaves_nothing_behind(tmp_path: Any, shortened: list[bool]) -> None:
    with limited(tmp_path, Limits(body_seconds=0.3)) as running:
        state = running.server.config.loaded_app.state.collector
        survey = Survey.from_json(call(running.survey)[1])
        body = submission(survey)
        with connected(running) as late:
            late.sendall(head(running, len(body)) + body[:10])
            assert until_closed(late).startswith(b"HTTP/1.1 408 ")
        assert not shortened
        with connected(running) as gone:
            gone.sendall(head(running, len(body)) + body)
        patience = time.monotonic() + 30
        while (state.pulse.requests, state.writer.waiting, len(state.connections)) != (0, 0, 0) or not shortened:
            assert time.monotonic() < patience
            time.sleep(0.01)
        said = call(f"{running.survey}/submissions", body, {"Content-Type": "application/json"})
        assert said[1] == b'{"accepted":0,"known":1}'  # it was counted, though nobody heard so
