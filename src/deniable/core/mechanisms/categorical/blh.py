"""Binary local hashing: a random hash to one bit, then randomized response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.domains.categories import Categories
from deniable.core.mechanisms.categorical._local_hashing import LocalHashing


@dataclass(frozen=True, kw_only=True, repr=False)
class BinaryLocalHashing(LocalHashing):
    """Hash the category to one bit with a random public seed; send the seed and the bit, or its opposite.

    Law: every seed is equally likely; the bucket of the true category weighs `high`, the other `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance per user: (E+1)**2/(E-1)**2 for a rare category, E = e**epsilon; `olh` is never worse.
    Cost: one draw, 33 bits on the wire whatever k is.
    Source: Bassily and Smith, 2015, in the form of Wang et al., 2017.

    >>> BinaryLocalHashing(domain=Categories(1000), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "blh"
    source: ClassVar[str] = "Bassily, Smith 2015; Wang, Blocki, Li, Jha 2017"
    tasks: ClassVar[tuple[str, ...]] = ("frequency",)

    @property
    def buckets(self) -> int:
        """g = 2: the bit."""
        return 2

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two, a few and many categories."""
        yield cls(domain=Categories(2), epsilon=0.5)
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=1)
        yield cls(domain=Categories(1000), epsilon=2)
