"""Reports that wait in memory until enough are together to be written at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from deniable.collector.store import Arrival


class Busy(Exception):
    """Too much is waiting, or the database is away: come back later with the same key."""

    why = "busy; come back later with the same key"


class NotYetWritten(Busy):
    """The report waits in memory for others; the device must not forget it yet."""

    why = "the report waits until enough others are there to be written with it; come back later with the same key"


Outcome: TypeAlias = "list[bool] | Busy"
"""For every arrival of a request, was it new? Or why that is not known yet."""


@dataclass(slots=True, eq=False)
class Waiting:
    """A request: its arrivals, what became of each, and who wants to know."""

    arrivals: list[Arrival]
    loop: asyncio.AbstractEventLoop
    tell: Callable[[Outcome], None]
    """Called once, in the loop, unless the request is forgotten before."""
    line: dict[Waiting, None]
    """All requests that wait, in the order they came."""
    since: float
    until: float
    """When the request is answered at the latest, written or not."""
    over: bool = False
    fresh: list[bool | None] = field(init=False)

    def __post_init__(self) -> None:
        self.fresh = [None] * len(self.arrivals)
        self.line[self] = None

    def forget(self) -> bool:
        """Nobody waits any more; False when that was so before."""
        if self.over:
            return False
        self.over = True
        del self.line[self]
        return True

    def answer(self, outcome: Outcome) -> None:
        """Tell whoever waits; only the first outcome counts."""
        if self.forget():
            self.tell(outcome)


class Answers:
    """Answers for many requests, given with one wake-up for each event loop."""

    def __init__(self) -> None:
        self._by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Waiting, Outcome]]] = {}

    def add(self, item: Waiting, outcome: Outcome) -> None:
        """What one request is told."""
        self._by_loop.setdefault(item.loop, []).append((item, outcome))

    def give(self) -> None:
        """Tell them all."""
        for loop, outcomes in self._by_loop.items():
            try:
                loop.call_soon_threadsafe(_tell_all, outcomes)
            except RuntimeError:  # the loop is gone, and with it everyone who waited
                continue
        self._by_loop.clear()


def _tell_all(outcomes: list[tuple[Waiting, Outcome]]) -> None:
    for item, outcome in outcomes:
        item.answer(outcome)


@dataclass(slots=True)
class _Held:
    arrival: Arrival
    waiting: list[tuple[Waiting, int]]


class Holding:
    """Arrivals by survey and key. Each is held once, however often its device comes back."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, bytes], _Held] = {}

    def add(self, item: Waiting, place: int) -> None:
        """Hold one arrival of a request."""
        arrival = item.arrivals[place]
        held = self._held.setdefault((arrival.survey.hash, arrival.key), _Held(arrival, []))
        # The first report under a key counts; it counts in the window in which its device last came.
        held.arrival = replace(held.arrival, period=arrival.period)
        held.waiting.append((item, place))

    def ready(self, at_least: int) -> list[Arrival]:
        """Everything of the windows that have enough."""
        counts: dict[tuple[str, str], int] = {}
        for held in self._held.values():
            window = (held.arrival.survey.hash, held.arrival.period)
            counts[window] = counts.get(window, 0) + held.arrival.count
        return [held.arrival for held in self._held.values() if counts[held.arrival.survey.hash, held.arrival.period] >= at_least]

    def written(self, arrival: Arrival, new: bool) -> Iterable[Waiting]:
        """An arrival is durable: the requests that wait for nothing more. Only the first of them is told that it was new."""
        for item, place in self._held.pop((arrival.survey.hash, arrival.key)).waiting:
            item.fresh[place], new = new, False
            if None not in item.fresh:
                yield item

    def drop(self, arrivals: Iterable[Arrival]) -> Iterable[Waiting]:
        """Forget arrivals: the requests that waited for them."""
        for arrival in arrivals:
            for item, _ in self._held.pop((arrival.survey.hash, arrival.key)).waiting:
                yield item

    def overdue(self, now: float) -> Iterable[Waiting]:
        """The requests that have waited long enough; their reports stay."""
        for held in self._held.values():
            yield from (item for item, _ in held.waiting if item.until <= now)
            held.waiting = [(item, place) for item, place in held.waiting if item.until > now]

    def earliest(self) -> float | None:
        """When the next request is overdue."""
        return min((item.until for held in self._held.values() for item, _ in held.waiting), default=None)

    def everything(self) -> list[Arrival]:
        """All arrivals that are held."""
        return [held.arrival for held in self._held.values()]
