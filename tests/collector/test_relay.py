"""Through a relay: the collector counts and sees no address, the relay sees addresses and cannot read."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from tests.collector.inside import Inside
from tests.collector.running import TOML, start

from deniable.collector import Gateway, Store, gateway_keys
from deniable.errors import InvalidParameter, NotDelivered
from deniable.privacy import (
    REQUEST_TYPE,
    GatewayKeys,
    HttpRequest,
    KeyConfiguration,
    ObliviousTransport,
    decode_keys,
    decode_response,
    encapsulate,
    encode_request,
)
from deniable.surveys import HttpTransport, Ledger, Patience, Session, Survey, survey_from_toml


def _gateway(folder: Path) -> tuple[Inside, Survey, GatewayKeys]:
    store = Store(f"sqlite:///{folder}/collector.db")
    survey = survey_from_toml(TOML)
    store.add_survey(survey)
    keys = gateway_keys(folder / "keys")
    return Inside(store, gateway=keys), survey, keys


class Through:
    """A carrier that takes a device's requests straight to the gateway, and keeps what the relay would see."""

    def __init__(self, inside: Inside) -> None:
        self.inside, self.seen = inside, []  # type: ignore[var-annotated]

    def get(self, url: str) -> tuple[int, bytes]:
        return self.inside.get("/ohttp-keys")

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        status, data = self.inside.post("/ohttp", body, content_type)
        self.seen.append((body, data))
        return status, data


def test_a_report_is_counted_and_all_sizes_are_the_same(tmp_path: Path) -> None:
    inside, survey, _ = _gateway(tmp_path)
    carrier = Through(inside)
    for number, way in enumerate(("bike", "bus", "car", "walk")):
        transport = ObliviousTransport("http://localhost/", carrier)
        ledger = Ledger(tmp_path / f"ledger{number}.db")
        assert Session(survey, ledger, "https://collector", transport=transport).answer({"commute": way}).delivered
    assert {(len(request), len(reply)) for request, reply in carrier.seen} == {(7 + 32 + 1024 + 16, 16 + 1024 + 16)}
    assert not any(b"report" in request for request, _ in carrier.seen)
    assert json.loads(inside.get(f"/v1/surveys/{survey.hash}/estimates")[1])["n"] == 4
    inside.close()


def test_the_survey_comes_through_the_relay_too(tmp_path: Path) -> None:
    inside, survey, _ = _gateway(tmp_path)
    transport = ObliviousTransport("http://localhost/", Through(inside))
    session = Session.open("https://collector", survey.hash, Ledger(tmp_path / "ledger.db"), transport=transport)
    assert session.survey.hash == survey.hash
    inside.close()


def test_only_surveys_and_reports_pass(tmp_path: Path) -> None:
    inside, survey, keys = _gateway(tmp_path)
    key = decode_keys(keys.published())
    for method, path in (
        (b"GET", b"/metrics"),
        (b"POST", b"/v1/admin/surveys"),
        (b"GET", b"/v1/surveys/" + survey.hash.encode() + b"/estimates"),
        (b"DELETE", b"/v1/surveys/" + survey.hash.encode()),
        (b"GET", b"/v1/surveys/" + survey.hash.encode() + b"\n"),
    ):
        sent = encapsulate(key, encode_request(HttpRequest(method, b"https", b"collector", path), 1024))
        status, data = inside.post("/ohttp", sent.data, REQUEST_TYPE)
        assert status == 200
        assert decode_response(sent.open_reply(data)).status == 404
    inside.close()


def test_what_a_gateway_passes_on_names_nobody() -> None:
    """Neither the connection's address nor a header of the relay's request reaches the service, whatever the sender puts inside."""
    keys = GatewayKeys({0: X25519PrivateKey.generate()})
    passed: list[Any] = []

    async def service(scope: Any, receive: Any, send: Any) -> None:
        passed.append((scope, await receive()))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"set-cookie", b"who=you")]})
        await send({"type": "http.response.body", "body": b"{}"})

    inside = ((b"content-type", b"application/json"), (b"x-forwarded-for", b"10.9.8.7"), (b"cookie", b"who=me"))
    path = b"/v1/surveys/" + b"0" * 64 + b"/submissions"
    request = HttpRequest(b"POST", b"https", b"collector", path, inside, b"body")
    sent = encapsulate(decode_keys(keys.published()), encode_request(request, 1024))
    replies: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": sent.data}

    async def send(message: Any) -> None:
        replies.append(message)

    outer = {
        "type": "http",
        "asgi": {},
        "method": "POST",
        "path": "/ohttp",
        "client": ("10.1.2.3", 4567),
        "headers": [(b"content-type", REQUEST_TYPE.encode()), (b"forwarded", b"for=10.1.2.3"), (b"user-agent", b"a rare one")],
        "extensions": {"tls": {"client_cert_name": "somebody"}},
    }
    asyncio.run(Gateway(service, keys)(outer, receive, send))
    ((scope, message),) = passed
    assert scope["headers"] == [(b"content-type", b"application/json"), (b"content-length", b"4")]
    assert scope["client"] is None
    assert message["body"] == b"body"
    assert not any(word in repr(scope) for word in ("10.1.2.3", "10.9.8.7", "rare", "somebody", "who"))
    assert decode_response(sent.open_reply(replies[1]["body"])).headers == ()


def test_what_cannot_be_opened_is_refused_with_a_reason(tmp_path: Path) -> None:
    inside, _, keys = _gateway(tmp_path)
    key = decode_keys(keys.published())
    good = encapsulate(key, bytes(1024)).data
    other = encapsulate(KeyConfiguration(key.key_id + 1, key.public), bytes(64)).data
    for body, kind, status in (
        (good[:-1], REQUEST_TYPE, 400),
        (b"", REQUEST_TYPE, 400),
        (other, REQUEST_TYPE, 400),
        (bytes(1 << 19), REQUEST_TYPE, 413),
        (good, "application/json", 415),
    ):
        answer, data = inside.post("/ohttp", body, kind)
        assert answer == status
        problem = json.loads(data)
        assert ("ohttp-key" in problem["type"]) == (body is other)
        assert problem["title"]
    inside.close()


def test_a_rotated_key_is_fetched_again(tmp_path: Path) -> None:
    inside, survey, _ = _gateway(tmp_path)
    transport = ObliviousTransport("http://localhost/", Through(inside))
    assert transport.get(f"https://collector/v1/surveys/{survey.hash}")[0] == 200
    inside.close()
    for _ in range(2):
        gateway_keys(tmp_path / "keys", rotate=True)
    store = Store(f"sqlite:///{tmp_path}/collector.db")
    later = Inside(store, gateway=gateway_keys(tmp_path / "keys"))
    transport.carrier = Through(later)
    assert transport.get(f"https://collector/v1/surveys/{survey.hash}")[0] == 200
    later.close()


def test_keys_are_a_private_file(tmp_path: Path) -> None:
    keys = gateway_keys(tmp_path / "keys")
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o600
    assert gateway_keys(tmp_path / "keys").published() == keys.published()
    (tmp_path / "keys").chmod(0o644)
    with pytest.raises(InvalidParameter, match="chmod 600"):
        gateway_keys(tmp_path / "keys")
    (tmp_path / "other").write_text("something else")
    (tmp_path / "other").chmod(0o600)
    with pytest.raises(InvalidParameter, match="not a file of gateway keys"):
        gateway_keys(tmp_path / "other")


def test_a_relay_that_answers_for_the_gateway_is_noticed(tmp_path: Path) -> None:
    inside, survey, _ = _gateway(tmp_path)
    carrier = Through(inside)
    transport = ObliviousTransport("http://localhost/", carrier)
    carrier.post = lambda url, body, content_type: (200, bytes(100))  # type: ignore[method-assign]
    with pytest.raises(NotDelivered, match="did not come from the gateway"):
        transport.get(f"https://collector/v1/surveys/{survey.hash}")
    inside.close()


def test_what_a_relay_itself_says_loses_no_report(tmp_path: Path) -> None:
    inside, survey, _ = _gateway(tmp_path)
    carrier = Through(inside)
    session = Session(
        survey,
        Ledger(tmp_path / "ledger.db"),
        "https://collector",
        transport=ObliviousTransport("http://localhost/", carrier),
        patience=Patience(attempts=1),
    )
    passing = carrier.post
    carrier.post = lambda url, body, content_type: (404, b"another service's page")  # type: ignore[method-assign]
    assert not session.answer({"commute": "bus"}).delivered
    for status in (403, 409, 410, 413, 500, 502, 301):
        carrier.post = lambda url, body, content_type, status=status: (status, b"")  # type: ignore[misc, method-assign]
        with pytest.raises(NotDelivered):
            session.deliver()
    carrier.post = passing  # type: ignore[method-assign]
    assert session.deliver() == 1
    assert json.loads(inside.get(f"/v1/surveys/{survey.hash}/estimates")[1])["n"] == 1
    inside.close()


def test_long_reports_that_waited_pass_the_gateway_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand unary reports of 1,500 categories have 400 kB in JSON; a gateway takes requests of 256 kB."""
    store = Store(f"sqlite:///{tmp_path}/collector.db")
    head = TOML.replace("release", 'repeat = "each-window"\nwindow = "day"\nbudget = 8\nrelease')
    survey = survey_from_toml(
        head.replace("epsilon = 1", "epsilon = 0.25").replace("bike,bus,car,walk", "1500") + 'mechanism = "oue"\n'
    )
    store.add_survey(survey)
    inside = Inside(store, gateway=gateway_keys(tmp_path / "keys"))
    carrier = Through(inside)
    transport, ledger = ObliviousTransport("http://localhost/", carrier), Ledger(tmp_path / "ledger.db")
    session = Session(survey, ledger, "https://collector", transport=transport, patience=Patience(attempts=1))
    carrier.get = lambda url: (502, b"")  # type: ignore[method-assign]
    for day in range(30):
        assert not session.answer({"commute": 7}, today=date(2026, 1, 1) + timedelta(days=day)).delivered
    del carrier.get
    monkeypatch.setattr("deniable.surveys.session.TOGETHER_BYTES", 4000)  # thirty reports stand for a thousand
    assert session.deliver() == 30
    assert len(carrier.seen) == 4
    assert {len(request) for request, _ in carrier.seen} == {7 + 32 + 4096 + 16}
    inside.close()


def test_a_token_in_the_outer_request_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="names the sender"):
        ObliviousTransport("http://localhost", HttpTransport(token="word"))
    assert "word" not in repr(ObliviousTransport("http://localhost", token="Bearer word"))


@contextmanager
def relaying(gateway: str) -> Iterator[str]:
    command = [sys.executable, "-m", "deniable.cli", "relay", "--gateway", gateway, "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow  # two servers
def test_real_processes_count_what_comes_through_a_real_relay(tmp_path: Path) -> None:
    collector = start(tmp_path, options=("--gateway-keys", str(tmp_path / "keys")))
    try:
        with relaying(collector.address) as relay:
            for number in range(20):
                session = Session.open(
                    collector.address,
                    collector.hash,
                    Ledger(tmp_path / f"ledger{number}.db"),
                    transport=ObliviousTransport(relay),
                )
                assert session.answer({"commute": "bus"}).delivered
            status, body = HttpTransport().get(f"{collector.survey}/estimates")
            assert status == 200
            assert json.loads(body)["n"] == 20
        with pytest.raises(NotDelivered):
            ObliviousTransport(relay).get(collector.survey)
    finally:
        collector.stop()


@pytest.mark.slow  # starts a server
def test_a_relay_without_its_gateway_says_so() -> None:
    with relaying("http://127.0.0.1:9") as relay:
        assert HttpTransport().get(f"{relay}/ohttp-keys")[0] == 502
        assert HttpTransport().post(relay, b"x", REQUEST_TYPE)[0] == 502
        assert HttpTransport().post(relay, b"x", "text/plain")[0] == 415
        assert HttpTransport().get(f"{relay}/elsewhere")[0] == 404
