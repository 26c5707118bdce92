"""Maps of where people are, worked out when there is enough new to see."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from deniable import studies
from deniable.batch import Accumulator, field_sums
from deniable.collector.repeating import without_repetition
from deniable.collector.steps import published
from deniable.collector.store import Store
from deniable.core import Binary, Categories, Circle, Interval
from deniable.errors import DeniableError
from deniable.surveys import Steps, Survey

CELLS = 8
LEVEL = 0.95
ITERATIONS = 1_000
FRESH_SECONDS = 60.0
NEWS = 0.1
"""A live map is made again when a tenth more people have answered, and at most once a minute: it takes seconds."""

BEING_MADE = "a map is being made; it takes some seconds"


@dataclass
class PlaceMaps:
    """The latest map of every attribute that is a place."""

    store: Store
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _kept: dict[tuple[str, str], tuple[float, dict[str, Any]]] = field(default_factory=dict)

    def get(self, survey: Survey, name: str) -> dict[str, Any]:
        """The map, or a note that says why there is none."""
        if isinstance(survey.parts[name].domain, Binary | Categories | Circle | Interval):
            return {"n": 0, "cells": [], "note": "this attribute is not a place"}
        shown = published(self.store, survey)
        kept = self._kept.get((survey.hash, name))
        if kept is not None and not self._old(survey, *kept, shown.whole.n):
            return kept[1]
        # Nobody waits for a map that somebody else is having made: waiting requests would block the ones that count.
        if not self._lock.acquire(blocking=False):
            return kept[1] if kept is not None else {"n": 0, "cells": [], "note": BEING_MADE}
        try:
            drawn = {**map_of(without_repetition(survey, shown).whole, name, shown.waiting), "counted": shown.whole.n}
            self._kept[survey.hash, name] = (time.monotonic(), drawn)
            return drawn
        finally:
            self._lock.release()

    @staticmethod
    def _old(survey: Survey, when: float, drawn: dict[str, Any], counted: int) -> bool:
        """Is there news? Public numbers that move in steps move rarely enough to follow each."""
        if isinstance(survey.release, Steps):
            return bool(counted != drawn["counted"] or drawn["n"] == 0)
        return time.monotonic() - when >= FRESH_SECONDS and counted > drawn["counted"] * (1 + NEWS)


def map_of(whole: Accumulator, name: str, waiting: str = "") -> dict[str, Any]:
    """Shares of map cells with intervals: the most likely map, fitted to the sums."""
    part = field_sums(whole, name)
    if part.n == 0:
        return {"n": 0, "cells": [], "note": waiting or "nobody has answered yet"}
    try:
        density = studies.density_map(part, cells=CELLS, most_iterations=ITERATIONS)
        low, high = density.interval(LEVEL)
    except DeniableError as error:
        return {"n": part.n, "cells": [], "note": str(error)}
    columns = [density.grid.bounds.tolist(), density.value.tolist(), low.tolist(), high.tolist()]
    cells = [
        {"bounds": bounds, "value": value, "low": least, "high": most} for bounds, value, least, most in zip(*columns, strict=True)
    ]
    return {"n": part.n, "cells": cells, "method": density.method, "note": ""}
