"""Estimates and comparisons as the bytes that are sent, each worked out once for what is public."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from msgspec import Struct
from sqlalchemy.exc import SQLAlchemyError

from deniable.collector.estimates import estimates
from deniable.collector.groups import compared
from deniable.collector.messages import ENCODER
from deniable.collector.steps import live, published, stamp
from deniable.collector.store import Store
from deniable.surveys import Survey

FRESH_SECONDS = 1.0
MOST_BYTES = 1 << 26
"""Estimates that are kept in memory, together."""


@dataclass
class _Kept:
    when: float
    stamp: Hashable
    data: bytes


class EstimateCache:
    """Estimates as the bytes that are sent, worked out once for each step of a survey.

    They are compared with the database at most once a second, by one request at a time: others get what was public a moment
    ago. While the database does not answer, everybody does.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Condition()
        self._working = threading.Lock()
        self._busy: set[Hashable] = set()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()

    def get(self, survey: Survey, window: str, *, everything: bool = False) -> bytes:
        """What is public, now or a moment ago; with `everything`, the sums as they are."""

        def work() -> tuple[Callable[[], Struct], bool]:
            shown = (live if everything else published)(self._store, survey)
            # Whoever makes names up fills no memory.
            return lambda: estimates(survey, shown, window), not window or window in shown.windows

        return self._cached((survey.hash, window, everything), lambda: stamp(self._store, survey, everything=everything), work)

    def groups(self, survey: Survey, *, everything: bool = False) -> bytes:
        """The groups of a survey compared, from what is public of each, now or a moment ago; or from the sums as they are."""

        def surveys() -> dict[str, Survey]:
            family = {name: self._store.survey(survey_hash) for name, survey_hash in self._store.groups(survey.hash).items()}
            return {name: one for name, one in family.items() if one is not None}

        def look() -> Hashable | None:
            stamps = {name: stamp(self._store, one, everything=everything) for name, one in surveys().items()}
            return None if None in stamps.values() else tuple(stamps.items())

        def work() -> tuple[Callable[[], Struct], bool]:
            look_at = live if everything else published
            shown = {name: (one, look_at(self._store, one)) for name, one in surveys().items()}
            return lambda: compared(survey, shown), True

        return self._cached((survey.hash, "groups", everything), look, work)

    def _cached(
        self, name: Hashable, look: Callable[[], Hashable | None], work: Callable[[], tuple[Callable[[], Struct], bool]]
    ) -> bytes:
        """What is kept under a name; `look` says whether it is still true, `work` what it is made from."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None and (time.monotonic() - kept.when < FRESH_SECONDS or name in self._busy):
                return kept.data
            while name in self._busy:
                self._lock.wait()
            kept = self._kept.get(name, kept)
            if kept is not None and time.monotonic() - kept.when < FRESH_SECONDS:
                return kept.data
            self._busy.add(name)
        try:
            return self._looked(name, kept, look, work)
        finally:
            with self._lock:
                self._busy.discard(name)
                self._lock.notify_all()

    def _looked(
        self,
        name: Hashable,
        kept: _Kept | None,
        look: Callable[[], Hashable | None],
        work: Callable[[], tuple[Callable[[], Struct], bool]],
    ) -> bytes:
        try:
            shown_stamp = look()
            if kept is not None and shown_stamp is not None and shown_stamp == kept.stamp:
                kept.when = time.monotonic()
                return kept.data
            make, keep = work()
        except SQLAlchemyError:
            if kept is None:
                raise
            kept.when = time.monotonic()
            return kept.data
        with self._working:
            data = ENCODER.encode(make())
        if keep:
            with self._lock:
                self._kept[name] = _Kept(time.monotonic(), shown_stamp, data)
                self._kept.move_to_end(name)
                while len(self._kept) > 1 and sum(len(one.data) for one in self._kept.values()) > MOST_BYTES:
                    self._kept.popitem(last=False)
        return data
