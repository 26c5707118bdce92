"""What binary and optimized local hashing share: a random public hash function, and a bucket of it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from deniable.core.channels.hashing import Hashing
from deniable.core.channels.two_level import TwoLevel
from deniable.core.mechanisms.categorical_base import CategoricalMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalHashing(CategoricalMechanism):
    """Hash the category to one of `buckets` with a random public seed; send the seed and a bucket."""

    @property
    @abstractmethod
    def buckets(self) -> int:
        """g, how many buckets the hash function has."""

    def build(self) -> TwoLevel:
        """(seed, bucket) pairs, those with the true category's bucket favoured."""
        return TwoLevel.at(Hashing(self.domain.size, self.buckets), self.privacy)

    def decode(self, output: int) -> tuple[int, int]:
        """The seed and the bucket."""
        self.channel.check(0, output)
        return divmod(output, self.buckets)
