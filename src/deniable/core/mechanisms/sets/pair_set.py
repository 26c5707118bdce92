"""A set of pairs, each of a key and a number, which shares one with the true pairs more often than not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.channels.hitting import MOST_PLACES, Hitting
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.interval import Interval
from deniable.core.domains.key_value import KeyValue
from deniable.core.exact.weights import two_level_weights
from deniable.core.mechanisms.set_base import FEW_PAIRS, KeyValueMechanism
from deniable.core.mechanisms.sets.priv_set import best_chosen
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class PairSet(KeyValueMechanism):
    """Answer with a set of `chosen` pairs of a key and a number; sets that hold a true pair, or a dummy, are favoured.

    Law: with c cells there are c + 1 numbers, so k keys make k (c + 1) pairs. A person's pairs are filled up with the first
    m - j of m = `at_most` dummies. Reports that share at least one of these m places weigh `high`, the others `low`. `chosen`
    is the size with the least variance for a rare pair.
    Guarantee: epsilon-LDP between any two maps, exactly ln(high/low): keys, numbers and how many there are.
    Use: for how the numbers of a key are distributed, with few cells. The reports of pckv-ue and pckv-grr tell the mean of the
    numbers only, and do not grow with the cells.
    Cost: one draw of an integer of k (c + 1) + m bits, as many bits on the wire.
    Source: this project. Pairs are reported as PrivSet reports items (Wang, Huang, Nie, Wang, Xu and Yang, 2018).

    >>> PairSet(domain=KeyValue(["tea", "coffee"], Interval(1, 5, cells=4), at_most=2), epsilon=1).certificate().holds
    True
    """

    domain: KeyValue = FEW_PAIRS
    name: ClassVar[str] = "pair-set"
    source: ClassVar[str] = "this project"
    tasks: ClassVar[tuple[str, ...]] = ("key-values", "key-distributions")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs + self.domain.at_most > MOST_PLACES:
            raise InvalidParameter(
                f"domain: a report names some of at most {MOST_PLACES} pairs of a key and a number; "
                "give the interval fewer cells, or use pckv-grr"
            )

    @property
    def pairs(self) -> int:
        """How many pairs of a key and a number there are."""
        return self.domain.keys.items.size * self.domain.grid.size

    @cached_property
    def chosen(self) -> int:
        """How many places a report names."""
        return best_chosen(self.pairs, self.domain.at_most, float(self.privacy.bounds()[0]))

    def build(self) -> TwoLevel:
        """All sets of `chosen` places, those that meet the padded true pairs favoured."""
        low, high = two_level_weights(1, 2, self.privacy)
        keys, levels = self.domain.keys.items.size, self.domain.grid.size
        return TwoLevel(Hitting(keys, self.domain.at_most, self.chosen, levels), low, high)

    def decode(self, output: int) -> list[tuple[Any, float]]:
        """The pairs that a report names; dummies are left out."""
        self.channel.check(0, output)
        labels, levels, values = self.domain.labels, self.domain.grid.size, self.domain.values
        named = [place for place in range(self.pairs) if output >> place & 1]
        step = float(values.width) / values.cells
        return [(labels[place // levels], float(values.low) + step * (place % levels)) for place in named]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two keys, named ones, and many pairs."""
        yield cls(domain=KeyValue(["mail", "maps"], Interval(0, 60, cells=2), at_most=2), epsilon=1)
        yield cls(domain=KeyValue(["tea", "coffee", "milk"], Interval(1, 5, cells=4), at_most=1), epsilon="0.3")
        yield cls(domain=KeyValue(12, Interval(0, 1, cells=5), at_most=3), epsilon=2)
