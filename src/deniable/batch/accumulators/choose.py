"""Which accumulator a mechanism's reports need."""

from __future__ import annotations

from deniable.batch.accumulators.base import Accumulator
from deniable.batch.accumulators.counts import BitCounts, Counts, SupportCounts
from deniable.batch.accumulators.joined import Joined, Sampled
from deniable.batch.accumulators.vectors import VectorSums
from deniable.core import Mechanism, Sums
from deniable.errors import NotSupported

_BY_SUMS: dict[Sums, type[Accumulator]] = {
    "outputs": Counts,
    "bits": BitCounts,
    "values": SupportCounts,
    "parts": Joined,
    "picked": Sampled,
    "vector": VectorSums,
}


def accumulator_class(mechanism: Mechanism) -> type[Accumulator]:
    """By what its channel says a collector adds up."""
    sums = mechanism.channel.sums
    if sums == "searched":
        raise NotSupported(
            f"reports of {mechanism.name} are searched, not summed: collect them in deniable.estimators.PEMCollector"
        )
    return _BY_SUMS[sums]


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
