"""Is the event loop keeping up? Whoever asks now waits about as long as its last turn took."""

from __future__ import annotations

import asyncio

BEAT_SECONDS = 0.05
LATE_SECONDS = 0.4
MANY = 128
"""Requests under way at once; one whose body is still awaited is not."""


class Pulse:
    """Beats while the application runs, and counts the requests under way.

    A slow turn alone is no sign of too many requests: something else may have kept the processor.
    """

    def __init__(self) -> None:
        self.requests = 0
        self._slow = False

    @property
    def late(self) -> bool:
        """Did the last turn take too long, with many requests under way?"""
        return self._slow and self.requests >= MANY

    async def run(self) -> None:
        """Beat for ever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            self._slow = loop.time() - due > LATE_SECONDS
