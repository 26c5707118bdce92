"""Padding and sampling with bits: one bit for every item and dummy, one of a person's favoured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.bits import MOST_BITS, Bits
from deniable.core.channels.picked_item import PickedItem
from deniable.core.domains.item_set import ItemSet
from deniable.core.mechanisms.categorical._unary import bit_scale, truthful_weight
from deniable.core.mechanisms.set_base import SetMechanism
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class PaddingOUE(SetMechanism):
    """One item of a set padded with dummies to m = `at_most` places, picked by a hidden coin and reported in unary bits.

    Law: sets and dummies as in padding-sampling; the picked place's bit is 1 with probability 1/2, any other place's with
    1/(e**epsilon + 1).
    Guarantee: epsilon-LDP between any two sets. Bits gain nothing from the hidden coin: a report may favour all m places
    of one set and none of another, which is as far apart as two single places are.
    Use: where there are very many items beside e**epsilon; priv-set is better where its reports are not too long.
    Cost: k + m + 1 draws, k + m bits on the wire.
    Source: Wang, Li and Jha, "Locally differentially private frequent itemset mining", 2018.

    >>> PaddingOUE(domain=ItemSet(["bus", "car", "bike", "feet"], at_most=2), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "padding-oue"
    source: ClassVar[str] = "Wang, Li, Jha 2018"
    tasks: ClassVar[tuple[str, ...]] = ("items",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.items.size + self.domain.at_most > MOST_BITS:
            raise InvalidParameter(f"domain: a unary report has at most {MOST_BITS} bits; use padding-sampling")

    def build(self) -> PickedItem:
        """The padded set, and bits for its places."""
        items, most = self.domain.items.size, self.domain.at_most
        scale = bit_scale(self.privacy)
        other = scale - truthful_weight(scale, self.privacy.exact)
        return PickedItem(items, most, 1, Bits(items + most, own=scale // 2, other=other, scale=scale))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Few items, named ones, and many."""
        yield cls(domain=ItemSet(3, at_most=2), epsilon=2)
        yield cls(domain=ItemSet(["bus", "car", "bike", "feet"], at_most=1), epsilon="0.3")
        yield cls(domain=ItemSet(60, at_most=5), epsilon=1)
