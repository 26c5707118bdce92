"""Which accumulator a mechanism's reports need."""

from __future__ import annotations

from deniable.batch.accumulators.base import Accumulator
from deniable.batch.accumulators.counts import BitCounts, Counts, SupportCounts
from deniable.batch.accumulators.joined import Joined, Sampled
from deniable.core import Bits, FakeData, Field, Hashing, Mechanism, Mixture, Product, Subsets, TwoLevel, WideHashing
from deniable.errors import NotSupported


def accumulator_class(mechanism: Mechanism) -> type[Accumulator]:
    """By the kind of channel."""
    channel = mechanism.channel
    if isinstance(channel, Product | FakeData):
        return Joined
    if isinstance(channel, Mixture) and all(isinstance(part, Field) for part in channel.parts):
        return Sampled
    if isinstance(channel, Bits) or (isinstance(channel, TwoLevel) and isinstance(channel.sets, Subsets)):
        return BitCounts
    if isinstance(channel, TwoLevel) and isinstance(channel.sets, Hashing):
        return SupportCounts
    if isinstance(channel, Mixture) and any(
        isinstance(part, TwoLevel) and isinstance(part.sets, WideHashing) for part in channel.parts
    ):
        raise NotSupported(
            f"reports of {mechanism.name} are searched, not summed: collect them in deniable.estimators.PEMCollector"
        )
    return Counts


def accumulator_for(mechanism: Mechanism) -> Accumulator:
    """An empty accumulator for a mechanism's reports.

    >>> from deniable.core import make_mechanism
    >>> coin = make_mechanism("randomized-response", epsilon=1)
    >>> len(accumulator_for(coin).add([coin.randomize(1), coin.randomize(0)]))
    2
    """
    return accumulator_class(mechanism)(mechanism)


def accumulator_from_bytes(mechanism: Mechanism, data: bytes) -> Accumulator:
    """Sums written by `to_bytes`, after checking that they are of this recipe."""
    return accumulator_class(mechanism).from_bytes(mechanism, data)
