"""Thousands of slow sockets to one collector, driven by one loop: the attackers of slow_clients.py.

python benchmarks/slow_sockets.py PORT PATH --sockets 10000 --sources 50 --again 10

Ends when its standard input is closed, and after ten minutes in any case; says once a second how many sockets it holds.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import resource
import select
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

KINDS = ("no body", "half a head", "idle", "one byte at a time")
BYTE_EVERY = 2.0
LONGEST = 600.0
BIND_ADDRESS_NO_PORT = 24
"""IP_BIND_ADDRESS_NO_PORT of Linux: many connections from one address."""


@dataclass
class Slow:
    """One slow socket and what it does."""

    number: int
    kind: str
    line: socket.socket | None = None
    rest: bytes = b""
    connected: bool = False
    due: float = 0.0
    """When it acts next; whatever was planned before is forgotten."""


@dataclass
class Attack:
    """All slow sockets, driven by one loop."""

    port: int
    path: str
    sockets: int
    sources: int
    again: float
    opened: int = 0
    lost: int = 0
    events: list[tuple[float, int]] = field(default_factory=list)

    def run(self) -> None:
        """Until the standard input is closed; one line of numbers a second."""
        poll, begun = select.epoll(), time.monotonic()
        poll.register(sys.stdin.fileno(), select.EPOLLIN | select.EPOLLHUP)
        slow = [Slow(number, KINDS[number % len(KINDS)], due=begun) for number in range(self.sockets)]
        by_file: dict[int, Slow] = {}
        self.events = [(begun, one.number) for one in slow]
        say = begun
        while time.monotonic() < begun + LONGEST:
            now = time.monotonic()
            for _ in range(200):
                if not self.events or self.events[0][0] > now:
                    break
                when, number = heapq.heappop(self.events)
                if when == slow[number].due:
                    self.act(slow[number], poll, by_file, now)
            if now >= say:
                held = sum(one.line is not None for one in slow)
                print(json.dumps({"held": held, "opened": self.opened, "lost": self.lost}), flush=True)
                say = now + 1
            for number, _ in poll.poll(0.01 if self.events and self.events[0][0] <= now else 0.1):
                if number == sys.stdin.fileno():
                    return
                self.heard(by_file[number], poll, by_file, now)

    def act(self, one: Slow, poll: select.epoll, by_file: dict[int, Slow], now: float) -> None:
        """Open, or send one byte more."""
        if one.line is None:
            line = socket.socket()
            line.setblocking(False)
            line.setsockopt(socket.IPPROTO_IP, BIND_ADDRESS_NO_PORT, 1)
            line.bind((f"127.0.1.{1 + one.number % self.sources}", 0))
            with suppress(BlockingIOError):
                line.connect(("127.0.0.1", self.port))
            one.line, one.rest, one.connected = line, self.words(one.kind), False
            by_file[line.fileno()] = one
            poll.register(line.fileno(), select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLOUT)
            self.opened += 1
        elif one.kind == "one byte at a time" and one.rest and one.connected:
            with suppress(OSError):
                one.line.send(one.rest[:1])
            one.rest = one.rest[1:]
            self.plan(one, now + BYTE_EVERY)

    def plan(self, one: Slow, when: float) -> None:
        one.due = when
        heapq.heappush(self.events, (when, one.number))

    def words(self, kind: str) -> bytes:
        """What a socket sends at first, or bit by bit."""
        post = f"POST {self.path}/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 120\r\n\r\n"
        return {
            "no body": post.encode(),
            "half a head": post[:60].encode(),
            "idle": f"GET {self.path} HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
            "one byte at a time": post.encode(),
        }[kind]

    def heard(self, one: Slow, poll: select.epoll, by_file: dict[int, Slow], now: float) -> None:
        """Connected, answered or closed."""
        assert one.line is not None
        number = one.line.fileno()
        try:
            closed = not one.line.recv(65536)
        except BlockingIOError:  # it is only now connected
            closed = False
            poll.modify(number, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLHUP)
            one.connected = True
            if one.kind == "one byte at a time":
                self.plan(one, now)
            else:
                with suppress(OSError):
                    one.line.send(one.rest)
        except OSError:
            closed = True
        if closed:
            poll.unregister(number)
            del by_file[number]
            one.line.close()
            one.line = None
            self.lost += 1
            self.plan(one, now + self.again)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("path", help="of a survey: /v1/surveys/HASH")
    parser.add_argument("--sockets", type=int, default=10_000)
    parser.add_argument("--sources", type=int, default=50, choices=range(1, 251), metavar="1..250")
    parser.add_argument("--again", type=float, default=10.0, help="seconds until a closed socket comes back")
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.nice(10)  # on machines of their own they would not take the processor from whom they attack
    Attack(given.port, given.path, given.sockets, given.sources, given.again).run()


if __name__ == "__main__":
    main()
