"""The report is a set of `chosen` values; sets that hold the true value are favoured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.channels.base import Sums
from deniable.core.channels.sets import SetSystem
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Subsets(SetSystem):
    """Outputs are the subsets of `chosen` out of `size` values, as binary numbers (digit v for value v)."""

    size: int
    chosen: int

    def __post_init__(self) -> None:
        if not 1 <= self.chosen < self.size <= 1 << 16:
            raise InvalidParameter(f"a subset takes 1 to {self.size - 1} of at most 65536 values, got {self.chosen} of {self.size}")

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        """Numbers below 2**k; only those with `chosen` ones occur."""
        return 1 << self.size

    @cached_property
    def members(self) -> int:
        """Subsets that hold a given value."""
        return math.comb(self.size - 1, self.chosen - 1)

    @cached_property
    def others(self) -> int:
        return math.comb(self.size - 1, self.chosen)

    sums: ClassVar[Sums] = "bits"
    unary: ClassVar[bool] = True

    @property
    def ones(self) -> int:
        return self.chosen

    @property
    def effort(self) -> int:
        return 1 + self.size // 4

    def overlap(self) -> Fraction:
        return Fraction(math.comb(self.size - 2, self.chosen - 2)) if self.chosen >= 2 else Fraction(0)

    def triple_overlap(self) -> Fraction:
        return Fraction(math.comb(self.size - 3, self.chosen - 3)) if self.chosen >= 3 else Fraction(0)

    def possible(self, output: int) -> bool:
        """Only numbers with `chosen` binary ones are subsets of the right size."""
        return output.bit_count() == self.chosen

    def contains(self, index: int, output: int) -> bool:
        return bool(output >> index & 1)

    def inside(self, index: int, j: int) -> int:
        """The j-th subset that holds the value."""
        return self._insert(index, unrank(j, self.size - 1, self.chosen - 1), 1)

    def outside(self, index: int, j: int) -> int:
        """The j-th subset that does not."""
        return self._insert(index, unrank(j, self.size - 1, self.chosen), 0)

    @staticmethod
    def _insert(index: int, subset: int, bit: int) -> int:
        below = (1 << index) - 1
        return (subset & below) | bit << index | (subset & ~below) << 1

    def compiled(self) -> dict[str, Any]:
        return {"set": "subsets", "size": self.size, "chosen": self.chosen}


def unrank(rank: int, size: int, chosen: int) -> int:
    """The subset (as a binary number) with this rank among all `chosen`-subsets of `size` values."""
    subset = 0
    count = math.comb(size, chosen)
    for value in range(size - 1, -1, -1):
        if chosen == 0:
            break
        # How many of the remaining subsets leave `value` out: comb(value, chosen).
        without = count * (value + 1 - chosen) // (value + 1)
        if rank < without:
            count = without
        else:
            rank -= without
            count -= without
            subset |= 1 << value
            chosen -= 1
    return subset
