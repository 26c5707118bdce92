"""A yes or no beside a public tag: one report of a device that says which kind of device it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable.core.channels.table import Table
from deniable.core.domains.base import Domain
from deniable.core.domains.binary import Binary
from deniable.core.exact.weights import even_weights
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.reading import Values
from deniable.errors import InvalidParameter

MOST_TAGS = 64


@dataclass(frozen=True, kw_only=True, repr=False)
class TaggedResponse(Mechanism):
    """Randomized response beside one of `tags` tags, which is drawn evenly and says nothing about the answer.

    Law: output 2 * tag + bit weighs `high` when the bit is the true one, `low` otherwise, whatever the tag.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Cost: one draw, log2(2 * tags) bits on the wire.
    A survey with repeat = "changes:C" reports by it: the tag is then the length of the stretches that a device tells of, drawn once
    and kept, and the bit the sign of a change in the last of them.
    Source: Warner, "Randomized response", JASA 1965; the tags after Erlingsson et al. 2019.

    >>> TaggedResponse(epsilon=1, tags=3).channel.outputs
    6
    """

    domain: Binary = Binary()
    tags: int
    name: ClassVar[str] = "tagged-response"
    family: ClassVar[str] = "binary"
    source: ClassVar[str] = "Warner 1965"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Binary,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.tags) is not int or not 1 <= self.tags <= MOST_TAGS:
            raise InvalidParameter(f"tags must be a whole number from 1 to {MOST_TAGS}")

    def build(self) -> Table:
        """Two rows; the sum of both weights is even, so that a fair coin is as exact as they are."""
        low, high = even_weights(self.privacy)
        return Table([[high, low] * self.tags, [low, high] * self.tags])

    def decode(self, output: int) -> int:
        return self.domain.decode(output & 1)

    @property
    def reading(self) -> Values:
        """Every output as its bit."""
        return Values((Fraction(0), Fraction(1)) * self.tags)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """One tag, few and many."""
        for epsilon, tags in ((0.5, 1), (1, 3), (2, 7)):
            yield cls(epsilon=epsilon, tags=tags)
