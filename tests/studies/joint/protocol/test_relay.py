"""Pairs meet at a relay; a broken pair answers alone and the others go on."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deniable.errors import InvalidParameter, PeerLost
from deniable.studies import Identity, JointAnswer, JointSurvey, Relay, SocketLink, Thresholds, answer_jointly
from deniable.studies.joint.protocol.answering import enter_room, room_name
from deniable.studies.joint.protocol.transport import HELLO, MOST_FRAME
from deniable.surveys import Ledger

pytestmark = pytest.mark.slow  # waits by the clock, as the protocol does

NAMES = ("ada", "bob", "eve", "joe", "kim", "zoe")
KEYS = {name: Identity.new() for name in NAMES}
SURVEY = JointSurvey("monday", Thresholds.of("3/4", "-1/6"), {name: key.public for name, key in KEYS.items()}, bytes(range(32)))


@contextlib.contextmanager
def running(patience: float = 10) -> Iterator[Relay]:
    """A relay in a thread of its own."""
    relay = Relay(patience=patience)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(relay.start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield relay
    finally:

        async def stop() -> None:
            server.close()
            left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture
def relay() -> Iterator[Relay]:
    with running() as found:
        yield found


def answer(name: str, relay: Relay, seconds: float = 10, survey: JointSurvey = SURVEY) -> JointAnswer:
    """One user's answer, with a ledger that is new: every test is another person's first round."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(f"{folder}/ledger.db")
        return answer_jointly(survey, name, 1, KEYS[name], ledger=ledger, host=relay.host, port=relay.port, seconds=seconds)


def test_all_pairs_answer_together(relay: Relay) -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda name: answer(name, relay), NAMES))
    assert all(one.together for one in found), [one.reason for one in found]
    assert all(one.output in (0, 1) and 0 < one.traffic < 10**6 for one in found)


def test_a_partner_who_stays_away_leaves_the_others_alone_but_answering(relay: Relay) -> None:
    absent = SURVEY.pairing().pairs[0][1]
    with ThreadPoolExecutor(6) as pool:
        found = dict(zip(NAMES, pool.map(lambda name: None if name == absent else answer(name, relay, 1.5), NAMES), strict=True))
    lonely = SURVEY.pairing().partner(absent)
    for name, one in found.items():
        if one is not None:
            assert one.together == (name != lonely)
            assert one.output in (0, 1)
            assert bool(one.reason) == (name == lonely)


def test_a_partner_who_hangs_up_or_talks_nonsense(relay: Relay) -> None:
    first, second = SURVEY.pairing().pairs[0]

    def intruder(nonsense: bytes) -> None:
        with SocketLink.connect(relay.host, relay.port, 5) as link:
            enter_room(link, room_name(SURVEY, first, second))
            if nonsense:
                link.send(nonsense)
                with contextlib.suppress(PeerLost):
                    for _ in range(5):
                        link.receive()

    for nonsense in (b"", b"x", bytes(32), b"k" * 32, b"n" * MOST_FRAME):
        with ThreadPoolExecutor(2) as pool:
            bad = pool.submit(intruder, nonsense)
            found = pool.submit(answer, second, relay, 5).result(20)
            bad.result(20)
        assert not found.together
        assert found.reason


def test_the_relay_survives_rude_visitors(relay: Relay) -> None:
    for junk in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, (49).to_bytes(4, "big") + HELLO[:-1] + b"?" + bytes(32)):
        with socket.create_connection((relay.host, relay.port), timeout=60) as rude:
            rude.sendall(junk)
            rude.shutdown(socket.SHUT_WR)
            assert rude.recv(10) == b""
    pair = SURVEY.pairing().pairs[0]
    with ThreadPoolExecutor(2) as pool:
        assert all(one.together for one in pool.map(lambda name: answer(name, relay), pair))


def test_the_relay_loses_patience() -> None:
    with running(patience=0.3) as relay, SocketLink.connect(relay.host, relay.port, 5) as link, pytest.raises(PeerLost):
        enter_room(link, bytes(32))


def test_a_user_who_left_does_not_keep_his_place(relay: Relay) -> None:
    first, second = SURVEY.pairing().pairs[0]
    for early in (b"", b"too early"):
        with SocketLink.connect(relay.host, relay.port, 5) as link:
            link.send(HELLO + room_name(SURVEY, first, second))
            if early:
                link.send(early)
                with pytest.raises(PeerLost):
                    link.receive()
        time.sleep(0.2)
    with ThreadPoolExecutor(2) as pool:
        assert all(one.together for one in pool.map(lambda name: answer(name, relay), (first, second)))


def test_a_full_relay_hangs_up(relay: Relay) -> None:
    relay.most_waiting = 0
    with SocketLink.connect(relay.host, relay.port, 5) as link, pytest.raises(PeerLost):
        enter_room(link, bytes(32))


def test_users_with_different_surveys_never_meet(relay: Relay) -> None:
    first, second = SURVEY.pairing().pairs[0]
    other = JointSurvey(SURVEY.round_name, Thresholds.of("3/4", "-1/5"), SURVEY.users, SURVEY.joint)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(answer, first, relay, 1)
        two = pool.submit(answer, second, relay, 1, other)
    assert not one.result().together
    assert not two.result().together


def test_the_odd_one_answers_alone(relay: Relay) -> None:
    odd = JointSurvey("monday", SURVEY.thresholds, {name: KEYS[name].public for name in NAMES[:5]}, bytes(32))
    alone = odd.pairing().alone
    assert alone is not None
    found = answer(alone, relay, survey=odd)
    assert not found.together
    assert "odd" in found.reason


def test_bad_arguments_are_refused_without_showing_the_answer(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    with pytest.raises(InvalidParameter, match="private") as caught:
        answer_jointly(SURVEY, "ada", 17, KEYS["ada"], ledger=ledger, host="127.0.0.1", port=9)
    assert "17" not in str(caught.value)
    with pytest.raises(InvalidParameter, match="take part"):
        answer_jointly(SURVEY, "max", 1, KEYS["ada"], ledger=ledger, host="127.0.0.1", port=9)
    with pytest.raises(InvalidParameter, match="another public key"):
        answer_jointly(SURVEY, "bob", 1, KEYS["ada"], ledger=ledger, host="127.0.0.1", port=9)
    assert ledger.spent() == 0
