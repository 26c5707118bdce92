"""A keystream that says exactly what a test wants said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class ScriptedKeystream:
    """Gives the words of a script, one after the other, and fails when they run out.

    Arrays of words of any width get one each; bytes get words of 64 bits.
    """

    def __init__(self, words: list[int]) -> None:
        self.words = words
        self.used = 0

    def fill(self, buffer: NDArray[Any]) -> None:
        wide = buffer.view(np.uint64) if buffer.dtype == np.uint8 else buffer
        count = len(wide)
        assert self.used + count <= len(self.words), "the script is too short"
        wide[:] = np.array(self.words[self.used : self.used + count], np.uint64)
        self.used += count

    def spawn(self) -> ScriptedKeystream:
        raise AssertionError("scripts are for one thread")


def word_for(drawn: int, total: int) -> int:
    """An accepted word that makes multiply_high(word, total) == drawn."""
    word = -(-drawn * (1 << 64) // total)
    threshold = (1 << 64) % total
    while word * total % (1 << 64) < threshold:
        word += 1
    assert word * total >> 64 == drawn
    return word


def rejected_word(total: int) -> int:
    """A word that must be rejected: its low product half is below 2**64 mod total."""
    threshold = (1 << 64) % total
    return next(word for word in range(1 << 16) if word * total % (1 << 64) < threshold)
