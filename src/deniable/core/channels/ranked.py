"""Places in the order of their distance: the nearest ones form the first group, the next ones the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from deniable.core.channels.base import Channel
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

MOST_STEP = 1 << 21
"""Coordinates stay below this: squared distances then leave room for a place's number in 64 bits."""


@dataclass(frozen=True)
class Ranked(Channel):
    """The j-th group of places, counted from the nearest, weighs weights[j] each; groups have fixed sizes.

    Places are points (columns[i], rows[i]) with whole coordinates; equally far ones are ordered by number. As the
    sizes do not depend on the true place, neither does the total.

    >>> line = Ranked(columns=[0, 1, 2, 3], rows=[0, 0, 0, 0], sizes=[1, 2, 1], weights=[9, 3, 1])
    >>> list(line.row(0)), list(line.row(2)), line.max_ratio()
    ([9, 3, 3, 1], [1, 3, 9, 3], Fraction(9, 1))
    """

    columns: Sequence[int]
    rows: Sequence[int]
    sizes: Sequence[int]
    weights: Sequence[int]

    def __post_init__(self) -> None:
        for name in ("columns", "rows", "sizes", "weights"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not 1 < len(self.columns) == len(self.rows) == sum(self.sizes):
            raise InvalidParameter("there must be at least two places, and the sizes of the groups must add up to their number")
        if not (min(*self.columns, *self.rows) >= 0 and max(*self.columns, *self.rows) < MOST_STEP):
            raise InvalidParameter("coordinates must be whole numbers from 0 to 2**21 - 1")
        if not 1 < len(self.sizes) == len(self.weights) or min(*self.sizes, *self.weights) < 1:
            raise InvalidParameter("there must be at least two groups, each with a size and a weight of at least 1")
        if list(self.weights) != sorted(self.weights, reverse=True):
            raise InvalidParameter("weights must not increase with the distance")

    @property
    def inputs(self) -> int:
        return len(self.columns)

    @property
    def outputs(self) -> int:
        return len(self.columns)

    @cached_property
    def weight_ends(self) -> list[int]:
        """Running sums of the groups' weights."""
        return list(accumulate(size * weight for size, weight in zip(self.sizes, self.weights, strict=True)))

    @cached_property
    def size_ends(self) -> list[int]:
        """Running sums of the groups' sizes."""
        return list(accumulate(self.sizes))

    @cached_property
    def total(self) -> int:
        return self.weight_ends[-1]

    def square(self, index: int, other: int) -> int:
        """The squared distance of two places."""
        return (self.columns[index] - self.columns[other]) ** 2 + (self.rows[index] - self.rows[other]) ** 2

    def draw(self, index: int, coins: Coins) -> int:
        """The rank first, from coins alone; then the place that has it."""
        drawn = coins.below(self.total)
        group = next(j for j, end in enumerate(self.weight_ends) if drawn < end)
        before, passed = (self.weight_ends[group - 1], self.size_ends[group - 1]) if group else (0, 0)
        rank = passed + (drawn - before) // self.weights[group]
        return sorted(range(self.outputs), key=lambda place: (self.square(index, place), place))[rank]

    def weight(self, index: int, output: int) -> int:
        """By how many places are nearer."""
        own = (self.square(index, output), output)
        rank = sum((self.square(index, place), place) < own for place in range(self.outputs))
        return next(weight for weight, end in zip(self.weights, self.size_ends, strict=True) if rank < end)

    def max_ratio(self) -> Fraction:
        """First over last weight: the place farthest from another is last there, and first for itself."""
        return Fraction(self.weights[0], self.weights[-1])

    def compiled(self) -> dict[str, Any]:
        return {
            "kind": "ranked",
            "columns": list(self.columns),
            "rows": list(self.rows),
            "sizes": list(self.sizes),
            "weights": list(self.weights),
        }
