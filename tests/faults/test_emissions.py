"""A device that tells its answer beside the report, by whatever byte, file, wait or word, is caught."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import os
import socket
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.guards.emissions import Run, assert_nothing_told, run
from tests.guards.scenarios import answers_of, keys, life, lives, survey_of
from tests.guards.wire_tap import WireTap

from deniable.core import Categories, Mechanism, encode_report, make_mechanism
from deniable.errors import NotDelivered
from deniable.surveys import HttpTransport, Ledger, Receipt, Session
from deniable.surveys import session as session_module
from deniable.surveys.ledger import Pending

SURVEY = survey_of(make_mechanism("k-rr", domain=Categories(4), epsilon=1))
Plant = Callable[[pytest.MonkeyPatch], None]
now_odd = [False]
"""Whether the answer that is being given is an odd one: what a fault would like to tell."""


@pytest.fixture(autouse=True)
def overheard(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Session.answer

    def answer(self: Session, answers: Any, **more: Any) -> Receipt:
        if answers:
            now_odd[0] = self.survey.mechanism.encode(self.survey.value(answers)) % 2 == 1
        return honest(self, answers, **more)

    monkeypatch.setattr(Session, "answer", answer)


def changed_body(change: Callable[[bytes], bytes]) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        honest = HttpTransport.post

        def post(self: HttpTransport, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
            return honest(self, url, change(body) if now_odd[0] else body, content_type)

        patch.setattr(HttpTransport, "post", post)

    return plant


def other_order(body: bytes) -> bytes:
    return json.dumps(dict(reversed(json.loads(body).items())), separators=(",", ":")).encode()


def upper_case(body: bytes) -> bytes:
    return body.replace(b'"report"', b'"Report"') if b"submissions" not in body else body


def another_header(patch: pytest.MonkeyPatch) -> None:
    honest = urllib.request.Request.add_header

    def add_header(self: urllib.request.Request, key: str, val: str) -> None:
        honest(self, key, val)
        if now_odd[0]:
            honest(self, "Accept", "*/*")

    patch.setattr(urllib.request.Request, "add_header", add_header)


def another_type(patch: pytest.MonkeyPatch) -> None:
    honest = HttpTransport.post

    def post(self: HttpTransport, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        return honest(self, url, body, "application/json; charset=utf-8" if now_odd[0] else content_type)

    patch.setattr(HttpTransport, "post", post)


def one_more_request(patch: pytest.MonkeyPatch) -> None:
    honest = HttpTransport.post

    def post(self: HttpTransport, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        if now_odd[0]:
            self.get(url)
        return honest(self, url, body, content_type)

    patch.setattr(HttpTransport, "post", post)


def no_second_attempt(patch: pytest.MonkeyPatch) -> None:
    honest = Session._post

    def post(self: Session, url: str, body: bytes) -> int:
        if now_odd[0]:
            self.patience = replace(self.patience, attempts=2)
        return honest(self, url, body)

    patch.setattr(Session, "_post", post)


def changed_key(change: Callable[[Ledger, Pending], bytes]) -> Plant:
    """The key is changed where it is drawn, so that retries and the ledger have the changed one, too."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        honest = Ledger.draw

        def draw(self: Ledger, survey: str, period: str, **more: Any) -> Pending:
            found = honest(self, survey, period, **more)
            key = change(self, found)
            with self._file.writing() as connection:
                connection.execute("UPDATE answers SET key = ? WHERE survey = ? AND period = ?", (key, survey, period))
            return replace(found, key=key)

        patch.setattr(Ledger, "draw", draw)

    return plant


def last_bit(ledger: Ledger, pending: Pending) -> bytes:
    return pending.key[:-1] + bytes([pending.key[-1] & 0xFE | now_odd[0]])


def from_ledger_and_period(ledger: Ledger, pending: Pending) -> bytes:
    return hmac.new(ledger._key, pending.period.encode(), hashlib.sha256).digest()[:16]


def changed_report(patch: pytest.MonkeyPatch) -> None:
    honest = encode_report

    def encode(mechanism: Mechanism, report: Any) -> bytes:
        return honest(mechanism, replace(report, output=report.output ^ now_odd[0]))

    patch.setattr(session_module, "encode_report", encode)


def second_draw(patch: pytest.MonkeyPatch) -> None:
    honest = Mechanism.randomize

    def randomize(self: Mechanism, value: Any, *coins: Any) -> Any:
        if now_odd[0]:
            honest(self, value, *coins)
        return honest(self, value, *coins)

    patch.setattr(Mechanism, "randomize", randomize)


def more_randomness(patch: pytest.MonkeyPatch) -> None:
    after_answer(lambda device: os.urandom(1))(patch)


def after_answer(deed: Callable[[Session], Any]) -> Plant:
    """Something is done after every odd answer."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        heard = Session.answer

        def answer(self: Session, answers: Any, **more: Any) -> Receipt:
            try:
                return heard(self, answers, **more)
            finally:
                if now_odd[0]:
                    deed(self)

        patch.setattr(Session, "answer", answer)

    return plant


def note_at_home(device: Session) -> None:
    (Path.home() / ".answered").write_text("1")


def note_that_is_removed(device: Session) -> None:
    note_at_home(device)
    (Path.home() / ".answered").unlink()


def attribute(device: Session) -> None:
    device.__dict__["_last"] = True


def wide_ledger(device: Session) -> None:
    with device.ledger._file.writing() as connection:
        connection.execute("UPDATE spent SET epsilon = '2/2'")


def in_two_pieces(patch: pytest.MonkeyPatch) -> None:
    """The same bytes in other segments."""
    honest = http.client.HTTPConnection.send

    def send(self: http.client.HTTPConnection, data: Any) -> None:
        for piece in (data[:20], data[20:]) if now_odd[0] else (data,):
            honest(self, piece)

    patch.setattr(http.client.HTTPConnection, "send", send)


def marked_packets(patch: pytest.MonkeyPatch) -> None:
    honest = http.client.HTTPConnection.connect

    def connect(self: http.client.HTTPConnection) -> None:
        honest(self)
        if now_odd[0]:
            self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 4)

    patch.setattr(http.client.HTTPConnection, "connect", connect)


def look_at_a_file(device: Session) -> None:
    """By another thread, which the interpreter's hook does not watch."""
    thread = threading.Thread(target=Path(__file__).read_bytes)
    thread.start()
    thread.join()


def told_in_errors(patch: pytest.MonkeyPatch) -> None:
    honest = Session._post

    def post(self: Session, url: str, body: bytes) -> int:
        try:
            return honest(self, url, body)
        except NotDelivered as error:
            if now_odd[0]:
                error.add_note("while sending")
            raise

    patch.setattr(Session, "_post", post)


def told_in_refusals(patch: pytest.MonkeyPatch) -> None:
    honest = Session._send

    def send(self: Session, waiting: list[Pending]) -> None:
        try:
            honest(self, waiting)
        except NotDelivered as error:
            raise (NotDelivered(f"{error}.") if now_odd[0] else error) from None

    patch.setattr(Session, "_send", send)


FAULTS: dict[str, Plant] = {
    "a trailing space": changed_body(lambda body: body + b" "),
    "a space inside": changed_body(lambda body: body.replace(b'":"', b'": "')),
    "another order of fields": changed_body(other_order),
    "another spelling of a field": changed_body(upper_case),
    "a header more": another_header,
    "another content type": another_type,
    "a request more": one_more_request,
    "fewer attempts": no_second_attempt,
    "the last bit of the key": changed_key(last_bit),
    "the output itself": changed_report,
    "the same bytes in two pieces": in_two_pieces,
    "marked packets": marked_packets,
    "a thread of its own": after_answer(look_at_a_file),
    "a second draw": second_draw,
    "randomness that is thrown away": more_randomness,
    "a line in a log": after_answer(lambda device: logging.getLogger("deniable").debug("answered")),
    "a line on the screen": after_answer(lambda device: print("answered")),
    "a wait": after_answer(lambda device: time.sleep(0.01)),
    "a file at home": after_answer(note_at_home),
    "a file that is removed": after_answer(note_that_is_removed),
    "an attribute": after_answer(attribute),
    "a ledger in other words": after_answer(wide_ledger),
    "a look at the ledger": after_answer(lambda device: device.ledger.pending()),
    "a note on an error": told_in_errors,
    "another sentence": told_in_refusals,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_tells_odd_answers_from_even_ones_is_caught(
    fault: str, folder: Path, tap: WireTap, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS[fault](monkeypatch)
    with pytest.raises(AssertionError, match="can be told from the first"):
        assert_nothing_told(lives(SURVEY, answers_of(SURVEY)[:2], folder, tap))


def test_a_sound_device_passes(folder: Path, tap: WireTap) -> None:
    assert_nothing_told(lives(SURVEY, answers_of(SURVEY)[:2], folder, tap))


@pytest.mark.parametrize("change", [last_bit, from_ledger_and_period])
def test_a_key_that_is_not_the_generators_is_caught(
    change: Callable[[Ledger, Pending], bytes], folder: Path, tap: WireTap, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed_key(change)(monkeypatch)
    left = run(life(SURVEY, answers_of(SURVEY)[1]), folder, tap=tap)
    assert keys(left.wire) != [piece for piece in left.given if len(piece) == 16]


def test_a_run_that_changes_the_environment_is_caught(folder: Path) -> None:
    def scenario(seen: Run) -> None:
        os.environ["DENIABLE_ANSWERED"] = "1"

    with pytest.raises(AssertionError, match="environment"):
        run(scenario, folder)
    del os.environ["DENIABLE_ANSWERED"]
