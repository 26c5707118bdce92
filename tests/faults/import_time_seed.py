"""A fault to be planted in a server: a seed that is read when the module is imported, and a counter. Two workers draw alike."""

from __future__ import annotations

import hashlib
import itertools
import os

from deniable.core.randomness import coins

SEED = os.urandom(32)
COUNTER = itertools.count()


def from_seed(count: int) -> bytes:
    return hashlib.shake_256(SEED + next(COUNTER).to_bytes(8, "big")).digest(count)


def below(self: coins.SystemCoins, n: int) -> int:
    return coins.below_from_bytes(n, from_seed)


def plant() -> None:
    coins.SystemCoins.below = below  # type: ignore[method-assign]
