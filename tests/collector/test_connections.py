"""The table of connections, with a clock that the test moves: who is late, who has to go, and who never does."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from starlette.applications import Starlette

from deniable.collector import Limits, Proxies, Serving, listening_socket, make_server
from deniable.collector.addresses import source_of
from deniable.collector.connections import Connection, Connections, Waiting
from deniable.collector.server import BACKLOG
from deniable.errors import InvalidParameter
from deniable.surveys import is_loopback

LIMITS = Limits(head_seconds=10, body_seconds=30, idle_seconds=15, answer_seconds=60, connections=6, connections_per_address=3)
HERE = "192.0.2.1"


class Clock:
    """A loop that only knows the time."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], None]) -> None:
        """Deadlines are looked at by the test."""


class Client(Connection):
    def __init__(self) -> None:
        self.ended: list[Waiting | None] = []

    def drop(self, late: Waiting | None) -> None:
        self.ended.append(late)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table(clock: Clock) -> Connections:
    return Connections(LIMITS, cast(asyncio.AbstractEventLoop, clock))


def admitted(table: Connections, source: str | None = HERE) -> Client:
    client = Client()
    assert table.admit(client, source, Waiting.HEAD)
    return client


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [(Waiting.HANDSHAKE, 10), (Waiting.HEAD, 10), (Waiting.BODY, 30), (Waiting.IDLE, 15), (Waiting.ANSWER, 60)],
)
def test_every_wait_ends_at_its_deadline(table: Connections, clock: Clock, kind: Waiting, seconds: float) -> None:
    client = admitted(table)
    clock.now = 5
    table.wait(client, kind)
    clock.now = 5 + seconds - 0.01
    table.expire()
    assert client.ended == []
    clock.now = 5 + seconds
    table.expire()
    assert client.ended == [kind]
    assert len(table) == 0
    assert table.dropped == {f"late {kind.name.lower()}": 1}


def test_nobody_is_late_while_the_collector_works(table: Connections, clock: Clock) -> None:
    client = admitted(table)
    table.wait(client, None)
    clock.now = 1e6
    table.expire()
    assert client.ended == []


def test_an_address_with_too_many_loses_its_own_slowest(table: Connections, clock: Clock) -> None:
    elsewhere = admitted(table, "192.0.2.9")
    clock.now = 1
    mine = [admitted(table) for _ in range(2)]
    clock.now = 2
    mine.append(admitted(table))
    table.wait(mine[0], Waiting.IDLE)  # it has just had an answer
    clock.now = 3
    newest = admitted(table)
    assert [client.ended for client in mine] == [[], [None], []]
    assert newest.ended == elsewhere.ended == []
    assert table.dropped == {"address": 1}


def test_a_full_table_loses_the_slowest_of_all(table: Connections, clock: Clock) -> None:
    clients = []
    for number in range(6):
        clock.now = number
        clients.append(admitted(table, f"192.0.2.{number}"))
    clock.now = 7
    table.wait(clients[0], None)  # the collector works for it
    table.wait(clients[1], Waiting.BODY)  # its head has just come
    newest = admitted(table, "192.0.2.100")
    assert [len(client.ended) for client in clients] == [0, 0, 1, 0, 0, 0]
    assert newest.ended == []
    assert len(table) == 6


def test_when_everybody_is_being_worked_for_a_new_one_is_turned_away(table: Connections) -> None:
    clients = [admitted(table, f"192.0.2.{number}") for number in range(6)]
    for client in clients:
        table.wait(client, None)
    assert not table.admit(Client(), "192.0.2.100", Waiting.HEAD)
    assert [client.ended for client in clients] == [[]] * 6
    table.leave(clients[0])
    assert table.admit(Client(), "192.0.2.100", Waiting.HEAD)


def test_ten_thousand_slow_ones_never_touch_one_that_is_quick(clock: Clock) -> None:
    limits = Limits(connections=500, connections_per_address=100)
    table = Connections(limits, cast(asyncio.AbstractEventLoop, clock))
    honest = admitted(table)
    for number in range(10_000):
        clock.now += 0.001
        admitted(table, f"10.0.{number % 50}.1")
        table.wait(honest, None)
        table.wait(honest, Waiting.IDLE)  # an answer a millisecond
    assert honest.ended == []
    assert len(table) == 500


def test_clients_of_a_proxy_count_by_what_it_says(table: Connections) -> None:
    lines = [admitted(table, None) for _ in range(5)]
    assert all(table.assign(line, HERE) for line in lines[:3])
    for line in lines[:3]:
        table.wait(line, None)
    assert not table.assign(lines[3], HERE)
    assert table.assign(lines[3], "192.0.2.2")
    table.assign(lines[0], None)
    assert table.assign(lines[4], HERE)
    table.wait(lines[4], None)
    table.wait(lines[1], Waiting.BODY)
    assert table.assign(lines[0], HERE)
    assert lines[1].ended == [None]


def test_leaving_twice_changes_nothing(table: Connections) -> None:
    client = admitted(table)
    table.leave(client)
    table.leave(client)
    assert len(table) == 0


def test_only_declared_proxies_are_believed() -> None:
    proxies = Proxies.parse(["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"])
    assert proxies.trust("127.0.0.1")
    assert proxies.trust("::ffff:10.1.2.3")
    assert not proxies.trust("192.0.2.1")
    assert not proxies.trust("nonsense")
    assert not Proxies().trust("127.0.0.1")
    with pytest.raises(InvalidParameter, match="--trusted-proxy"):
        Proxies.parse(["proxy.example.org"])


@pytest.mark.parametrize(
    ("lines", "client"),
    [
        ([], None),
        ([b""], None),
        ([b"192.0.2.7"], "192.0.2.7"),
        ([b"1.1.1.1, 192.0.2.7"], "192.0.2.7"),  # what comes first was written by the client itself
        ([b"1.1.1.1", b"192.0.2.7, 10.0.0.9"], "192.0.2.7"),
        ([b"nonsense"], None),
        ([b"2001:db9:1:2:3::4"], "2001:db9:1:2::"),
        ([b"\xff\xfe"], None),
    ],
)
def test_the_last_address_that_is_no_proxy_is_the_client(lines: list[bytes], client: str | None) -> None:
    proxies = Proxies.parse(["10.0.0.0/8"])
    assert proxies.client_of([(b"host", b"x"), *((b"x-forwarded-for", line) for line in lines)]) == client


def test_one_network_of_a_subscriber_is_one_source() -> None:
    assert source_of("2001:db8::1") == source_of("2001:db8::ffff:1") != source_of("2001:db8:0:1::1")
    assert source_of("") is None
    assert is_loopback("127.3.2.1")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("::")


@pytest.mark.skipif(sys.platform != "linux", reason="the length of a listening socket's queue is told by Linux only")
def test_as_many_connections_may_wait_to_be_taken_as_the_system_allows(tmp_path: Path) -> None:
    """A connection that finds no place is dropped silently, and its client tries again after 1, 3 and 7 seconds."""

    def queue(listening: socket.socket) -> int:
        # struct tcp_info: of a socket that listens, tcpi_sacked is how many may wait.
        return int(struct.unpack_from("I", listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 28)[0])

    allowed = int(Path("/proc/sys/net/core/somaxconn").read_text())
    with listening_socket("127.0.0.1", 0) as listening:
        assert queue(listening) == min(BACKLOG, allowed)
        server = make_server(Serving(f"sqlite:///{tmp_path / 'collector.db'}"), lambda: None)
        assert server.config.backlog == BACKLOG, "the server listens again, with a length of its own"
        state = cast("Starlette", server.config.app).state.collector
        state.writer.close()
        state.store.close()
