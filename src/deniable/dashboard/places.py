"""Maps of where people are, worked out when there is enough new to see."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from deniable.accumulators import Joined
from deniable.collector.store import Store
from deniable.domains import Binary, Categories, Circle, Interval
from deniable.errors import DeniableError
from deniable.surveys import Survey
from deniable.trajectories.density import density_map

CELLS = 8
LEVEL = 0.95
ITERATIONS = 1_000
FRESH_SECONDS = 60.0
NEWS = 0.1
"""A map is made again when a tenth more people have answered, and at most once a minute: it takes seconds."""

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
        kept = self._kept.get((survey.hash, name))
        counted = self.store.counted().get(survey.hash, 0)
        if kept is not None and (time.monotonic() - kept[0] < FRESH_SECONDS or counted <= kept[1]["counted"] * (1 + NEWS)):
            return kept[1]
        # Nobody waits for a map that somebody else is having made: waiting requests would block the ones that count.
        if not self._lock.acquire(blocking=False):
            return kept[1] if kept is not None else {"n": 0, "cells": [], "note": BEING_MADE}
        try:
            found = {**map_of(survey, self.store, name), "counted": counted}
            self._kept[survey.hash, name] = (time.monotonic(), found)
            return found
        finally:
            self._lock.release()


def map_of(survey: Survey, store: Store, name: str) -> dict[str, Any]:
    """Shares of map cells with intervals: the most likely map, fitted to the sums."""
    sums = list(store.sums(survey).values())
    if not sums:
        return {"n": 0, "cells": [], "note": "nobody has answered yet"}
    whole = reduce(lambda a, b: a.merge(b), sums)
    part = whole.parts[name] if isinstance(whole, Joined) else whole
    if part.n == 0:
        return {"n": 0, "cells": [], "note": "nobody has answered yet"}
    try:
        found = density_map(part, cells=CELLS, most_iterations=ITERATIONS)
        low, high = found.interval(LEVEL)
    except DeniableError as error:
        return {"n": part.n, "cells": [], "note": str(error)}
    columns = [found.grid.bounds.tolist(), found.value.tolist(), low.tolist(), high.tolist()]
    cells = [
        {"bounds": bounds, "value": value, "low": least, "high": most} for bounds, value, least, most in zip(*columns, strict=True)
    ]
    return {"n": part.n, "cells": cells, "method": found.method, "note": ""}
