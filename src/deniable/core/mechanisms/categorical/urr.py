"""Utility-optimised randomized response: only sensitive categories are hidden (Murakami and Kawamoto, 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.table import Table
from deniable.core.domains.categories import Categories
from deniable.core.exact.weights import two_level_weights
from deniable.core.mechanisms.categorical._sensitive import SensitiveMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class UtilityOptimizedRandomizedResponse(SensitiveMechanism):
    """k-RR among the sensitive categories; any other category is sent as it is, or replaced by a random sensitive one.

    Law: with s sensitive categories, the true one weighs `high`, every other sensitive one `low`. A category that is not sensitive
    weighs `low` for each sensitive answer and `high - low` for itself; nobody else ever gives that answer.
    Guarantee: P(y | x) <= e**epsilon P(y | x') for every sensitive x and any x'. NOT epsilon-LDP for all pairs: a report may show a
    category that is not sensitive, and that the true one is not. Sensitive answers satisfy the bound for all pairs.
    Cost: one draw, log2(k) bits on the wire.
    Source: Murakami and Kawamoto, "Utility-optimized local differential privacy mechanisms for distribution estimation", 2019.

    >>> ill = UtilityOptimizedRandomizedResponse(domain=Categories(["ill", "well", "away"]), epsilon=1, sensitive=[0])
    >>> ill.certificate().holds, ill.certificate().ratio is None
    (True, True)
    """

    name: ClassVar[str] = "urr"
    source: ClassVar[str] = "Murakami, Kawamoto 2019"

    def build(self) -> Table:
        """high + (s - 1) low in every row."""
        size, hidden = self.domain.size, set(self.sensitive)
        low, high = two_level_weights(1, len(hidden) + 1, self.privacy)
        rows = []
        for x in range(size):
            row = [low if y in hidden else 0 for y in range(size)]
            row[x] = high if x in hidden else high - low
            rows.append(row)
        return Table(rows)

    def decode(self, output: int) -> int | str:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """One sensitive category of three, two of five with names, half of twenty."""
        yield cls(domain=Categories(3), epsilon=1, sensitive=[0])
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=0.5, sensitive=[1, 3])
        yield cls(domain=Categories(20), epsilon=3, sensitive=list(range(10)))
