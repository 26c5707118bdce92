"""Which connections are open, what each of them is waited for, and which has to go when there are too many."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from enum import IntEnum, auto

from deniable.collector.limits import Limits

SWEEPS = 4
"""How often deadlines are looked at within the shortest of them."""
LONGEST_SWEEP = 0.05
"""Seconds. Thousands who came together are late together, and closing all of them at once would keep everyone else waiting."""


class Waiting(IntEnum):
    """What the client of a connection still has to do."""

    HANDSHAKE = auto()
    HEAD = auto()
    BODY = auto()
    IDLE = auto()
    ANSWER = auto()
    """It has to read: more is written to it than it takes."""


class Connection:
    """What the table knows of a connection."""

    source: str | None = None
    """The address it counts for, in memory while it is open; None counts for nobody."""
    waits: Waiting | None = None
    """None while the collector works: then it is not the client who is slow."""
    since: float = 0.0

    def drop(self, late: Waiting | None) -> None:
        """End it: because the client was `late` with something, or to make room."""
        raise NotImplementedError


class Connections:
    """All connections of one worker.

    Every wait for a client has a deadline, and bytes that trickle in do not move it. An address with too many
    connections loses its own slowest one to each new one; a full table loses the slowest of all. Slowest means: the
    client has been waited for longest. A client whose requests arrive whole is never the slowest for long.
    """

    def __init__(self, limits: Limits, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.limits = limits
        self.dropped: Counter[str] = Counter()
        self._loop = loop
        self._seconds = {
            Waiting.HANDSHAKE: limits.head_seconds,
            Waiting.HEAD: limits.head_seconds,
            Waiting.BODY: limits.body_seconds,
            Waiting.IDLE: limits.idle_seconds,
            Waiting.ANSWER: limits.answer_seconds,
        }
        # In the order in which the waits began, so that the first of each queue is the next one to be late.
        self._queues: dict[Waiting, OrderedDict[Connection, None]] = {kind: OrderedDict() for kind in Waiting}
        self._open: set[Connection] = set()
        self._groups: dict[str, set[Connection]] = {}
        self._sweep_after = min(LONGEST_SWEEP, min(self._seconds.values()) / SWEEPS)
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def _now(self) -> float:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return self._loop.time()

    def admit(self, connection: Connection, source: str | None, waits: Waiting) -> bool:
        """Take a new connection in; False when there is no room and nobody slow to make it."""
        if not self._room_in(source):
            return False
        if len(self._open) >= self.limits.connections and not self._drop("full", self._slowest()):
            return False
        self._open.add(connection)
        self._join(connection, source)
        self.wait(connection, waits)
        if self._timer is None and self._loop is not None:
            self._timer = self._loop.call_later(self._sweep_after, self._sweep)
        return True

    def leave(self, connection: Connection) -> None:
        """It is over; harmless when it was over already."""
        self._open.discard(connection)
        self.assign(connection, None)
        self.wait(connection, None)

    def assign(self, connection: Connection, source: str | None) -> bool:
        """Count a connection for another address; False when that address has too many already, none of them slow."""
        if connection.source == source:
            return True
        if connection.source is not None:
            group = self._groups[connection.source]
            group.discard(connection)
            if not group:
                del self._groups[connection.source]
            connection.source = None
        if not self._room_in(source):
            return False
        self._join(connection, source)
        return True

    def wait(self, connection: Connection, waits: Waiting | None) -> None:
        """From now on the client is waited for: `waits` says for what."""
        if connection.waits is not None:
            del self._queues[connection.waits][connection]
        connection.waits = waits
        if waits is not None:
            connection.since = self._now()
            self._queues[waits][connection] = None

    def expire(self) -> None:
        """Drop everyone whose deadline has passed."""
        now = self._now()
        for kind, queue in self._queues.items():
            while queue and next(iter(queue)).since + self._seconds[kind] <= now:
                self._drop(f"late {kind.name.lower()}", next(iter(queue)), late=kind)

    def _join(self, connection: Connection, source: str | None) -> None:
        connection.source = source
        if source is not None:
            self._groups.setdefault(source, set()).add(connection)

    def _room_in(self, source: str | None) -> bool:
        group = self._groups.get(source, ()) if source is not None else ()
        if len(group) < self.limits.connections_per_address:
            return True
        waiting = (member for member in group if member.waits is not None)
        return self._drop("address", min(waiting, key=lambda member: member.since, default=None))

    def _slowest(self) -> Connection | None:
        firsts = (next(iter(queue)) for queue in self._queues.values() if queue)
        return min(firsts, key=lambda member: member.since, default=None)

    def _drop(self, why: str, victim: Connection | None, late: Waiting | None = None) -> bool:
        if victim is None:
            return False
        self.dropped[why] += 1
        self.leave(victim)
        victim.drop(late)
        return True

    def _sweep(self) -> None:
        self._timer = None
        self.expire()
        if self._open and self._loop is not None:
            self._timer = self._loop.call_later(self._sweep_after, self._sweep)
