"""A random hash function squeezes the value into a bucket; the report is the function and a bucket."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable.core.channels.base import Sums
from deniable.core.channels.sets import SetSystem
from deniable.errors import InvalidParameter

SEEDS = 1 << 32
_MASK = SEEDS - 1


def mix(seed: int, value: int) -> int:
    """A 32-bit hash of a value under a 32-bit seed.

    The sum of the seed and a spread-out value goes through two rounds of shift and multiply (constants
    of Wellons, "hash prospector", 2018). Every step is invertible, so each value meets every hash
    exactly once over all seeds; over all 2**32 seeds, pairs of values share one of g buckets with a
    frequency that differs from 1/g by less than 0.03 % of it, as chance itself would.
    """
    h = (seed + value * 0x9E3779B1) & _MASK
    h = ((h ^ (h >> 16)) * 0x7FEB352D) & _MASK
    h = ((h ^ (h >> 15)) * 0x846CA68B) & _MASK
    return h ^ (h >> 16)


@dataclass(frozen=True)
class Hashing(SetSystem):
    """Outputs are (seed, bucket) = seed * buckets + bucket; S_x holds bucket H_seed(x) for every seed."""

    size: int
    buckets: int

    def __post_init__(self) -> None:
        if not 2 <= self.buckets <= 1 << 16:
            raise InvalidParameter(f"there must be 2 to 65536 buckets, got {self.buckets}")

    @property
    def inputs(self) -> int:
        """k."""
        return self.size

    @property
    def outputs(self) -> int:
        """Seeds times buckets."""
        return SEEDS * self.buckets

    members = SEEDS
    sums: ClassVar[Sums] = "values"

    def overlap(self) -> Fraction:
        return Fraction(self.members, self.buckets)

    def triple_overlap(self) -> Fraction:
        return Fraction(self.members, self.buckets**2)

    def bucket(self, seed: int, index: int) -> int:
        """The bucket of a value under a seed."""
        return (mix(seed, index) * self.buckets) >> 32

    def contains(self, index: int, output: int) -> bool:
        """Is it the value's own bucket?"""
        seed, bucket = divmod(output, self.buckets)
        return self.bucket(seed, index) == bucket

    def inside(self, index: int, j: int) -> int:
        """Seed j with the value's bucket."""
        return j * self.buckets + self.bucket(j, index)

    def outside(self, index: int, j: int) -> int:
        """A seed with one of the other buckets."""
        seed, other = divmod(j, self.buckets - 1)
        return seed * self.buckets + (self.bucket(seed, index) + 1 + other) % self.buckets

    def compiled(self) -> dict[str, Any]:
        """Size and buckets; the hash function is fixed by the format."""
        return {"set": "hashing", "size": self.size, "buckets": self.buckets}
