"""Inputs that are sets, filled up with dummies so that every one holds equally many places.

There are `items` places for the items and `at_most` for dummies behind them. A set of j items holds its own places and the
first `at_most` - j dummies, so what is done with the held places never depends on the size of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from deniable.core.exact.combinations import members_of
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Padding:
    """The numbering of sets of at most `at_most` out of `items`, each item with one of `levels` values.

    >>> Padding(3, 2, 1).held(0), Padding(3, 2, 1).held(5)      # the empty set, and items 0 and 2
    ([(3, 0), (4, 0)], [(0, 0), (2, 0)])
    """

    items: int
    at_most: int
    levels: int

    def __post_init__(self) -> None:
        if not (1 <= self.at_most <= self.items and self.items >= 2 and self.levels >= 1):
            raise InvalidParameter("there must be at least two items, of which a set holds 1 to all, and at least one level")

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the sets of each size begin, and how many sets there are in all."""
        starts, count = [0], 1
        for held in range(self.at_most + 1):
            starts.append(starts[-1] + count * self.levels**held)
            count = count * (self.items - held) // (held + 1)
        return tuple(starts)

    @property
    def inputs(self) -> int:
        return self.starts[-1]

    @property
    def places(self) -> int:
        """Items and dummies."""
        return self.items + self.at_most

    def held(self, index: int) -> list[tuple[int, int]]:
        """The held places of an input, always `at_most` of them, each with its level; dummies have the level 0."""
        size = next(size for size in range(self.at_most + 1) if index < self.starts[size + 1])
        rank, digits = divmod(index - self.starts[size], self.levels**size)
        levels = []
        for _ in range(size):
            digits, level = divmod(digits, self.levels)
            levels.append(level)
        own = list(zip(members_of(rank, self.items, size), reversed(levels), strict=True))
        return own + [(self.items + dummy, 0) for dummy in range(self.at_most - size)]
