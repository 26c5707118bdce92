"""k-ary randomized response: the true category, or any other at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.categories import Categories
from deniable.core.mechanisms.categorical_base import CategoricalMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class KaryRandomizedResponse(CategoricalMechanism):
    """Answer with the true category with probability e**epsilon / (k - 1 + e**epsilon), else another one.

    Law: the true category weighs `high`, every other `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: one draw, log2(k) bits on the wire. Best for few categories or large epsilon.
    Source: Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential privacy", 2014.

    >>> mechanism = KaryRandomizedResponse(domain=Categories(["cat", "dog", "bird"]), epsilon=1)
    >>> mechanism.decode(mechanism.randomize("dog").output) in ("cat", "dog", "bird")
    True
    """

    name: ClassVar[str] = "k-rr"
    source: ClassVar[str] = "Kairouz, Oh, Viswanath 2014"
    tasks: ClassVar[tuple[str, ...]] = ("frequency", "field", "test")

    def build(self) -> TwoLevel:
        """k outputs, the true one favoured."""
        return TwoLevel.at(Singleton(self.domain.size), self.privacy)

    def decode(self, output: int) -> int | str:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two, a few and many categories."""
        yield cls(domain=Categories(2), epsilon=0.5)
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=1)
        yield cls(domain=Categories(100), epsilon=3)
