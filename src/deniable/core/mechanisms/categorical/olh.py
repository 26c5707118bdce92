"""Optimized local hashing: a random hash to as many buckets as epsilon can keep apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.domains.categories import Categories
from deniable.core.mechanisms.categorical._local_hashing import LocalHashing
from deniable.errors import InvalidParameter

MOST_BUCKETS = 1 << 16


@dataclass(frozen=True, kw_only=True, repr=False)
class OptimizedLocalHashing(LocalHashing):
    """Hash the category to g = floor(E) + 1 buckets with a random public seed; send the seed and a bucket.

    Law: every seed is equally likely; the bucket of the true category weighs `high`, the others `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance per user: about 4E/(E-1)**2 for a rare category, E = e**epsilon, as `oue`.
    Cost: one draw, 32 + log2(g) bits on the wire whatever k is. Best for very many categories.
    Source: Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation", 2017.

    >>> OptimizedLocalHashing(domain=Categories(1000), epsilon=1).buckets
    3
    """

    name: ClassVar[str] = "olh"
    source: ClassVar[str] = "Wang, Blocki, Li, Jha 2017"
    tasks: ClassVar[tuple[str, ...]] = ("frequency", "field")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.buckets > MOST_BUCKETS:
            raise InvalidParameter(
                f"epsilon: local hashing has at most {MOST_BUCKETS} buckets, so epsilon is at most 11.09; use k-rr"
            )

    @property
    def buckets(self) -> int:
        """g = floor(e**epsilon) + 1, exactly."""
        return self.privacy.floor(1) + 1

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two, a few and many categories."""
        yield cls(domain=Categories(2), epsilon=0.5)
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=1)
        yield cls(domain=Categories(1000), epsilon=4)
