"""Frames, seals and bad peers: a typed error, nothing leaked."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import ClassVar

import pytest

from deniable.errors import BadMessage, InvalidParameter, PeerLost, Replayed
from deniable.studies import Identity, JointSurvey, SealedLink, SocketLink, Thresholds, converse, draw_as_first, draw_as_second
from deniable.studies.joint.protocol.transport import MOST_FRAME

LAW = Thresholds.of("3/4", "-1/6")


def test_a_pair_draws_over_a_socket_with_less_than_a_megabyte() -> None:
    left, right = _loopback()
    found: list[bool] = []

    def other() -> None:
        with SocketLink(right, 10) as link:
            found.append(converse(draw_as_second(LAW, b"pair"), link))

    thread = threading.Thread(target=other)
    thread.start()
    with SocketLink(left, 10) as link:
        converse(draw_as_first(LAW, b"pair"), link)
        thread.join(10)
        assert link.sent + link.received < 10**6
    assert len(found) == 1


def _loopback() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        left = socket.create_connection(server.getsockname(), timeout=60)
        right, _ = server.accept()
    return left, right


def facing(misbehave: Callable[[socket.socket], None], seconds: float = 5) -> None:
    """User 1 meets somebody on a socket who misbehaves and hangs up."""
    left, right = _loopback()
    try:
        misbehave(right)
        with SocketLink(left, seconds) as link:
            converse(draw_as_first(LAW, b"pair"), link)
    finally:
        right.close()


def half_a_length(peer: socket.socket) -> None:
    peer.sendall(b"\0\0")
    peer.close()


def test_a_peer_who_hangs_up() -> None:
    with pytest.raises(PeerLost):
        facing(lambda peer: peer.close())
    with pytest.raises(PeerLost):
        facing(half_a_length)


def test_a_peer_who_is_silent() -> None:
    with pytest.raises(PeerLost, match=r"silent|too long"):
        facing(lambda peer: None, 0.3)


def test_a_peer_who_drips_meets_the_deadline() -> None:
    left, right = _loopback()
    stop = threading.Event()

    def drip() -> None:
        for _ in range(100):
            if stop.wait(0.05):
                return
            right.send(b"\0")

    right.sendall((2000).to_bytes(4, "big"))
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(PeerLost), SocketLink(left, 0.5) as link:
            converse(draw_as_first(LAW, b"pair"), link)
    finally:
        stop.set()
        thread.join(5)
        right.close()


@pytest.mark.parametrize(
    "junk", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, b"\0\0\0\x05hello", (MOST_FRAME + 1).to_bytes(4, "big")]
)
def test_a_peer_who_sends_garbage(junk: bytes) -> None:
    with pytest.raises(BadMessage):
        facing(lambda peer: peer.sendall(junk))


def test_limits_and_addresses() -> None:
    left, right = _loopback()
    with SocketLink(left, 5, most_bytes=10) as link, right:
        with pytest.raises(BadMessage, match="at most"):
            link.send(bytes(MOST_FRAME + 1))
        right.sendall((20).to_bytes(4, "big") + bytes(20))
        with pytest.raises(BadMessage, match="more than 10"):
            link.receive()
    with pytest.raises(InvalidParameter, match="port"):
        SocketLink.connect("127.0.0.1", 70000)
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    with pytest.raises(PeerLost, match="relay running"):
        SocketLink.connect("127.0.0.1", free, 2)


class Wire:
    """Two ends in one process; what is sent can be seen, changed and repeated."""

    def __init__(self) -> None:
        self.queue: deque[bytes] = deque()
        self.other: Wire

    def send(self, message: bytes) -> None:
        self.other.queue.append(message)

    def receive(self) -> bytes:
        for _ in range(500):
            if self.queue:
                return self.queue.popleft()
            time.sleep(0.01)
        raise PeerLost("nothing came")


def sealed(
    one: Identity, other: Identity, contexts: tuple[bytes, bytes] = (b"c", b"c"), expected: bytes | None = None
) -> tuple[SealedLink, SealedLink, Wire, Wire]:
    left, right = Wire(), Wire()
    left.other, right.other = right, left
    made: list[SealedLink] = []
    thread = threading.Thread(target=lambda: made.append(SealedLink(right, other, one.public, first=False, context=contexts[1])))
    thread.start()
    link = SealedLink(left, one, expected or other.public, first=True, context=contexts[0])
    thread.join(5)
    return link, made[0], left, right


def test_sealed_messages_arrive_and_hide() -> None:
    one, other, _, right = sealed(Identity.new(), Identity.new())
    assert one.context == other.context
    one.send(b"the secret")
    assert b"the secret" not in right.queue[0]
    assert other.receive() == b"the secret"
    other.send(b"back")
    assert one.receive() == b"back"


def test_replays_forgeries_and_reflections_are_refused() -> None:
    one, other, left, right = sealed(Identity.new(), Identity.new())
    one.send(b"first")
    frame = right.queue[0]
    assert other.receive() == b"first"
    right.queue.append(frame)
    with pytest.raises(Replayed):
        other.receive()
    one.send(b"second")
    changed = bytearray(right.queue.popleft())
    changed[-1] ^= 1
    right.queue.append(bytes(changed))
    with pytest.raises(BadMessage, match="changed"):
        other.receive()
    left.queue.append(frame)  # One's own frame, sent back.
    with pytest.raises(BadMessage, match="changed"):
        one.receive()
    left.queue.append(b"short")
    with pytest.raises(BadMessage, match="at least"):
        one.receive()


def test_frames_of_an_old_conversation_are_refused() -> None:
    ada, bob = Identity.new(), Identity.new()
    old, _, _, wire = sealed(ada, bob)
    old.send(b"old")
    _, fresh, _, right = sealed(ada, bob)
    right.queue.append(wire.queue[0])
    with pytest.raises(BadMessage, match="changed"):
        fresh.receive()


def test_a_stranger_in_between_is_noticed() -> None:
    ada, bob, eve = Identity.new(), Identity.new(), Identity.new()
    # Eve runs the relay and answers for Bob; Ada expects Bob's key from the survey.
    link, evil, left, _ = sealed(ada, eve, expected=bob.public)
    evil.send(b"hello, I am Bob")
    assert left.queue
    with pytest.raises(BadMessage):
        link.receive()


class Impostor(Identity):
    """Shows somebody else's public key without having the private one."""

    shown: ClassVar[bytes] = b""

    @property
    def public(self) -> bytes:
        return self.shown


def test_knowing_a_public_key_is_not_enough_to_pass_for_its_owner() -> None:
    ada, bob = Identity.new(), Identity.new()
    eve = Impostor.new()
    Impostor.shown = bob.public
    link, evil, _, _ = sealed(ada, eve)
    assert link.context == evil.context  # All public things agree; only the private key is missing.
    evil.send(b"hello, I am Bob")
    with pytest.raises(BadMessage, match="not from the user"):
        link.receive()


def test_users_who_disagree_about_the_survey_do_not_understand_each_other() -> None:
    one, other, _, _ = sealed(Identity.new(), Identity.new(), (b"p = 3/4", b"p = 0.99"))
    one.send(b"hello")
    with pytest.raises(BadMessage):
        other.receive()


def test_weak_and_short_keys_are_refused() -> None:
    for key in (bytes(32), b"short"):
        left, right = Wire(), Wire()
        left.other, right.other = right, left
        left.queue.append(key)
        with pytest.raises(BadMessage, match="key"):
            SealedLink(left, Identity.new(), Identity.new().public, first=True, context=b"")


def test_private_keys_do_not_show() -> None:
    identity = Identity.new()
    assert identity.to_bytes().hex() not in repr(identity)
    assert Identity.from_bytes(identity.to_bytes()).public == identity.public


def test_surveys_are_read_strictly() -> None:
    survey = JointSurvey("monday", LAW, {"ada": bytes(32), "bob": b"2" * 32}, bytes(32))
    assert JointSurvey.from_json(survey.to_json()) == survey
    for broken in (
        "",
        "[]",
        "{}",
        survey.to_json().replace(str(LAW.second), "5"),
        survey.to_json().replace('"joint":', '"x": 1, "joint":'),
    ):
        with pytest.raises(InvalidParameter):
            JointSurvey.from_json(broken)
    with pytest.raises(InvalidParameter, match="another key"):
        survey.with_user("ada", b"1" * 32)
    with pytest.raises(InvalidParameter, match="names"):
        survey.with_user("a b", b"1" * 32)
    many = JointSurvey("monday", LAW, {name: name[:1].encode() * 32 for name in ("ada", "bob", "eve")})
    with pytest.raises(InvalidParameter, match="joint is needed"):
        many.pairing()
