"""A random hash function squeezes the value into a bucket; the report is the function and a bucket."""

from __future__ import annotations

from abc import abstractmethod
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


class Keyed(SetSystem):
    """Outputs are (key, bucket) = key * buckets + bucket; S_x holds, for every key, the bucket of x under it."""

    buckets: int
    members = SEEDS

    def __post_init__(self) -> None:
        if not 2 <= self.buckets <= 1 << 16:
            raise InvalidParameter(f"there must be 2 to 65536 buckets, got {self.buckets}")

    @abstractmethod
    def bucket(self, key: int, index: int) -> int:
        """The bucket of an input under a key."""

    @property
    def outputs(self) -> int:
        return SEEDS * self.buckets

    def contains(self, index: int, output: int) -> bool:
        key, bucket = divmod(output, self.buckets)
        return self.bucket(key, index) == bucket

    def inside(self, index: int, j: int) -> int:
        return j * self.buckets + self.bucket(j, index)

    def outside(self, index: int, j: int) -> int:
        key, other = divmod(j, self.buckets - 1)
        return key * self.buckets + (self.bucket(key, index) + 1 + other) % self.buckets


@dataclass(frozen=True)
class Hashing(Keyed):
    """The bucket of a value is H_seed(x), with the seed as the key."""

    size: int
    buckets: int
    sums: ClassVar[Sums] = "values"

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def hashed_into(self) -> int:
        return self.buckets

    def overlap(self) -> Fraction:
        return Fraction(self.members, self.buckets)

    def triple_overlap(self) -> Fraction:
        return Fraction(self.members, self.buckets**2)

    def bucket(self, key: int, index: int) -> int:
        return (mix(key, index) * self.buckets) >> 32

    def compiled(self) -> dict[str, Any]:
        """Size and buckets; the hash function is fixed by the format."""
        return {"set": "hashing", "size": self.size, "buckets": self.buckets}
