"""The only source of randomness between a secret and its report."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol


class Coins(Protocol):
    """Anything that answers `below(n)` with a uniform integer in [0, n)."""

    def below(self, n: int) -> int:
        """A uniform integer in [0, n)."""


def below_from_bytes(n: int, source: Callable[[int], bytes]) -> int:
    """Uniform in [0, n) by rejection, reading bytes from `source(count)`.

    The least number of whole bytes is read, big-endian, the top bits beyond those of n - 1 are
    dropped, and a number that is n or more is thrown away. Every implementation in every language
    follows this rule, so equal bytes give equal draws.
    """
    if n < 1:
        raise ValueError("below(n) needs n >= 1")
    bits = (n - 1).bit_length()
    if bits == 0:
        return 0
    size = (bits + 7) // 8
    excess = 8 * size - bits
    while True:
        drawn = int.from_bytes(source(size), "big") >> excess
        if drawn < n:
            return drawn


class SystemCoins:
    """The system CSPRNG. Holds no state, so a fork cannot repeat it and a pickle cannot carry it."""

    __slots__ = ()

    def below(self, n: int) -> int:
        """A uniform integer in [0, n)."""
        return below_from_bytes(n, os.urandom)

    def __repr__(self) -> str:
        return "SYSTEM"


SYSTEM = SystemCoins()
