"""The prefix extending method: every group's prefix by local hashing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.wide_hashing import WideHashing
from deniable.core.domains.words import Whole
from deniable.core.mechanisms.words._prefixes import PrefixMechanism
from deniable.errors import InvalidParameter

MOST_BUCKETS = 1 << 16


@dataclass(frozen=True, kw_only=True, repr=False)
class PrefixExtendingMethod(PrefixMechanism):
    """Hash the group's prefix to g = floor(E) + 1 buckets with a random public key; send group, key and a bucket.

    Law: group and key do not depend on the word; the bucket of its prefix weighs `high`, the others `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low); the group costs nothing, because it is drawn without the word.
    Variance of a share in a group of m users: about 4E/(m (E-1)**2), E = e**epsilon.
    Cost: one draw, about 35 + epsilon/ln 2 bits on the wire. Finding takes one hash per report and candidate.
    Source: Wang, Li and Jha, "Locally differentially private heavy hitter identification", 2021.

    >>> mechanism = PrefixExtendingMethod(epsilon=4)      # texts of up to 6 bytes
    >>> mechanism.levels, mechanism.certificate().holds
    ((8, 16, 24, 32, 40, 48), True)
    """

    name: ClassVar[str] = "pem"
    source: ClassVar[str] = "Wang, Li, Jha 2021"
    tasks: ClassVar[tuple[str, ...]] = ("heavy-hitters",)
    estimating: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.buckets > MOST_BUCKETS:
            raise InvalidParameter(f"epsilon: local hashing has at most {MOST_BUCKETS} buckets, so epsilon is at most 11.09")

    @property
    def buckets(self) -> int:
        """g = floor(e**epsilon) + 1, exactly."""
        return self.privacy.floor(1) + 1

    def sets(self, kept: int) -> WideHashing:
        """(key, bucket) pairs."""
        return WideHashing(self.domain.bits, kept, self.buckets)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two levels of short words, and six of long ones."""
        yield cls(domain=Whole(10), epsilon=1, step_bits=5)
        yield cls(domain=Whole(48), epsilon=4)
