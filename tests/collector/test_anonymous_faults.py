"""Issuer, relay, shuffler and collector killed under load: no acknowledged report lost, nothing twice, no trace on any disk.

Each of them is killed twenty times, two at a time. DENIABLE_KILLS=2 is for a quick look.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.collector.anonymous import ANALYST, toml_with
from tests.collector.raw_files import places_of, rank_correlation, raw
from tests.collector.running import call, free_port

from deniable.collector import issuer_key
from deniable.errors import NotAdmitted, NotDelivered
from deniable.privacy import ObliviousTransport, Token, Wallet, anonymous_session, seal_report, token_header
from deniable.surveys import Ledger, Patience, Survey

KILLS = int(os.environ.get("DENIABLE_KILLS", "20"))
DEVICES, CODES = 4, 20_000
BETWEEN = 4
"""People who are acknowledged between two kills of one killer: no role dies idle."""
SENDER = "127.45.67.89"
"""The address that devices send from: it must be on no disk, written out or packed."""


class From:
    """A device's connections, from an address that can be recognised."""

    def __init__(self, token: str | None = None) -> None:
        self.token = token

    def with_token(self, token: str) -> From:
        return From(token if " " in token else f"Bearer {token}")

    def get(self, url: str) -> tuple[int, bytes]:
        return self._asked("GET", url, None, {})

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        named = {} if self.token is None else {"Authorization": self.token}
        return self._asked("POST", url, body, {"Content-Type": content_type, **named})

    def _asked(self, method: str, url: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60, source_address=(SENDER, 0))
        try:
            connection.request(method, parts.path or "/", body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            raise NotDelivered("away") from None
        finally:
            connection.close()


class Role:
    """One role in a folder of its own, at an address that stays."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.folder, self.port = folder, free_port()
        self.command = [sys.executable, "-m", "deniable.cli", *command, "--port", str(self.port), "--json"]
        folder.mkdir()
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, (self.folder / "log").read_text()[-2000:]
        self.said: dict[str, Any] = json.loads(line)

    def killed(self) -> None:
        """As a power cut would: at once, whatever it was doing."""
        self.end(signal.SIGKILL)
        self.start()

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Person(NamedTuple):
    """Who was acknowledged: their code, their token, and the key of their report."""

    code: str
    token: bytes
    key: bytes


class Crowd:
    """Devices that go on until they are told to stop; each finishes the person it is at."""

    def __init__(self, folder: Path, survey: Survey, codes: list[str], relay: str, shuffler: str) -> None:
        self.folder, self.survey, self.codes, self.relay, self.shuffler = folder, survey, codes, relay, shuffler
        self.people: list[Person] = []
        self.enough = threading.Event()
        self.wrong: list[BaseException] = []
        self.kills: list[str] = []
        self.threads = [threading.Thread(target=self._device, args=(number,)) for number in range(DEVICES)]

    def _device(self, number: int) -> None:
        try:
            for code in self.codes[number::DEVICES]:
                if self.enough.is_set():
                    return
                self.one_person(code)
        except BaseException as error:  # the test asks afterwards
            self.wrong.append(error)

    def has_answered(self, people: int) -> None:
        """NotDelivered, unless so many people were acknowledged or something is wrong."""
        if len(self.people) < people and not self.wrong:
            raise NotDelivered("too few yet")

    def one_person(self, code: str) -> None:
        """Fetch a token and answer, again and again until both are acknowledged."""
        wallet = Wallet(self.folder / f"{code}.wallet")
        until_delivered(lambda: wallet.fetch(self.survey, code, From()))
        ledger = Ledger(self.folder / f"{code}.ledger")
        sent: list[tuple[bytes, bytes]] = []

        class Noting(ObliviousTransport):
            def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
                sent.append((str(self.token).encode(), body[:16]))
                return super().post(url, body, content_type)

        transport = Noting(self.relay, From())
        session = until_delivered(
            lambda: anonymous_session(self.shuffler, self.survey.hash, ledger, transport=transport, wallet=wallet)
        )
        session.patience = Patience(attempts=1)
        if not session.answer({"commute": "bus"}).delivered:
            until_delivered(session.deliver)
        assert len(set(sent)) == 1  # however often: one token, one report
        token = wallet.token(self.survey.hash, "", sent[0][1])
        self.people.append(Person(code, token.to_bytes(), sent[0][1]))


def until_delivered(step: Any) -> Any:
    for _ in range(2000):
        try:
            return step()
        except NotAdmitted:
            raise
        except NotDelivered:
            time.sleep(0.05)
    raise AssertionError("nobody answered for 100 seconds")


def kill_in_turn(crowd: Crowd, roles: list[Role]) -> None:
    """Kill each of these roles so many times, while people answer."""
    try:
        for _ in range(KILLS):
            for role in roles:
                answered = len(crowd.people)
                until_delivered(lambda: crowd.has_answered(answered + BETWEEN))  # noqa: B023 - called at once
                role.killed()
                crowd.kills.append(role.command[3])
    except BaseException as error:  # the test asks afterwards
        crowd.wrong.append(error)


@pytest.mark.heavy
def test_killed_roles_lose_nothing_double_nothing_and_leave_no_trace(tmp_path: Path) -> None:
    codes = [os.urandom(16).hex() for _ in range(CODES)]
    for name, text in (("codes.txt", "\n".join(codes)), ("analyst.key", f"0 {ANALYST.private_bytes_raw().hex()}\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    key = issuer_key(tmp_path / "issuer.pem", new=True).text
    roles: dict[str, Role] = {}
    try:
        roles["issuer"] = Role(
            tmp_path / "issuer", "issuer", "--key", str(tmp_path / "issuer.pem"), "--invitations", str(tmp_path / "codes.txt")
        )
        (tmp_path / "survey.toml").write_text(toml_with(issuer=roles["issuer"].address, key=key, reports=2))
        roles["collector"] = Role(
            tmp_path / "collector", "serve", str(tmp_path / "survey.toml"), "--analyst-key", str(tmp_path / "analyst.key")
        )
        url = roles["collector"].said["surveys"][0]["url"]
        roles["shuffler"] = Role(
            tmp_path / "shuffler", "shuffle", url, "--at-least", "2", "--gateway-keys", str(tmp_path / "shuffler.keys")
        )
        roles["relay"] = Role(tmp_path / "relay", "relay", "--gateway", roles["shuffler"].address)
        survey = Survey.from_json(call(url)[1])
        (tmp_path / "devices").mkdir()
        crowd = Crowd(tmp_path / "devices", survey, codes, roles["relay"].address, roles["shuffler"].address)
        pairs = [[roles["issuer"], roles["shuffler"]], [roles["collector"], roles["relay"]]]
        killers = [threading.Thread(target=kill_in_turn, args=(crowd, pair)) for pair in pairs]
        for thread in [*crowd.threads, *killers]:
            thread.start()
        for thread in killers:
            thread.join()
        crowd.enough.set()
        for thread in crowd.threads:
            thread.join(600)
        assert not crowd.wrong, crowd.wrong
        assert Counter(crowd.kills) == dict.fromkeys(("issuer", "serve", "shuffle", "relay"), KILLS)
        assert len(crowd.people) >= BETWEEN * KILLS
        _nothing_twice(crowd, tmp_path)
        _all_counted(crowd, url)
    finally:
        for role in reversed(roles.values()):
            role.end()
    _no_trace(crowd.people, tmp_path)
    print(f"{4 * KILLS} kills, {len(crowd.people)} people")


def _nothing_twice(crowd: Crowd, folder: Path) -> None:
    """A code gives no second token, and a token carries no second report."""
    for person in crowd.people[:10]:
        with pytest.raises(NotAdmitted):
            Wallet(folder / f"{person.code}.again").fetch(crowd.survey, person.code, From())
    transport = ObliviousTransport(crowd.relay, From())
    address = f"{crowd.shuffler}/v1/surveys/{crowd.survey.hash}/sealed"
    for person in crowd.people:
        carrier = transport.with_token(token_header(Token.from_bytes(person.token)))
        other = os.urandom(16)
        status, _ = carrier.post(
            address, other + seal_report(crowd.survey, other, _report(crowd.survey)), "application/vnd.deniable.sealed"
        )
        assert status == 409


def _report(survey: Survey) -> bytes:
    from deniable.core import encode_report

    return encode_report(survey.mechanism, survey.mechanism.randomize("bus"))


def _all_counted(crowd: Crowd, url: str) -> None:
    """Every acknowledged report arrives, once. Batches have two at least, so the last one may need company."""
    spare = iter(reversed(crowd.codes))
    for turn in range(300):
        n = json.loads(call(f"{url}/estimates")[1])["n"]
        assert n <= len(crowd.people)
        if n == len(crowd.people):
            return
        if turn % 50 == 49:
            crowd.one_person(next(spare))
        time.sleep(0.2)
    raise AssertionError(f"{len(crowd.people) - n} of {len(crowd.people)} acknowledged reports were not counted")


def _no_trace(people: list[Person], folder: Path) -> None:
    disks = {name: raw(folder / name) for name in ("issuer", "collector", "shuffler", "relay")}
    packed = bytes(map(int, SENDER.split(".")))
    for name, disk in disks.items():
        assert SENDER.encode() not in disk, name
        assert packed not in disk, name
        assert max(places_of(disk, [person.code.encode() for person in people])) < 0, name
        assert max(places_of(disk, [person.token[98:] for person in people])) < 0, name  # signatures
    for name in ("issuer", "relay"):
        assert max(places_of(disks[name], [person.key for person in people])) < 0, name
        assert max(places_of(disks[name], [person.token[2:34] for person in people])) < 0, name
    # Both remember every key. A shuffler's lie in no order of arrival: beyond 5 standard deviations once in a million. What a
    # collector's file says about order is test_order_on_disk's subject: batches may have two reports here.
    for name in ("collector", "shuffler"):
        places = places_of(disks[name], [person.key for person in people])
        assert min(places) >= 0, name
    if len(people) >= 30:
        assert abs(rank_correlation(places)) < 5 / np.sqrt(len(people) - 1)
