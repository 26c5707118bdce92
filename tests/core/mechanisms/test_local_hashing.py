"""A hashed report reads as the seed and the bucket that were drawn."""

from __future__ import annotations

import pytest

from deniable.core import SEEDS, Categories, OptimizedLocalHashing
from deniable.core.channels.hashing import mix
from deniable.core.mechanisms.categorical._local_hashing import LocalHashing
from deniable.core.mechanisms.categorical.blh import BinaryLocalHashing
from deniable.errors import InvalidParameter

HASHED = [BinaryLocalHashing(domain=Categories(9), epsilon=1), OptimizedLocalHashing(domain=Categories(9), epsilon=2)]


@pytest.mark.parametrize("mechanism", HASHED, ids=lambda mechanism: mechanism.name)
@pytest.mark.parametrize("seed", [0, 1, 12_345, SEEDS - 1])
def test_an_output_reads_as_its_seed_and_bucket(mechanism: LocalHashing, seed: int) -> None:
    for value in range(9):
        own = (mix(seed, value) * mechanism.buckets) >> 32
        for bucket in range(mechanism.buckets):
            output = seed * mechanism.buckets + bucket
            assert mechanism.decode(output) == (seed, bucket)
            channel = mechanism.channel
            assert channel.weight(value, output) == (channel.high if bucket == own else channel.low)  # type: ignore[attr-defined]


@pytest.mark.parametrize("mechanism", HASHED, ids=lambda mechanism: mechanism.name)
def test_an_output_that_cannot_be_is_refused(mechanism: LocalHashing) -> None:
    with pytest.raises(InvalidParameter):
        mechanism.decode(SEEDS * mechanism.buckets)
