"""What all mechanisms on sets of items, and on keys with values, share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable.core.channels.sets import Singleton
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.base import Domain
from deniable.core.domains.interval import Interval
from deniable.core.domains.item_set import ItemSet
from deniable.core.domains.key_value import KeyValue
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.exponential import exp_floor
from deniable.core.exact.weights import LEAST_BITS, MOST_BITS, TOTAL_BITS
from deniable.core.mechanisms.base import Mechanism

FEW_ITEMS = ItemSet(10, at_most=2)
FEW_KEYS = KeyValue([f"key {number}" for number in range(10)], at_most=2)
FEW_PAIRS = KeyValue([f"key {number}" for number in range(10)], Interval(0, 1, cells=8), at_most=2)


@dataclass(frozen=True, kw_only=True, repr=False)
class SetMechanism(Mechanism):
    """A set of items in; reports name places, which are items and, behind them, dummies."""

    domain: ItemSet = FEW_ITEMS
    family: ClassVar[str] = "sets"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (ItemSet,)

    def named(self, output: int) -> list[int]:
        """The places that a report names."""
        return [place for place in range(output.bit_length()) if output >> place & 1] if self.channel.unary else [output]

    def decode(self, output: int) -> list[int | str]:
        """The items that a report names; dummies are left out."""
        self.channel.check(0, output)
        return [self.domain.labels[place] for place in self.named(output) if place < self.domain.items.size]


@dataclass(frozen=True, kw_only=True, repr=False)
class KeyValueMechanism(Mechanism):
    """Keys with numbers in; reports name keys, each with one end of the interval."""

    domain: KeyValue = FEW_KEYS
    family: ClassVar[str] = "sets"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (KeyValue,)

    def decode(self, output: int) -> Any:
        """The keys that a report names, each with the end of the interval it shows; dummies are left out."""
        self.channel.check(0, output)
        shown = [bit for bit in range(output.bit_length()) if output >> bit & 1] if self.channel.unary else [output]
        ends = float(self.domain.values.high), float(self.domain.values.low)
        labels = self.domain.labels
        return {labels[bit // 2]: ends[bit % 2] for bit in shown if bit // 2 < len(labels)}


def picked_response(symbols: int, at_most: int, epsilon: Epsilon) -> TwoLevel:
    """Randomized response for one of `at_most` places that a coin picked: the coin leaves room for a higher weight.

    (high + (at_most - 1) low) / (at_most low) <= e**epsilon with equality but for the rounding, which is downward.
    """
    most = symbols + at_most * int(epsilon.bounds()[1] + 1)
    needed = LEAST_BITS + max(0, int(1 / epsilon.exact).bit_length())
    low = 1 << max(min(MOST_BITS, TOTAL_BITS - most.bit_length()), needed)
    return TwoLevel(Singleton(symbols), low, exp_floor(at_most * low, epsilon.exact) - (at_most - 1) * low)


def share_variance(held: Fraction | float, other: Fraction | float) -> float:
    """The variance of the unbiased share of a rare item, per person: held and other are how often its place is named."""
    return float(other) * (1 - float(other)) / float(held - other) ** 2
