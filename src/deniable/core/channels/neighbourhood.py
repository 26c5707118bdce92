"""Set systems of what lies nearest: they list S_x, and membership follows from the list."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache

from deniable.core.channels.sets import SetSystem


class Neighbourhood(SetSystem):
    """S_x = what lies nearest to x."""

    @abstractmethod
    def neighbours(self, index: int) -> list[int]:
        """S_index, growing. Not remembered: the index of a draw is private."""

    @lru_cache(maxsize=1024)  # noqa: B019 - only auditing and plotting ask this, about public indices
    def _members(self, index: int) -> frozenset[int]:
        return frozenset(self.neighbours(index))

    def contains(self, index: int, output: int) -> bool:
        return output in self._members(index)
