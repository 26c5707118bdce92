"""Faults to be planted in a device that is switched on anew: its memory is not what it was."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import Any

from deniable.surveys import Ledger, Memo

BOOT = os.urandom(16)
"""Another in every process."""


def salted() -> None:
    """Permanent answers are filed under a number that only this process knows."""

    def tag(self: Ledger, survey: str, value: bytes) -> bytes:
        return hmac.new(BOOT, survey.encode() + value, hashlib.sha256).digest()

    Ledger._tag = tag  # type: ignore[method-assign]


def hashed() -> None:
    """Permanent answers are filed under Python's hash, which is another one after every start."""

    def tag(self: Ledger, survey: str, value: bytes) -> bytes:
        return hash((survey, value)).to_bytes(8, "big", signed=True)

    Ledger._tag = tag  # type: ignore[method-assign]


def by_path() -> None:
    """Permanent bits are filed under the name by which the file was opened."""
    honest = Memo.keep

    def keep(self: Memo, recipe: str, question: str, value: bytes, draw: Any, **cost: Any) -> bytes:
        return honest(self, recipe, f"{question}{self.path}", value, draw, **cost)

    Memo.keep = keep  # type: ignore[method-assign]


def in_memory() -> None:
    """The file is opened, and then forgotten."""
    honest = Ledger.__init__

    def init(self: Ledger, path: str, **more: object) -> None:
        Path(path).touch(0o600)
        honest(self, f"{path}.{os.getpid()}", **more)  # type: ignore[arg-type]

    Ledger.__init__ = init  # type: ignore[assignment, method-assign]


def half_forgotten() -> None:
    """Only the last permanent answer is kept."""
    honest = Ledger._kept

    def kept(self: Ledger, connection: object, survey: str, permanent: bytes | None) -> bytes | None:
        found = honest(self, connection, survey, permanent)  # type: ignore[arg-type]
        if found is None:
            connection.execute("DELETE FROM kept")  # type: ignore[attr-defined]
        return found

    Ledger._kept = kept  # type: ignore[method-assign]


def shared() -> None:
    """All answers have one tag, so the first draw answers for all."""

    def tag(self: Ledger, survey: str, value: bytes) -> bytes:
        return hmac.new(self._key, survey.encode(), hashlib.sha256).digest()

    Ledger._tag = tag  # type: ignore[method-assign]
