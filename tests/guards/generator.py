"""A stand-in for the system's generator that repeats itself and remembers what it was asked."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


class ScriptedGenerator:
    """Gives SHAKE-256 of a name, piece by piece: equal names, equal bytes. `given` lists every piece.

    With `turned` (a piece and a range of its bytes) all bits there are turned over.
    """

    def __init__(self, name: str, turned: tuple[int, slice] | None = None) -> None:
        self._name = name
        self._turned = turned
        self.given: list[bytes] = []

    def __call__(self, count: int) -> bytes:
        piece = hashlib.shake_256(f"{self._name} {len(self.given)}".encode()).digest(count)
        if self._turned is not None and self._turned[0] == len(self.given):
            chosen = set(range(count)[self._turned[1]])
            piece = bytes(byte ^ (255 if place in chosen else 0) for place, byte in enumerate(piece))
        self.given.append(piece)
        return piece

    @property
    def sizes(self) -> list[int]:
        return [len(piece) for piece in self.given]


def install(generator: ScriptedGenerator, patch: pytest.MonkeyPatch) -> None:
    """Put it where every program of the standard library asks the system for randomness."""
    patch.setattr(os, "urandom", generator)
    patch.setattr(random, "_urandom", generator)  # behind `secrets` and SystemRandom


@contextmanager
def scripted(name: str, turned: tuple[int, slice] | None = None) -> Iterator[ScriptedGenerator]:
    """The system's generator is scripted in the block."""
    generator = ScriptedGenerator(name, turned)
    with pytest.MonkeyPatch.context() as patch:
        install(generator, patch)
        yield generator
