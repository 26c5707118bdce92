"""Where reports and tokens go: to the address they are meant for, unread by anyone on the way, or nowhere."""

from __future__ import annotations

import http.server
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.collector.certificates import self_signed

from deniable.errors import InvalidParameter, NotAdmitted, NotDelivered
from deniable.surveys import HttpTransport, Ledger, MockTransport, Patience, Session, open_request, survey_from_toml

TOKEN = "a-token-of-43-letters"
SURVEY = survey_from_toml('title="t"\npurpose="p"\nepsilon=1\n[attributes.x]\nquestion="q"\ndomain="binary"\n')
HASTY = Patience(attempts=2, sleep=lambda seconds: None)


class Noting(http.server.BaseHTTPRequestHandler):
    """Answers everything and notes it; sends on to `elsewhere` when that is set."""

    server: Notes

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.server.seen.append((self.path, dict(self.headers)))
        self.send_response(307 if self.server.elsewhere else 200)
        if self.server.elsewhere:
            self.send_header("Location", self.server.elsewhere)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_CONNECT = do_GET

    def log_message(self, *_: object) -> None:
        pass


class Notes(http.server.ThreadingHTTPServer):
    def __init__(self, tls: tuple[str, str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Noting)
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.elsewhere = ""
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.address = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that distrusts the certificate hangs up."""


@contextmanager
def noting(tls: tuple[str, str] | None = None) -> Iterator[Notes]:
    with Notes(tls) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notes]:
    """A proxy that the whole environment names."""
    with noting() as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, server.address)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        yield server


def test_plain_http_never_goes_through_a_proxy(proxy: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    with noting() as collector:
        assert HttpTransport(token=TOKEN).post(f"{collector.address}/x", b"{}", "application/json") == (200, b"{}")
        assert collector.seen[0][1]["Authorization"] == f"Bearer {TOKEN}"
        assert HttpTransport().get(f"{collector.address}/x") == (200, b"{}")
        # Nor to other machines, for those who insist on plain HTTP.
        monkeypatch.setattr("deniable.surveys.transport.is_loopback", lambda host: False)
        assert HttpTransport(allow_http=True).get(f"{collector.address}/x") == (200, b"{}")
    assert proxy.seen == []


def test_https_to_other_machines_tunnels_and_the_proxy_sees_no_token(proxy: Notes) -> None:
    with pytest.raises(NotDelivered):
        HttpTransport(token=TOKEN).post("https://survey.example.org/x", b"{}", "application/json")
    assert [path for path, _ in proxy.seen] == ["survey.example.org:443"]
    assert TOKEN not in str(proxy.seen)


@pytest.mark.parametrize(
    "url", ["http://survey.example.org/x", "http://192.0.2.1/x", "http://0.0.0.0:1/x", "http://127.0.0.1.example.org/"]
)
def test_a_token_is_sent_in_the_clear_to_nobody(url: str) -> None:
    for send in (
        lambda: HttpTransport(token=TOKEN, allow_http=True).post(url, b"{}", "application/json"),
        lambda: HttpTransport(token=TOKEN, allow_http=True).check(url),
        lambda: open_request(urllib.request.Request(url), 1, token=TOKEN),
    ):
        with pytest.raises(InvalidParameter, match="only sent over https") as refused:
            send()
        assert TOKEN not in str(refused.value)


SECRET = "a-password"


@pytest.mark.parametrize(
    "url",
    [f"https://user:{SECRET}@survey.example.org:443/x", f"https://{SECRET}@survey.example.org/x", f"http://{SECRET}@127.0.0.1:9/x"],
)
def test_a_password_in_an_address_is_told_to_nobody(proxy: Notes, url: str, tmp_path: Path) -> None:
    """It would stand in the line that asks a proxy for a tunnel, and in questions to name servers."""
    for send in (
        lambda: HttpTransport().get(url),
        lambda: HttpTransport(token=TOKEN).post(url, b"{}", "application/json"),
        lambda: Session(SURVEY, Ledger(tmp_path / "ledger.db"), url),
    ):
        with pytest.raises(InvalidParameter, match="must not hold a name or a password") as refused:
            send()
        assert SECRET not in str(refused.value)
    assert proxy.seen == []


def test_a_token_does_not_follow_a_redirect() -> None:
    with noting() as collector, noting() as elsewhere:
        collector.elsewhere = f"{elsewhere.address}/caught"
        status, _ = HttpTransport(token=TOKEN).post(f"{collector.address}/x", b"{}", "application/json")
        assert status == 307
        with pytest.raises(urllib.request.HTTPError):
            open_request(urllib.request.Request(f"{collector.address}/x"), 5, token=TOKEN)
        assert elsewhere.seen == []


def test_a_token_goes_with_reports_only_and_is_shown_nowhere() -> None:
    transport = HttpTransport(token=TOKEN)
    assert TOKEN not in repr(transport)
    with noting() as collector:
        transport.get(f"{collector.address}/x")
        assert "Authorization" not in collector.seen[0][1]
    for bad in ("", "two words", "a\r\nb", "ä"):
        with pytest.raises(InvalidParameter, match="one word"):
            HttpTransport(token=bad)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "is self-signed, so no authority vouches for it; nothing was sent. If it is the one you expect, give it"),
        ({"days": -1}, "is self-signed"),
        ({"name": "elsewhere.example.org"}, "is self-signed"),
    ],
)
def test_a_self_signed_certificate_is_called_that(tmp_path: Path, how: dict[str, int], words: str) -> None:
    with noting(self_signed(tmp_path, **how)) as collector:  # type: ignore[arg-type]
        with pytest.raises(NotDelivered, match=words):
            HttpTransport(token=TOKEN).post(f"{collector.address}/x", b"{}", "application/json")
        assert collector.seen == []


@pytest.mark.parametrize(
    ("how", "words"), [({"days": -1}, "is not valid today"), ({"name": "elsewhere.example.org"}, "is one for another name")]
)
def test_a_certificate_that_is_known_can_still_be_wrong(tmp_path: Path, how: dict[str, int], words: str) -> None:
    pair = self_signed(tmp_path, **how)  # type: ignore[arg-type]
    with noting(pair) as collector, pytest.raises(NotDelivered, match=words):
        HttpTransport(ca=pair[0]).get(f"{collector.address}/x")


def test_a_certificate_of_ones_own_is_believed_when_it_is_given(tmp_path: Path) -> None:
    pair = self_signed(tmp_path)
    with noting(pair) as collector:
        assert HttpTransport(ca=pair[0], token=TOKEN).post(f"{collector.address}/x", b"{}", "application/json") == (200, b"{}")
        assert collector.seen[0][1]["Authorization"] == f"Bearer {TOKEN}"
    with pytest.raises(InvalidParameter, match="PEM"):
        HttpTransport(ca=pair[1]).get("https://127.0.0.1:1/x")


def test_a_collector_without_tls_is_called_that() -> None:
    with noting() as collector, pytest.raises(NotDelivered, match="is it an http:// address"):
        HttpTransport().get(collector.address.replace("http:", "https:"))


def test_a_session_refuses_to_send_a_token_in_the_clear_before_it_draws(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    with pytest.raises(InvalidParameter, match="only sent over https"):
        Session(SURVEY, ledger, "http://survey.example.org", transport=HttpTransport(token=TOKEN, allow_http=True))
    with pytest.raises(InvalidParameter, match="https://"):
        Session(SURVEY, ledger, "http://survey.example.org")
    with pytest.raises(InvalidParameter, match="a transport or a token"):
        Session(SURVEY, ledger, "http://localhost", transport=MockTransport(), token=TOKEN)
    assert ledger.spent() == 0


@pytest.mark.parametrize("status", [401, 403])
def test_a_report_waits_for_a_token(tmp_path: Path, status: int) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    without = Session(SURVEY, ledger, "http://localhost", transport=MockTransport(answers=[status]), patience=HASTY)
    with pytest.raises(NotAdmitted, match="only with a token"):
        without.answer({"x": True})
    (waiting,) = ledger.pending()
    carrier = MockTransport()
    assert Session(SURVEY, ledger, "http://localhost", transport=carrier).deliver() == 1
    assert waiting.key.hex().encode() in carrier.posted[0][1]
    assert ledger.pending() == []


def test_a_token_is_not_written_where_reports_are(tmp_path: Path) -> None:
    with noting() as collector:
        device = Session(SURVEY, Ledger(tmp_path / "ledger.db"), collector.address, token=TOKEN, patience=HASTY)
        assert device.answer({"x": True}).delivered
        assert collector.seen[0][1]["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert TOKEN not in repr(device)


@contextmanager
def dripping(head: int, body: int) -> Iterator[str]:
    """A collector that sends an answer byte by byte; so much of its head and of its body that it takes some seconds."""
    listening = socket.create_server(("127.0.0.1", 0))
    answer = b"HTTP/1.1 200 OK\r\nX: " + b"x" * head + b"\r\nContent-Length: %d\r\n\r\n" % body + b"y" * body
    over = threading.Event()

    def serve() -> None:
        line, _ = listening.accept()
        with line, suppress(OSError):
            line.recv(65536)
            for byte in answer:
                if over.is_set():
                    return
                line.sendall(bytes([byte]))
                time.sleep(0.002)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        thread.join()
        listening.close()


@pytest.mark.parametrize(("head", "body"), [(1500, 10), (10, 1500)])
def test_an_answer_that_drips_in_is_given_up(head: int, body: int) -> None:
    with dripping(head, body) as address, pytest.raises(NotDelivered):
        HttpTransport(timeout=0.1).get(address)


def test_an_answer_in_pieces_is_read() -> None:
    with dripping(20, 30) as address:
        assert HttpTransport(timeout=30).get(address) == (200, b"y" * 30)
