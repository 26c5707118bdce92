"""Padding and sampling: one of a person's items, or a dummy, reported as a single value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.picked_item import PickedItem
from deniable.core.domains.item_set import ItemSet
from deniable.core.mechanisms.set_base import SetMechanism, picked_response


@dataclass(frozen=True, kw_only=True, repr=False)
class PaddingSampling(SetMechanism):
    """One item of a set padded with dummies to m = `at_most` places, picked by a hidden fair coin.

    Law: there are k items and m dummies; a set of j items holds its items and the first m - j dummies. One of the m held
    places is picked and reported by randomized response on all k + m places.
    Guarantee: epsilon-LDP between any two sets, of whatever sizes: exactly ln((high + (m - 1) low) / (m low)). The picking
    coin is hidden, so the picked place itself is reported with the odds m (e**epsilon - 1) + 1.
    Cost: two draws, log2(k + m) bits on the wire.
    Source: Qin et al., "Heavy hitter estimation over set-valued data with local differential privacy", 2016; the gain
    from sampling: Wang, Li and Jha, "Locally differentially private frequent itemset mining", 2018. There, one dummy item
    stands for all; different ones cost nothing and tell how large the sets are.

    >>> travel = ItemSet(["bus", "car", "bike", "feet"], at_most=2)
    >>> PaddingSampling(domain=travel, epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "padding-sampling"
    source: ClassVar[str] = "Qin et al. 2016; Wang, Li, Jha 2018"
    tasks: ClassVar[tuple[str, ...]] = ("items",)

    def build(self) -> PickedItem:
        """The padded set, and randomized response for its places."""
        items, most = self.domain.items.size, self.domain.at_most
        return PickedItem(items, most, 1, picked_response(items + most, most, self.privacy))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Named items, one item at most, and many items."""
        yield cls(domain=ItemSet(["bus", "car", "bike", "feet"], at_most=2), epsilon=1)
        yield cls(domain=ItemSet(4, at_most=1), epsilon="0.1")
        yield cls(domain=ItemSet(60, at_most=5), epsilon=1)
