"""PrivSet: the report is a set of places, which shares one with the true set more often than not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.hitting import MOST_PLACES, Hitting
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.item_set import ItemSet
from deniable.core.exact.weights import two_level_weights
from deniable.core.mechanisms.set_base import SetMechanism, share_variance
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivSet(SetMechanism):
    """Answer with a set of `chosen` out of k items and m = `at_most` dummies; sets that overlap the true one are favoured.

    Law: a set of j items is filled up with the first m - j dummies. Reports that share at least one place with it weigh
    `high`, the others `low`. `chosen` is the size with the least variance for a rare item.
    Guarantee: epsilon-LDP between any two sets, exactly ln(high/low).
    Variance: the least of the published mechanisms for sets when m is small beside k.
    Cost: one draw of a (k + m)-bit integer, k + m bits on the wire. With `chosen` = 1 it is padding-sampling.
    Source: Wang, Huang, Nie, Wang, Xu and Yang, "PrivSet: set-valued data analyses with local differential privacy", 2018.
    There, all sets have m items; here the dummies make that so, and tell how large the sets are.

    >>> PrivSet(domain=ItemSet(40, at_most=3), epsilon=1).chosen
    3
    """

    name: ClassVar[str] = "priv-set"
    source: ClassVar[str] = "Wang, Huang, Nie, Wang, Xu, Yang 2018"
    tasks: ClassVar[tuple[str, ...]] = ("items",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.items.size + self.domain.at_most > MOST_PLACES:
            raise InvalidParameter(f"domain: a report names some of at most {MOST_PLACES} places; use padding-sampling")

    @cached_property
    def chosen(self) -> int:
        """How many places a report names."""
        return best_chosen(self.domain.items.size, self.domain.at_most, float(self.privacy.bounds()[0]))

    def build(self) -> TwoLevel:
        """All sets of `chosen` places, those that meet the padded true set favoured."""
        low, high = two_level_weights(1, 2, self.privacy)
        return TwoLevel(Hitting(self.domain.items.size, self.domain.at_most, self.chosen), low, high)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Named items, few places, and many items."""
        yield cls(domain=ItemSet(["bus", "car", "bike", "feet", "boat", "sled"], at_most=1), epsilon="0.5")
        yield cls(domain=ItemSet(5, at_most=3), epsilon=1)
        yield cls(domain=ItemSet(60, at_most=2), epsilon=2)


def best_chosen(items: int, at_most: int, odds: float) -> int:
    """The number of named places with the least variance for the share of a rare item."""
    places, missed = items + at_most, 1.0
    best, least = 1, float("inf")
    for chosen in range(1, items + 1):
        missed *= (items - chosen + 1) / (places - chosen + 1)  # how many sets of this size hold no true place
        total = (1 - missed) * odds + missed
        held = odds * chosen / places / total
        other = (odds * chosen / places - (odds - 1) * missed * chosen / items) / total
        variance = share_variance(held, other) if held > other else float("inf")
        if variance < least:
            best, least = chosen, variance
    return best
