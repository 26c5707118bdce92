"""Coins whose answers are known: for tests and for vectors, never for real reports."""

from __future__ import annotations

import random
from collections.abc import Sequence

from deniable.core import Coins, below_from_bytes


class ReplayCoins:
    """Coins that read the given bytes, by the rule every implementation follows, and then stop.

    >>> ReplayCoins(bytes([0b1110_0000, 0b0100_0000])).below(6)   # 7 is thrown away, 2 is taken
    2
    """

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)
        self._used = 0

    @property
    def left(self) -> int:
        """How many bytes were not read yet."""
        return len(self._data) - self._used

    def _take(self, count: int) -> bytes:
        if count > self.left:
            raise EOFError(f"the replayed bytes are used up: {count} asked, {self.left} left")
        taken = self._data[self._used : self._used + count]
        self._used += count
        return taken

    def below(self, n: int) -> int:
        """The integer in [0, n) that the next bytes give."""
        return below_from_bytes(n, self._take)


class FixedCoins:
    """Coins that are the same on every run: equal seeds, equal answers. Not secret, hence not private.

    >>> FixedCoins(1).below(1000) == FixedCoins(1).below(1000)
    True
    """

    def __init__(self, seed: int = 0) -> None:
        self._bytes = random.Random(seed).randbytes  # noqa: S311 - repeatable on purpose, in tests only

    def below(self, n: int) -> int:
        """A repeatable uniform integer in [0, n)."""
        return below_from_bytes(n, self._bytes)


class CountingCoins:
    """Coins that pass every question on and remember it: `asked` lists each n.

    >>> coins = CountingCoins(FixedCoins())
    >>> coins.below(6) < 6, coins.asked
    (True, [6])
    """

    def __init__(self, coins: Coins) -> None:
        self._coins = coins
        self.asked: list[int] = []

    def below(self, n: int) -> int:
        """The wrapped coins' answer."""
        self.asked.append(n)
        return self._coins.below(n)


class ScriptedCoins:
    """Coins that give the listed answers, one after the other, and remember what was asked.

    >>> coins = ScriptedCoins([5])
    >>> coins.below(6), coins.asked
    (5, [6])
    """

    def __init__(self, answers: Sequence[int]) -> None:
        self._answers = tuple(answers)
        self.asked: list[int] = []

    def below(self, n: int) -> int:
        """The next listed answer; it must be below n."""
        if len(self.asked) == len(self._answers):
            raise EOFError("the scripted answers are used up")
        answer = self._answers[len(self.asked)]
        self.asked.append(n)
        if not 0 <= answer < n:
            raise ValueError(f"the scripted answer {answer} is not below {n}")
        return answer
