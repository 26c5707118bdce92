"""Clients that take their time, over real sockets: every wait has an end, and nobody else waits with them."""

from __future__ import annotations

import itertools
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector import Limits, pulse
from deniable.surveys import BATCH_TYPE, Submission, Survey, submission_to_json

from .certificates import self_signed
from .limited import Limited, answer, connected, head, limited, open_lines, place, trickle, until_closed
from .running import call

pytestmark = pytest.mark.slow  # real deadlines, of real seconds
SHORT = 0.2
LATE = b"HTTP/1.1 408 "


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    """Hasty with what it has begun to read, patient between requests: a busy machine must not make an honest client late."""
    limits = Limits(head_seconds=SHORT, body_seconds=SHORT, answer_seconds=SHORT, idle_seconds=30)
    with limited(tmp_path_factory.mktemp("slow"), limits) as found:
        yield found


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    """Hasty between requests as well."""
    with limited(tmp_path_factory.mktemp("hasty"), Limits(head_seconds=SHORT, idle_seconds=SHORT)) as found:
        yield found


def one(running: Limited) -> bytes:
    survey = Survey.from_json(call(running.survey)[1])
    return submission_to_json(survey, Submission.fresh(survey.mechanism.randomize("bus")))


@pytest.mark.parametrize("path", ["submissions", "batches"])
def test_a_body_that_never_comes_is_not_awaited_for_ever(running: Limited, path: str) -> None:
    with connected(running) as line:
        line.sendall(head(running, 100, path))
        assert until_closed(line).startswith(LATE)


@pytest.mark.parametrize("path", ["submissions", "batches"])
def test_requests_without_their_body_do_not_count_as_work(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine every turn of the loop is slow: whoever only waits for a body must not have others turned away."""
    monkeypatch.setattr(pulse, "LATE_SECONDS", -1.0)
    with limited(tmp_path, Limits()) as found:
        lines = [connected(found) for _ in range(pulse.MANY + 10)]
        try:
            for line in lines:
                line.sendall(head(found, 100, path))
            for _ in range(5):  # by the last of them, all heads have been read
                assert call(f"{found.survey}/submissions", one(found))[0] == 200
        finally:
            for line in lines:
                line.close()


def test_half_a_body_is_not_awaited_for_ever(running: Limited) -> None:
    with connected(running) as line:
        line.sendall(head(running, 100) + b'{"key"')
        assert until_closed(line).startswith(LATE)


@pytest.mark.parametrize("more", ["", "Content-Encoding: gzip\r\n", "Authorization: Bearer x\r\n"])
def test_bytes_that_trickle_buy_no_time_for_a_body(running: Limited, more: str) -> None:
    with connected(running) as line:
        line.sendall(head(running, 100_000, more=more))
        assert trickle(line, itertools.repeat(b"\x1f" if "gzip" in more else b"{")).startswith((LATE, b"HTTP/1.1 400 "))


def test_bytes_that_trickle_buy_no_time_for_chunks(running: Limited) -> None:
    with connected(running) as line:
        begin = f"POST /v1/surveys/{running.hash}/batches HTTP/1.1\r\nHost: x\r\nContent-Type: {BATCH_TYPE}\r\n"
        line.sendall((begin + "Transfer-Encoding: chunked\r\n\r\n").encode())
        assert trickle(line, itertools.repeat(b"1\r\nx\r\n")).startswith(LATE)


def test_bytes_that_trickle_buy_no_time_for_a_head(running: Limited) -> None:
    with connected(running) as line:
        assert trickle(line, itertools.chain([b"GET / HTTP/1.1\r\nX: "], itertools.repeat(b"x"))) == b""


def test_a_connection_that_says_nothing_is_closed(running: Limited) -> None:
    with connected(running) as line:
        assert until_closed(line) == b""


@pytest.mark.parametrize("then", ["half a head", "no body", "an empty line"])
def test_a_second_request_has_deadlines_of_its_own(running: Limited, then: str) -> None:
    body = one(running)
    with connected(running) as line:
        line.sendall(head(running, len(body)) + body)
        assert b" 200 " in answer(line)
        line.sendall({"half a head": b"POST /v1", "no body": head(running, 100), "an empty line": b"\r\n"}[then])
        said = until_closed(line)
        assert said.startswith(LATE) if then == "no body" else said == b""


@pytest.mark.parametrize("trickled", [[], itertools.repeat(b"\r\n")])
def test_a_connection_without_a_second_request_is_closed(hasty: Limited, trickled: Iterable[bytes]) -> None:
    body = one(hasty)
    with connected(hasty) as line:
        line.sendall(head(hasty, len(body)) + body)
        assert b" 200 " in answer(line)
        assert (trickle(line, trickled, pause=SHORT / 2) if trickled else until_closed(line)) == b""


def test_a_body_that_follows_its_own_refusal_has_a_deadline_too(running: Limited) -> None:
    with connected(running) as line:
        line.sendall(head(running, 100_000, path="nowhere"))
        assert b" 404 " in answer(line)
        assert trickle(line, itertools.repeat(b"x")) == b""


def test_a_head_without_end_is_refused(running: Limited) -> None:
    with connected(running) as line:
        said = trickle(line, itertools.chain([b"GET / HTTP/1.1\r\n"], itertools.repeat(b"X: " + b"x" * 4000 + b"\r\n")), pause=0.01)
    assert said.startswith(b"HTTP/1.1 431 ") or said == b""


def test_an_answer_that_is_not_read_is_not_kept_for_ever(running: Limited) -> None:
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(60)
        line.connect(place(running))
        # More answers than all buffers between here and there hold, none of them read.
        patience = time.monotonic() + 60
        while "deniable_connections 1\n" not in running.metrics():
            assert time.monotonic() < patience, "the collector keeps it"
            with suppress(OSError):
                line.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            time.sleep(0.02)


def test_requests_sent_ahead_of_their_answers_are_bounded(running: Limited, capfd: pytest.CaptureFixture[str]) -> None:
    """Each waits in memory for its turn. A client that is cut off in the middle of them leaves no lines in the log."""
    request = f"GET /v1/surveys/{running.hash} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    with connected(running) as line:
        line.sendall(request * 50)
        got = b""
        while got.count(b"HTTP/1.1 200 ") < 50 or not got.endswith(b"}"):
            got += line.recv(65536)
    with connected(running) as line:
        sent = threading.Thread(target=ignoring_errors, args=(line, request * 5_000))
        sent.start()
        assert until_closed(line).count(b"HTTP/1.1 200 ") < 5_000
        sent.join(60)
    assert call(running.survey)[0] == 200
    assert capfd.readouterr().err == ""


def ignoring_errors(line: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        line.sendall(data)


def test_a_quick_client_keeps_its_connection_past_every_deadline(tmp_path: Path) -> None:
    with limited(tmp_path, Limits(head_seconds=4, body_seconds=4, idle_seconds=4)) as running, connected(running) as line:
        ends = time.monotonic() + 10
        while time.monotonic() < ends:
            body = one(running)
            line.sendall(head(running, len(body))[:40])
            time.sleep(0.01)
            line.sendall((head(running, len(body)) + body)[40:])
            assert b" 200 " in answer(line)


def test_slow_ones_of_many_addresses_are_shed_and_others_are_served(tmp_path: Path) -> None:
    limits = Limits(connections=100, connections_per_address=20, head_seconds=60, body_seconds=60, idle_seconds=60)
    with limited(tmp_path, limits) as running:
        lines: list[socket.socket] = []
        try:
            with connected(running, "127.0.0.99") as honest:
                for number in range(300):
                    lines.append(connected(running, f"127.0.0.{2 + number % 10}"))
                    lines[-1].sendall([b"", b"POST /v1", head(running, 100), b"\r\n"][number % 4])
                    if number % 10 == 0:
                        body = one(running)
                        honest.sendall(head(running, len(body)) + body)
                        assert b" 200 " in answer(honest)
            assert call(f"{running.address}/health")[0] == 200
            assert len(open_lines(lines)) <= 100
            said = running.metrics()
            assert 'deniable_connections_dropped_total{why="full"}' in said
        finally:
            for line in lines:
                line.close()


def test_one_address_cannot_take_all_places(tmp_path: Path) -> None:
    with limited(tmp_path, Limits(connections=100, connections_per_address=5, head_seconds=60)) as running:
        elsewhere = connected(running, "127.0.0.3")
        lines = [connected(running, "127.0.0.2") for _ in range(50)]
        try:
            assert call(f"{running.address}/health")[0] == 200
            assert len(open_lines(lines)) <= 5
            assert open_lines([elsewhere]) == [elsewhere]
            # Who shares the address with slow ones is served as well: the slowest goes.
            with connected(running, "127.0.0.2") as shared:
                shared.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                assert b" 200 " in answer(shared)
        finally:
            for line in [elsewhere, *lines]:
                line.close()


def test_a_declared_proxy_has_many_connections_and_each_client_of_it_few(tmp_path: Path) -> None:
    with limited(tmp_path, Limits(connections_per_address=3, body_seconds=60), proxies=("127.0.0.1",)) as running:
        slow = [connected(running) for _ in range(12)]
        try:
            for number, line in enumerate(slow):
                line.sendall(head(running, 100, more=f"X-Forwarded-For: 192.0.2.{number // 6}\r\n"))
            status, _ = call(f"{running.address}/health", headers={"X-Forwarded-For": "192.0.2.0"})
            assert status == 200
            assert len(open_lines(slow)) <= 6
            assert call(f"{running.address}/health")[0] == 200
        finally:
            for line in slow:
                line.close()


def test_what_strangers_forward_is_not_believed(tmp_path: Path) -> None:
    with limited(tmp_path, Limits(connections_per_address=3, body_seconds=60)) as running:
        slow = [connected(running, "127.0.0.2") for _ in range(12)]
        try:
            for number, line in enumerate(slow):
                line.sendall(head(running, 100, more=f"X-Forwarded-For: 192.0.2.{number}\r\n"))
            assert call(f"{running.address}/health")[0] == 200
            assert len(open_lines(slow)) <= 3
        finally:
            for line in slow:
                line.close()


def test_handshakes_that_never_end_are_bounded_too(tmp_path: Path) -> None:
    pair = self_signed(tmp_path)
    context = ssl.create_default_context(cafile=pair[0])
    with limited(tmp_path, Limits(head_seconds=2 * SHORT, connections_per_address=5), tls=pair) as running:

        def asked() -> bytes:
            with connected(running, "127.0.0.9") as raw, context.wrap_socket(raw, server_hostname="localhost") as line:
                line.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                return answer(line)

        lines = [connected(running, "127.0.0.2") for _ in range(30)]
        try:
            assert b" 200 " in asked()
            assert len(open_lines(lines)) <= 5
            for line in lines:
                until_closed(line)
            with connected(running) as raw, context.wrap_socket(raw, server_hostname="localhost") as line:
                line.sendall(b"GET /he")
                assert until_closed(line) == b""
            assert b" 200 " in asked()
        finally:
            for line in lines:
                line.close()


def test_it_stops_while_slow_clients_hold_on(tmp_path: Path) -> None:
    with limited(tmp_path) as running:
        lines = [connected(running) for _ in range(20)]
        for line in lines[:10]:
            line.sendall(b"POST /v1")
        running.stop()
        for line in lines:
            line.close()


def test_behind_a_proxy_nobody_else_is_answered_in_the_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every address of this machine is trusted to read its own traffic; here only 127.0.0.1 stands for it.
    monkeypatch.setattr("deniable.collector.protocol.is_loopback", lambda host: host == "127.0.0.1")
    with limited(tmp_path, proxies=("127.0.0.8",)) as running:
        for source, served in (("127.0.0.1", True), ("127.0.0.8", True), ("127.0.0.9", False)):
            with connected(running, source) as line:
                try:
                    line.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    said = until_closed(line)
                except OSError:
                    said = b""
            assert (b" 200 " in said) == served


def flooded(running: Limited, begin: bytes, piece: bytes, most: int = 4 << 20) -> tuple[int, bytes]:
    """How many bytes were taken before the collector closed, and what it said."""
    sent, said = 0, b""
    with connected(running) as line:
        try:
            line.sendall(begin)
            while sent < most:
                line.sendall(piece)
                sent += len(piece)
                if select.select([line], [], [], 0)[0]:
                    data = line.recv(65536)
                    said += data
                    if not data:
                        break
        except OSError:
            pass
    return sent, said


@pytest.mark.parametrize("kind", ["in one packet", "behind a body", "in pieces"])
def test_heads_are_bounded_however_they_come(tmp_path: Path, kind: str) -> None:
    with limited(tmp_path) as running:
        long = b"X-Long: " + b"x" * 60_000 + b"\r\n"
        if kind == "in one packet":
            with connected(running) as line:
                line.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n" + long + b"\r\n")
                assert answer(line).startswith(b"HTTP/1.1 431 ")
        else:
            begin = (
                f"POST /v1/surveys/{running.hash}/batches HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n".encode()
            )
            sent, _ = flooded(
                running, begin if kind == "behind a body" else b"GET / HTTP/1.1\r\n", b"X-A: " + b"x" * 1000 + b"\r\n"
            )
            assert sent < 4 << 20
        assert call(f"{running.address}/livez")[0] == 200
