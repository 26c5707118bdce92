"""Is the event loop keeping up? Whoever asks now waits about as long as its last turn took."""

from __future__ import annotations

import asyncio

BEAT_SECONDS = 0.05
LATE_SECONDS = 0.4


class Pulse:
    """Beats while the application runs; late when the last turn of the loop took too long."""

    def __init__(self) -> None:
        self.late = False

    async def run(self) -> None:
        """Beat for ever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            self.late = loop.time() - due > LATE_SECONDS
