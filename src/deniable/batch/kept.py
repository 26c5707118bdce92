"""What takes longer to prepare than to use, kept for the last few objects it was prepared for."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Prepared = TypeVar("Prepared")

KEPT = 8


class LastFew(Generic[Key, Prepared]):
    """The same preparation again for the same object; by identity, since comparing can take as long as preparing."""

    def __init__(self, prepare: Callable[[Key], Prepared]) -> None:
        self._prepare = prepare
        # A kept object keeps its number, so no other one can have it.
        self.kept: dict[int, tuple[Key, Prepared]] = {}
        self._keeping = Lock()

    def __call__(self, key: Key) -> Prepared:
        known = self.kept.get(id(key))
        if known is not None:
            return known[1]
        prepared = self._prepare(key)
        with self._keeping:
            self.kept[id(key)] = (key, prepared)
            while len(self.kept) > KEPT:
                del self.kept[next(iter(self.kept))]
        return prepared
