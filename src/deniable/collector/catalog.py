"""Which surveys are open and whose tokens are valid, in memory: requests never wait for the database to know that."""

from __future__ import annotations

import hmac
import threading
import time

from deniable.collector.failures import AGAIN_SECONDS, Failures
from deniable.collector.registry import Token
from deniable.collector.retention import EVERY_SECONDS, expire
from deniable.collector.schema import reason
from deniable.collector.store import Store

LOOK_SECONDS = 0.25
"""How often every worker asks whether surveys or tokens changed: one row."""


class Catalog:
    """A copy that is at most `LOOK_SECONDS` old while the database answers, and the last one known while it does not."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._number = -1
        self._looked = 0.0
        self._stop: threading.Event | None = None
        self.open: dict[str, bool] = {}
        self.tokens: dict[bytes, Token] = {}
        self.failures = Failures("the database cannot be read")
        self.look()

    @property
    def fresh(self) -> bool:
        """Was it compared with the database a moment ago, or is a thread at it?"""
        return self._stop is not None or time.monotonic() - self._looked < LOOK_SECONDS

    def look(self, *, now: bool = True) -> None:
        """Compare with the database; without `now` only if that was not just done. Raises when the database does not answer."""
        with self._lock:
            if not now and time.monotonic() - self._looked < LOOK_SECONDS:
                return
            number = self._store.changes()
            if number != self._number:
                self.open, self.tokens = self._store.open_hashes(), self._store.tokens()
                self._number = number
            self._looked = time.monotonic()

    def token(self, digest: bytes) -> Token | None:
        """Whose token has this digest, if it is still valid."""
        known = next((token for stored, token in self.tokens.items() if hmac.compare_digest(stored, digest)), None)
        return None if known is None or (known.expires is not None and known.expires <= time.time()) else known

    def watch(self) -> None:
        """Keep looking, in a thread, until `close`."""
        if self._stop is None:
            self._stop = threading.Event()
            threading.Thread(target=self._run, args=(self._stop,), name="deniable-catalog", daemon=True).start()

    def close(self) -> None:
        """Stop looking."""
        if self._stop is not None:
            self._stop.set()

    def _run(self, stop: threading.Event) -> None:
        expired = float("-inf")
        while not stop.wait(LOOK_SECONDS):
            try:
                self.look()
                if time.monotonic() - expired > EVERY_SECONDS:
                    # If it fails it is tried again in a minute, not at every look.
                    expired = time.monotonic() - EVERY_SECONDS + AGAIN_SECONDS
                    expire(self._store, time.time())
                    expired = time.monotonic()
            except Exception as error:  # whatever it is, the next look may work
                if not stop.is_set():
                    self.failures.failed(reason(error))
            else:
                self.failures.succeeded()
