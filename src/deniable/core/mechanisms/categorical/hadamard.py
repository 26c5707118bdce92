"""Hadamard response: half of all outputs are favoured, and decoding is a fast transform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.hadamard import Hadamard
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.categories import Categories
from deniable.core.mechanisms.categorical_base import CategoricalMechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class HadamardResponse(CategoricalMechanism):
    """Answer with a column where the true category's row of a Hadamard matrix is +1, more often than not.

    Law: of K = 2**ceil(log2(k+1)) columns, the K/2 with +1 in row x + 1 weigh `high`, the rest `low`.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance per user of a rare category: (E+1)**2/(E-1)**2, E = e**epsilon. Best for small epsilon.
    Cost: one draw, log2(K) bits on the wire; all counts at once in O(K log K).
    Source: Acharya, Sun and Zhang, "Hadamard response", 2019.

    >>> HadamardResponse(domain=Categories(1000), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "hadamard"
    source: ClassVar[str] = "Acharya, Sun, Zhang 2019"
    tasks: ClassVar[tuple[str, ...]] = ("frequency", "field", "test")

    def build(self) -> TwoLevel:
        """All columns, those with +1 in the category's row favoured."""
        return TwoLevel.at(Hadamard(self.domain.size), self.privacy)

    def decode(self, output: int) -> int:
        """The reported column: it speaks for half of all categories, so there is no single best guess."""
        self.channel.check(0, output)
        return output

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two, a few and many categories."""
        yield cls(domain=Categories(2), epsilon=0.5)
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=1)
        yield cls(domain=Categories(1000), epsilon=2)
