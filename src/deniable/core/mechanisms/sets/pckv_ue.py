"""PCKV-UE: for every key nothing, a plus or a minus, one of a person's keys favoured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.picked_item import PickedItem
from deniable.core.channels.signed_bits import MOST_KEYS, SignedBits
from deniable.core.domains.interval import Interval
from deniable.core.domains.key_value import KeyValue
from deniable.core.exact.epsilon import Epsilon
from deniable.core.mechanisms.categorical._unary import bit_scale, truthful_weight
from deniable.core.mechanisms.set_base import KeyValueMechanism
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class PCKVUnaryEncoding(KeyValueMechanism):
    """For every key nothing, the upper or the lower end; one key, picked by a hidden fair coin, is favoured.

    Law: keys, dummies and ends as in pckv-grr. With E = e**epsilon, the picked key shows its own end with probability
    E/(2(E + 1)), the other end with 1/(2(E + 1)), else nothing; any other key shows either end with 1/(E + 3).
    Guarantee: epsilon-LDP between any two maps. The joint level is ln of the largest over the smallest of agree/other,
    differ/other and (scale - agree - differ)/(scale - 2 other); the published max(e2, e1 + ln(2/(1 + e**-e2))) is the same.
    Cost: k + m draws, 2 (k + m) bits on the wire.
    Source: Gu, Li, Cheng, Xiong and Cao, "PCKV: locally differentially private correlated key-value data collection with
    optimized utility", 2020.

    >>> PCKVUnaryEncoding(domain=KeyValue(20, Interval(0, 24, cells=24), at_most=3), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "pckv-ue"
    source: ClassVar[str] = "Gu, Li, Cheng, Xiong, Cao 2020"
    tasks: ClassVar[tuple[str, ...]] = ("key-values",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.keys.items.size + self.domain.at_most > MOST_KEYS:
            raise InvalidParameter(f"domain: a report has two bits per key, of at most {MOST_KEYS} keys; use pckv-grr")

    def build(self) -> PickedItem:
        keys, most = self.domain.keys.items.size, self.domain.at_most
        return PickedItem(keys, most, self.domain.grid.size, signed_bits(keys + most, self.privacy))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two keys, named ones, and many."""
        yield cls(domain=KeyValue(["mail", "maps"], Interval(0, 60, cells=6), at_most=1), epsilon=1)
        yield cls(domain=KeyValue(["mail", "maps", "chat", "news"], Interval(-1, 1, cells=10), at_most=2), epsilon="0.3")
        yield cls(domain=KeyValue(30, at_most=3), epsilon=2)


def signed_bits(places: int, epsilon: Epsilon) -> SignedBits:
    """The published probabilities in integers, each rounded toward privacy."""
    scale = bit_scale(epsilon)
    odds = epsilon.bounds()[0]
    agree = truthful_weight(scale // 2, epsilon.exact)
    # agree (scale - 2 other) <= odds other (scale / 2): the true key, against another one that shows nothing.
    other = math.ceil(agree * scale / (odds * (scale // 2) + 2 * agree))
    return SignedBits(places, agree=agree, differ=scale // 2 - agree, other=other, scale=scale)
