"""Bytes for `os.urandom` that depend on the test alone: a test that passes today passes tomorrow, however many draws it makes."""

from __future__ import annotations

import hashlib
import itertools
import os

SYSTEM = os.urandom


class RepeatableBytes:
    """Takes the place of `os.urandom` while it has a name; a process that was forked gets bytes of its own."""

    def __init__(self) -> None:
        self._name: str | None = None
        self._owner = os.getpid()
        self._calls = itertools.count()

    def begin(self, name: str | None) -> None:
        """From now on the bytes that belong to `name`, from the first; those of the system for None."""
        self._name, self._owner, self._calls = name, os.getpid(), itertools.count()

    def __call__(self, size: int) -> bytes:
        if self._name is None or size < 0:
            return SYSTEM(size)
        process = os.getpid()
        forked = process if process != self._owner else 0
        return hashlib.shake_128(f"{self._name} {forked} {next(self._calls)}".encode()).digest(size)
