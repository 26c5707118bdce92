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
from deniable.core.exact.combinations import members_of
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Hitting(SetSystem):
    """Outputs are the sets of `chosen` places, items and dummies, as binary numbers (digit v for place v).

    S_x holds those that share at least one place with x. Every padded set has `at_most` places, so all S_x are equally large.

    >>> Hitting(3, 1, 2).members, Hitting(3, 1, 2).others        # pairs out of 3 items and a dummy, with the held place or without
    (3, 3)
    """

    items: int
    at_most: int
    chosen: int
    sums: ClassVar[Sums] = "bits"
    unary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 <= self.chosen <= self.items or self.padding.places > 1 << 16:
            raise InvalidParameter(f"a report names 1 to {self.items} of at most 65536 places, got {self.chosen}")

    @cached_property
    def padding(self) -> Padding:
        """How sets are numbered."""
        return Padding(self.items, self.at_most, 1)

    @property
    def padded(self) -> Padding:
        return self.padding

    @property
    def inputs(self) -> int:
        return self.padding.inputs

    @property
    def outputs(self) -> int:
        """Numbers below 2**places; only those with `chosen` ones occur."""
        return 1 << self.padding.places

    @cached_property
    def others(self) -> int:
        """Sets that hold none of the true places."""
        return math.comb(self.items, self.chosen)

    @cached_property
    def members(self) -> int:
        return math.comb(self.padding.places, self.chosen) - self.others

    @property
    def ones(self) -> int:
        return self.chosen

    @property
    def effort(self) -> int:
        return 1 + self.padding.places // 4

    def possible(self, output: int) -> bool:
        return output.bit_count() == self.chosen

    def _sides(self, index: int) -> tuple[list[int], list[int]]:
        """The held places and the others, each in growing order."""
        held = [place for place, _ in self.padding.held(index)]
        own = set(held)
        return held, [place for place in range(self.padding.places) if place not in own]

    def contains(self, index: int, output: int) -> bool:
        return any(output >> place & 1 for place, _ in self.padding.held(index))

    def inside(self, index: int, j: int) -> int:
        """Those with few held places first."""
        held, rest = self._sides(index)
        for shared in range(1, self.chosen + 1):
            without = math.comb(len(rest), self.chosen - shared)
            count = math.comb(len(held), shared) * without
            if j < count:
                first, second = divmod(j, without)
                own = members_of(first, len(held), shared)
                return _number(held, own) | _number(rest, members_of(second, len(rest), self.chosen - shared))
            j -= count
        raise InvalidParameter("there are not so many favoured outputs")

    def outside(self, index: int, j: int) -> int:
        _, rest = self._sides(index)
        return _number(rest, members_of(j, len(rest), self.chosen))

    def naming(self, held: int, named: int) -> tuple[int, int]:
        """How many sets that hold these `named` places are favoured, and how many not; `held` of the places are true ones."""
        every = math.comb(self.padding.places - named, self.chosen - named) if self.chosen >= named else 0
        # Beside held places, nothing that holds them is without one.
        missed = math.comb(self.items - named, self.chosen - named) if not held and self.chosen >= named <= self.items else 0
        return every - missed, missed

    def compiled(self) -> dict[str, Any]:
        return {"set": "hitting", "items": self.items, "at_most": self.at_most, "chosen": self.chosen}


def _number(places: Sequence[int], members: Sequence[int]) -> int:
    return sum(1 << places[member] for member in members)
