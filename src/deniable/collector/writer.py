"""Group commit: whatever arrived while the last transaction was being written goes into the next one."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from deniable.collector.store import Arrival

MOST_WAITING = 4096
"""Requests that may wait; more are told to come back."""
MOST_REPORTS = 1 << 20
"""Reports in one transaction."""
GIVE_UP = 20.0
"""Seconds to try a transaction again while the database is away."""


class Counter(Protocol):
    """What counts arrivals durably: a `Store`."""

    def count(self, arrivals: list[Arrival]) -> list[bool]:
        """For every arrival, was it new?"""
        ...


class Busy(Exception):
    """Too much is waiting, or the database is away: come back later with the same key."""


@dataclass(slots=True)
class _Waiting:
    arrivals: list[Arrival]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[list[bool]]


@dataclass
class Tally:
    """What the writer has done since it began."""

    transactions: int = 0
    accepted: int = 0
    known: int = 0
    failures: int = 0
    seconds: float = field(default=0.0)


class Writer:
    """One thread that writes. Requests wait for the transaction that holds them, and are answered after its commit."""

    def __init__(self, store: Counter, *, most_waiting: int = MOST_WAITING, give_up: float = GIVE_UP) -> None:
        self._store = store
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._most_waiting = most_waiting
        self._give_up = give_up
        self._waiting = 0
        self._closed = False
        self.tally = Tally()
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._thread.start()

    async def count(self, arrivals: list[Arrival]) -> list[bool]:
        """Counted and durable when this returns; raises Busy when nothing of it will be counted by this call."""
        if self._closed or self._waiting >= self._most_waiting:
            raise Busy
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[bool]] = loop.create_future()
        self._waiting += 1
        self._queue.put(_Waiting(arrivals, loop, answer))
        try:
            return await answer
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Write what is waiting, then stop."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            group, stopping = self._next_group()
            if group:
                self._write(group)

    def _next_group(self) -> tuple[list[_Waiting], bool]:
        """Wait for one, then take everything that is there."""
        group: list[_Waiting] = []
        reports = 0
        item = self._queue.get()
        while item is not None:
            group.append(item)
            reports += sum(arrival.count for arrival in item.arrivals)
            if reports >= MOST_REPORTS:
                return group, False
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return group, False
        return group, True

    def _write(self, group: list[_Waiting]) -> None:
        arrivals = [arrival for item in group for arrival in item.arrivals]
        began = time.monotonic()
        fresh: list[bool] | None = None
        pause = 0.05
        while fresh is None:
            try:
                fresh = self._store.count(arrivals)
            except Exception:
                # A commit whose answer was lost is safe to repeat: its keys have receipts.
                self.tally.failures += 1
                if self._closed or time.monotonic() - began + pause > self._give_up:
                    break
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
        self.tally.transactions += 1
        self.tally.seconds += time.monotonic() - began
        if fresh is not None:
            for arrival, new in zip(arrivals, fresh, strict=True):
                self.tally.accepted += arrival.count if new else 0
                self.tally.known += 0 if new else arrival.count
        self._answer(group, fresh)

    def _answer(self, group: list[_Waiting], fresh: list[bool] | None) -> None:
        begin = 0
        by_loop: dict[asyncio.AbstractEventLoop, list[Callable[[], None]]] = {}
        for item in group:
            mine = None if fresh is None else fresh[begin : begin + len(item.arrivals)]
            begin += len(item.arrivals)
            by_loop.setdefault(item.loop, []).append(_settling(item.answer, mine))
        for loop, settle in by_loop.items():
            # One wake-up for the whole group.
            try:
                loop.call_soon_threadsafe(_all, settle)
            except RuntimeError:  # the loop is gone, and with it everyone who waited
                continue


def _settling(answer: asyncio.Future[list[bool]], fresh: list[bool] | None) -> Callable[[], None]:
    def settle() -> None:
        if answer.done():
            return
        if fresh is None:
            answer.set_exception(Busy())
        else:
            answer.set_result(fresh)

    return settle


def _all(calls: list[Callable[[], None]]) -> None:
    for call in calls:
        call()
