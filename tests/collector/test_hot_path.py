"""Answers that are written at once are the answers that the usual way gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

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
