"""PCKV-GRR: one of a person's keys with one end of its interval, reported as a single value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable.core.channels.picked_item import PickedItem
from deniable.core.domains.interval import Interval
from deniable.core.domains.key_value import KeyValue
from deniable.core.mechanisms.set_base import KeyValueMechanism, picked_response


@dataclass(frozen=True, kw_only=True, repr=False)
class PCKVRandomizedResponse(KeyValueMechanism):
    """One key with an end of the interval, picked by a hidden fair coin and reported by randomized response.

    Law: a person's keys are filled up with dummies to m = `at_most` places, one of which is picked. Its value becomes the
    upper end with a chance that grows evenly with the value, else the lower end; a dummy's is either. The true one of the
    2 (k + m) pairs of a place and an end weighs `high`, the others `low`.
    Guarantee: epsilon-LDP between any two maps, exactly ln((high + (m - 1) low) / (m low)): keys, values and how many there
    are. The published composition of a level for the key and one for the value is least when a wrong end of the true key
    is as likely as either end of a wrong key, and then it is this one.
    Cost: two draws, log2(2 (k + m)) bits on the wire.
    Source: Gu, Li, Cheng, Xiong and Cao, "PCKV: locally differentially private correlated key-value data collection with
    optimized utility", 2020.

    >>> PCKVRandomizedResponse(domain=KeyValue(20, Interval(0, 24, cells=24), at_most=3), epsilon=1).certificate().holds
    True
    """

    name: ClassVar[str] = "pckv-grr"
    source: ClassVar[str] = "Gu, Li, Cheng, Xiong, Cao 2020"
    tasks: ClassVar[tuple[str, ...]] = ("key-values",)

    def build(self) -> PickedItem:
        """Twice as many inner values as places: each with either end."""
        keys, most = self.domain.keys.items.size, self.domain.at_most
        inner = picked_response(2 * (keys + most), most, self.privacy)
        return PickedItem(keys, most, self.domain.grid.size, inner)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two keys, named ones, and many."""
        yield cls(domain=KeyValue(["mail", "maps"], Interval(0, 60, cells=6), at_most=2), epsilon=1)
        yield cls(domain=KeyValue(["mail", "maps", "chat", "news"], Interval(-1, 1, cells=10), at_most=1), epsilon="0.3")
        yield cls(domain=KeyValue(40, at_most=3), epsilon=2)
