"""Bytes for `os.urandom` that depend on the test alone: a test that passes today passes tomorrow, however much it draws."""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter

SYSTEM = os.urandom


class RepeatableBytes:
    """Takes the place of `os.urandom` while it has a name.

    Every module that asks has bytes of its own, because a library may or may not have been loaded before. A process that was
    forked gets those of the system, as the test about forks asks.
    """

    def __init__(self) -> None:
        self._name: str | None = None
        self._calls: Counter[str] = Counter()
        os.register_at_fork(after_in_child=lambda: self.begin(None))

    def begin(self, name: str | None) -> None:
        """From now on the bytes that belong to `name`, from the first; those of the system for None."""
        self._name, self._calls = name, Counter()

    def __call__(self, size: int) -> bytes:
        if self._name is None or size < 0:
            return SYSTEM(size)
        module = sys._getframe(1).f_globals["__name__"]
        self._calls[module] += 1
        return hashlib.shake_128(f"{self._name} {module} {self._calls[module]}".encode()).digest(size)
