"""The report is a set of places; sets that share a place with the padded true set are favoured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.channels.base import Sums
from deniable.core.channels.padded import Padding
from deniable.core.channels.sets import SetSystem
from deniable.core.channels.subsets import unrank
from deniable.errors import InvalidParameter

MOST_PLACES = 1 << 14


@dataclass(frozen=True)
class Hitting(SetSystem):
    """Outputs are the sets of `chosen` places, items and dummies, as binary numbers (digit v for place v).

    S_x holds those that share at least one place with x. Every padded set has `at_most` places, so all S_x are equally large.
    Where an item has one of `levels` values, it has a place for each of them: `levels` times as many, before the dummies.

    >>> Hitting(3, 1, 2).members, Hitting(3, 1, 2).others        # pairs out of 3 items and a dummy, with the held place or without
    (3, 3)
    """

    items: int
    at_most: int
    chosen: int
    levels: int = 1
    sums: ClassVar[Sums] = "bits"
    unary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 <= self.chosen <= self.free or self.places > MOST_PLACES:
            raise InvalidParameter(f"a report names 1 to {self.free} of at most {MOST_PLACES} places, got {self.chosen}")

    @cached_property
    def padding(self) -> Padding:
        """How sets are numbered."""
        return Padding(self.items, self.at_most, self.levels)

    @property
    def free(self) -> int:
        """How many places a padded set does not hold."""
        return self.items * self.levels

    @property
    def places(self) -> int:
        """Every item with each of its values, and the dummies."""
        return self.free + self.at_most

    def held(self, index: int) -> list[int]:
        """The places that a padded set holds, always `at_most` of them."""
        pairs = self.padding.held(index)
        return [item * self.levels + level if item < self.items else self.free + item - self.items for item, level in pairs]

    @property
    def padded(self) -> Padding:
        return self.padding

    @property
    def inputs(self) -> int:
        return self.padding.inputs

    @property
    def outputs(self) -> int:
        """Numbers below 2**places; only those with `chosen` ones occur."""
        return 1 << self.places

    @cached_property
    def others(self) -> int:
        """Sets that hold none of the true places."""
        return math.comb(self.free, self.chosen)

    @cached_property
    def members(self) -> int:
        return math.comb(self.places, self.chosen) - self.others

    @property
    def ones(self) -> int:
        return self.chosen

    @property
    def effort(self) -> int:
        return 1 + self.places // 4

    def possible(self, output: int) -> bool:
        return output.bit_count() == self.chosen

    def _sides(self, index: int) -> tuple[list[int], list[int]]:
        """The held places and the others, each in growing order."""
        held = self.held(index)
        own = set(held)
        return held, [place for place in range(self.places) if place not in own]

    def contains(self, index: int, output: int) -> bool:
        return any(output >> place & 1 for place in self.held(index))

    def inside(self, index: int, j: int) -> int:
        """Those with few held places first."""
        held, rest = self._sides(index)
        for shared in range(1, self.chosen + 1):
            without = math.comb(len(rest), self.chosen - shared)
            count = math.comb(len(held), shared) * without
            if j < count:
                first, second = divmod(j, without)
                own = unrank(first, len(held), shared)
                return _spread(held, own) | _spread(rest, unrank(second, len(rest), self.chosen - shared))
            j -= count
        raise InvalidParameter("there are not that many favoured outputs")

    def outside(self, index: int, j: int) -> int:
        _, rest = self._sides(index)
        return _spread(rest, unrank(j, len(rest), self.chosen))

    def naming(self, held: int, named: int) -> tuple[int, int]:
        """How many sets that hold these `named` places are favoured, and how many not; `held` of the places are true ones."""
        every = math.comb(self.places - named, self.chosen - named) if self.chosen >= named else 0
        # Beside held places, nothing that holds them is without one.
        missed = math.comb(self.free - named, self.chosen - named) if not held and self.chosen >= named <= self.free else 0
        return every - missed, missed

    def compiled(self) -> dict[str, Any]:
        levels = {"levels": self.levels} if self.levels > 1 else {}
        return {"set": "hitting", "items": self.items, "at_most": self.at_most, "chosen": self.chosen, **levels}


def _spread(places: Sequence[int], chosen: int) -> int:
    """The number whose digits at these places are those of `chosen`, one after the other."""
    return sum((chosen >> j & 1) << place for j, place in enumerate(places))
