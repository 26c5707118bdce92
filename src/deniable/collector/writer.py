"""Group commit: whatever arrived while the last transaction was being written goes into the next one."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

from deniable.collector.deadlines import ANSWER_SECONDS, TRANSACTION_SECONDS
from deniable.collector.failures import Failures
from deniable.collector.holding import Answers, Busy, Holding, NotYetWritten, Outcome, Waiting
from deniable.collector.metrics import Histogram
from deniable.collector.schema import reason
from deniable.collector.store import Arrival
from deniable.errors import DeniableError

MOST_WAITING = 4096
"""Requests that may wait; more are told to come back."""
MOST_REPORTS = 1 << 20
"""Reports in one transaction."""
GIVE_UP = TRANSACTION_SECONDS
"""Seconds to try a transaction again while the database is away."""
HOLD_SECONDS = 4.0
"""How long a request waits for others when reports are written only together."""
SHED_SECONDS = 0.5
SHED_WAITING = 64
"""When so many requests wait, the oldest of them so long, new ones are told to come back: they would wait longer."""
SWEEP_SECONDS = 0.25


class _Uncountable(Exception):
    """What a survey has in the database cannot be counted on; to try again does not help, and other surveys need not suffer."""


T = TypeVar("T")


class Counter(Protocol):
    """What counts arrivals durably: a `Store`."""

    tidy_submissions: int
    tidy_seconds: float

    def count(self, arrivals: Sequence[Arrival], *, at_least: int = 1) -> list[bool | None]:
        """For every arrival, was it new? None when it was not written."""
        ...

    def known(self, arrivals: Sequence[Arrival]) -> list[bool]:
        """For every arrival, was it counted before?"""
        ...

    def tidy(self) -> bool:
        """Leave nothing in the files but what the tables say; False when it must be tried again."""
        ...


@dataclass
class Tally:
    """What the writer has done since it began."""

    transactions: int = 0
    accepted: int = 0
    known: int = 0
    shed: int = 0
    seconds: Histogram = field(default_factory=Histogram)
    written: float = field(default=float("-inf"))
    """When the last transaction was committed, on the monotonic clock."""


class Writer:
    """One thread that writes. Requests wait for the transaction that holds them, and are answered after its commit.

    With `at_least`, no transaction has fewer new reports of a window: what is too few waits in memory. A request is answered
    when its reports are durable, or told to come back after `HOLD_SECONDS`; its reports are still held then.
    """

    def __init__(self, store: Counter, *, at_least: int = 1, most_waiting: int = MOST_WAITING, give_up: float = GIVE_UP) -> None:
        self._store = store
        self._at_least = at_least
        self._queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._most_waiting = most_waiting
        self._give_up = give_up
        self._waiting: dict[Waiting, None] = {}
        self._sweeping = False
        self._closed = False
        self._holding = Holding()
        self._untidy = 0
        # A collector that was killed may have left something.
        self._untidy_since: float | None = time.monotonic()
        self.tally = Tally()
        self.failures = Failures("the database cannot be written")
        self._damaged: dict[str, Failures] = {}
        """By survey: those whose own reports cannot be counted."""
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._thread.start()

    async def count(self, arrivals: list[Arrival]) -> list[bool]:
        """Counted and durable when this returns; raises Busy when that is not yet so."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[bool]] = loop.create_future()
        item = self.submit(arrivals, loop, partial(_resolve, answer))
        try:
            return await answer
        finally:
            item.forget()

    def submit(self, arrivals: list[Arrival], loop: asyncio.AbstractEventLoop, tell: Callable[[Outcome], None]) -> Waiting:
        """Once the arrivals are durable, `tell` hears in the loop which were new; raises Busy when they are not taken."""
        now = time.monotonic()
        if self._closed or len(self._waiting) >= self._most_waiting or self._is_late(now):
            self.tally.shed += 1
            raise Busy
        item = Waiting(arrivals, loop, tell, self._waiting, now, now + HOLD_SECONDS)
        if not self._sweeping:
            self._sweeping = True
            loop.call_later(SWEEP_SECONDS, self._sweep, loop)
        self._queue.put(item)
        return item

    @property
    def waiting(self) -> int:
        """Requests that wait for a transaction."""
        return len(self._waiting)

    def _is_late(self, now: float) -> bool:
        """Do many wait, the oldest of them for long? Those that wait to be written with others are no sign of trouble."""
        if self._at_least > 1 or len(self._waiting) < SHED_WAITING:
            return False
        return now - next(iter(self._waiting)).since > SHED_SECONDS

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer those who have waited too long, whatever the thread is doing; they come first in the order of arrival."""
        latest = time.monotonic() - ANSWER_SECONDS + SWEEP_SECONDS
        while self._waiting and (first := next(iter(self._waiting))).since <= latest:
            first.answer(Busy())
        self._sweeping = bool(self._waiting)
        if self._sweeping:
            loop.call_later(SWEEP_SECONDS, self._sweep, loop)

    def close(self) -> None:
        """Write what is waiting, then stop. What is held because it is too little is not written, and nobody was told it was."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            group, stopping = self._next_group()
            if group and self._at_least == 1:
                self._write(group)
            elif group:
                self._hold(group)
            self._send_back(self._holding.overdue(time.monotonic()), NotYetWritten())
            self._tidy(now=stopping)
        self._send_back(self._holding.drop(self._holding.everything()), Busy())

    def _next_group(self) -> tuple[list[Waiting], bool]:
        """Wait for one, then take everything that is there; nothing when there is something else to do first."""
        group: list[Waiting] = []
        reports = 0
        try:
            item = self._queue.get(timeout=self._pause())
            while item is not None:
                if not item.over:  # else it was told to come back, and will
                    group.append(item)
                reports += sum(arrival.count for arrival in item.arrivals)
                if reports >= MOST_REPORTS:
                    return group, False
                item = self._queue.get_nowait()
        except queue.Empty:
            return group, False
        return group, True

    def _pause(self) -> float | None:
        """Seconds until somebody must be answered or the files tidied up; None when neither."""
        tidy = None if self._untidy_since is None else self._untidy_since + self._store.tidy_seconds
        times = [when for when in (tidy, self._holding.earliest()) if when is not None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _write(self, group: list[Waiting]) -> None:
        """In one transaction; survey by survey when one of them cannot be counted."""
        try:
            self._write_together(group)
        except _Uncountable:
            surveys: dict[str, list[Waiting]] = {}
            for item in group:
                surveys.setdefault(item.arrivals[0].survey.hash, []).append(item)
            for survey_hash, part in surveys.items():
                with self._apart(survey_hash, part):
                    self._write_together(part)

    @contextmanager
    def _apart(self, survey_hash: str, group: Iterable[Waiting]) -> Iterator[None]:
        """Something about one survey only: when it cannot be counted, that is logged, and its requests are sent back."""
        failures = self._damaged.get(survey_hash)
        try:
            yield
        except _Uncountable as error:
            if failures is None:
                failures = self._damaged[survey_hash] = Failures(f"the reports of survey {survey_hash[:12]} cannot be counted")
            failures.failed(str(error))
            self._send_back(group, Busy())
        else:
            if failures is not None:
                failures.succeeded()

    def _write_together(self, group: list[Waiting]) -> None:
        arrivals = [arrival for item in group for arrival in item.arrivals]
        fresh = self._tried(lambda: self._store.count(arrivals))
        answers = Answers()
        begin = 0
        for item in group:
            mine = None if fresh is None else [bool(new) for new in fresh[begin : begin + len(item.arrivals)]]
            begin += len(item.arrivals)
            answers.add(item, Busy() if mine is None else mine)
        self._tell(arrivals, fresh)
        answers.give()

    def _hold(self, group: list[Waiting]) -> None:
        """Hold what is new, and write the windows that have enough."""
        arrivals = [arrival for item in group for arrival in item.arrivals]
        try:
            known = self._tried(lambda: self._store.known(arrivals))
        except _Uncountable:  # deleted meanwhile; the others come back, and it does not
            known = None
        if known is None:
            self._send_back(group, Busy())
            return
        answers = Answers()
        begin = 0
        for item in group:
            for place, old in enumerate(known[begin : begin + len(item.arrivals)]):
                if old:
                    item.fresh[place] = False
                    self.tally.known += item.arrivals[place].count
                else:
                    self._holding.add(item, place)
            begin += len(item.arrivals)
            if None not in item.fresh:
                answers.add(item, [bool(new) for new in item.fresh])
        surveys: dict[str, list[Arrival]] = {}
        for arrival in self._holding.ready(self._at_least):
            surveys.setdefault(arrival.survey.hash, []).append(arrival)
        for survey_hash, ready in surveys.items():
            with self._apart(survey_hash, self._holding.drop(ready)):
                self._write_held(ready, answers)
        answers.give()

    def _write_held(self, ready: list[Arrival], answers: Answers) -> None:
        fresh = self._tried(lambda: self._store.count(ready, at_least=self._at_least))
        if fresh is None:
            self._send_back(self._holding.drop(ready), Busy())
        self._tell(ready, fresh)
        for arrival, new in zip(ready, fresh or (), strict=False):
            if new is not None:
                for item in self._holding.written(arrival, new):
                    answers.add(item, [bool(each) for each in item.fresh])

    def _tried(self, what: Callable[[], T]) -> T | None:
        """Ask the database again and again; None when it is away for too long."""
        began, pause = time.monotonic(), 0.05
        answer = None
        while answer is None:
            try:
                answer = what()
                self.failures.succeeded()
            except (DeniableError, LookupError) as error:
                # The database answers: it is a survey whose sums are damaged, or that was deleted.
                raise _Uncountable(reason(error)) from None
            except Exception as error:
                # A commit whose answer was lost is safe to repeat: its keys have receipts.
                self.failures.failed(reason(error))
                if self._closed or time.monotonic() - began + pause > self._give_up:
                    break
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
        self.tally.seconds.add(time.monotonic() - began)
        return answer

    def _tell(self, arrivals: list[Arrival], fresh: list[bool | None] | None) -> None:
        self.tally.transactions += 1
        if fresh is not None:
            self.tally.written = time.monotonic()
        # A transaction that failed may have left something, too.
        self._untidy_since = self._untidy_since or time.monotonic()
        for arrival, new in zip(arrivals, fresh or (), strict=False):
            # A batch is one difference between two versions of the sums. What is kept is mixed in memory: not too much at a time.
            self._untidy += max(1, arrival.count // 100) if arrival.survey.keep_reports else 1
            self.tally.accepted += arrival.count if new else 0
            self.tally.known += arrival.count if new is False else 0

    def _tidy(self, *, now: bool) -> None:
        if self._untidy_since is None:
            return
        due = time.monotonic() >= self._untidy_since + self._store.tidy_seconds
        if now or due or self._untidy >= self._store.tidy_submissions:
            done = False
            with suppress(Exception):  # the database is away, or full: counting says so
                done = self._store.tidy()
            self._untidy = 0
            self._untidy_since = None if done else time.monotonic()

    @staticmethod
    def _send_back(items: Iterable[Waiting], why: Busy) -> None:
        answers = Answers()
        for item in items:
            answers.add(item, why)
        answers.give()


def _resolve(answer: asyncio.Future[list[bool]], outcome: Outcome) -> None:
    if answer.done():
        return
    if isinstance(outcome, Busy):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
