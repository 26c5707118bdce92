"""What goes wrong again and again is logged when it begins, now and then with a count, and when it is over."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

LOGGER = logging.getLogger("deniable.collector")
AGAIN_SECONDS = 60.0
"""How often a cause that goes on is logged."""


class Failures:
    """Failures of one kind, by cause; a cause never names a report, a key or an address."""

    def __init__(self, what: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._logged: dict[str, float] = {}
        self.total = 0
        self.cause = ""
        """What is wrong now; empty when nothing is."""

    def failed(self, cause: str) -> None:
        """Once more."""
        with self._lock:
            self.total += 1
            self.cause = cause
            count = self._counts[cause] = self._counts.get(cause, 0) + 1
            now = self._clock()
            if count > 1 and now - self._logged[cause] < AGAIN_SECONDS:
                return
            self._logged[cause] = now
        LOGGER.error("%s: %s%s", self._what, cause, f" ({count} times so far)" if count > 1 else "")

    def succeeded(self) -> None:
        """It works, again or still."""
        if not self._counts:
            return
        with self._lock:
            count = sum(self._counts.values())
            self._counts.clear()
            self._logged.clear()
            self.cause = ""
        LOGGER.error("%s: over after %d failure%s", self._what, count, "" if count == 1 else "s")
