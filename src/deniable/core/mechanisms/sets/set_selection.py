"""Subset selection among whole sets: the report is a list of sets, which holds the true one more often than not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.channels.subsets import Subsets
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.item_set import ItemSet
from deniable.core.mechanisms.categorical.subset import best_subset_size
from deniable.core.mechanisms.set_base import SetMechanism
from deniable.errors import InvalidParameter

MOST_SETS = 4096


@dataclass(frozen=True, kw_only=True, repr=False)
class SetSelection(SetMechanism):
    """Answer with a list of w out of all N sets of at most `at_most` items, w close to N/(e**epsilon + 1).

    Law: every set is a category of its own, and lists that hold the true one weigh `high`, the others `low`.
    Guarantee: epsilon-LDP between any two sets, exactly ln(high/low).
    Use: for few items, and where what goes together matters: the share of every whole set is estimated, hence of every
    pair of items and of every size. Shares of single items are estimated worse than by priv-set.
    Cost: one draw of an N-bit integer, N bits on the wire.
    Source: Ye and Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy", 2018.

    >>> SetSelection(domain=ItemSet(4, at_most=2), epsilon=1).chosen
    3
    """

    name: ClassVar[str] = "set-selection"
    source: ClassVar[str] = "Ye, Barg 2018"
    tasks: ClassVar[tuple[str, ...]] = ("items",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.size > MOST_SETS:
            raise InvalidParameter(f"domain: a report lists some of at most {MOST_SETS} sets; use priv-set or padding-sampling")

    @cached_property
    def chosen(self) -> int:
        """How many sets a report lists."""
        return best_subset_size(self.domain.size, self.privacy)

    def build(self) -> TwoLevel:
        """All lists of `chosen` sets, those with the true one favoured."""
        return TwoLevel.at(Subsets(self.domain.size, self.chosen), self.privacy)

    def decode(self, output: int) -> list[Any]:
        """The sets that a report lists."""
        self.channel.check(0, output)
        return [self.domain.decode(index) for index in self.named(output)]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Named items, and more of them."""
        yield cls(domain=ItemSet(["bus", "car", "bike"], at_most=2), epsilon=1)
        yield cls(domain=ItemSet(8, at_most=3), epsilon=2)
