"""Randomized response: tell the truth more often than not (Warner, 1965)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.base import Domain
from deniable.core.domains.binary import Binary
from deniable.core.mechanisms.base import Mechanism


@dataclass(frozen=True, kw_only=True, repr=False)
class RandomizedResponse(Mechanism):
    """Answer with the true bit with probability e**epsilon / (1 + e**epsilon), else with the other.

    Law: the true bit weighs `high`, the other `low`, high = floor(low * e**epsilon).
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: one draw, one bit on the wire.
    Source: Warner, "Randomized response", JASA 1965.

    >>> RandomizedResponse(epsilon=1).certificate().holds
    True
    """

    domain: Binary = Binary()
    name: ClassVar[str] = "randomized-response"
    tasks: ClassVar[tuple[str, ...]] = ("frequency", "field")
    family: ClassVar[str] = "binary"
    source: ClassVar[str] = "Warner 1965"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Binary,)

    def build(self) -> TwoLevel:
        """Two outputs, the true one favoured."""
        return TwoLevel.at(Singleton(2), self.privacy)

    def decode(self, output: int) -> int:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Weak, usual and strong noise."""
        for epsilon in (0.1, 1, 4):
            yield cls(epsilon=epsilon)
