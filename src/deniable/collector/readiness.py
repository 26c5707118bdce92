"""Can this worker count? Only a write that was just done says so."""

from __future__ import annotations

import asyncio
import time

from deniable.collector.deadlines import off_loop
from deniable.collector.messages import Refusal
from deniable.collector.schema import reason
from deniable.collector.store import Store
from deniable.collector.writer import Writer

RECENT_SECONDS = 2.0
"""A write so long ago still counts, and so does a failure."""


class Readiness:
    """The answer of `/readyz`: nobody can make the database work by asking often."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._asked = float("-inf")
        self._why = ""
        self._lock: asyncio.Lock | None = None

    async def problem(self) -> str:
        """Why nothing can be written; empty when something was written just now."""
        if time.monotonic() - self._writer.tally.written < RECENT_SECONDS:
            return ""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            if time.monotonic() - self._asked >= RECENT_SECONDS:
                self._why = await self._tried()
                self._asked = time.monotonic()
        return self._why

    async def _tried(self) -> str:
        try:
            await off_loop(self._store.probe)
        except Refusal:
            why = "the database does not answer"
        except Exception as error:
            why = reason(error)
        else:
            self._writer.failures.succeeded()
            return ""
        self._writer.failures.failed(why)
        return why
