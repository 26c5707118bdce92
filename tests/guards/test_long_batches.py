"""No randomness is used twice within one batch: not by its threads, not by its chunks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.guards.scenarios import least_private
from tests.guards.test_siblings import long_enough, repeated

from deniable.batch import draw_many, encode_many, output_ints
from deniable.batch import randomize as batch
from deniable.batch.sampler import CHUNK
from deniable.core import Mechanism, names
from deniable.privacy.conformance.values import few_values
from deniable.studies import answer_in_pairs, bounded_pair

QUICK = ("k-rr", "oue", "olh", "window", "hadamard", "subset")
LONG = 3 * CHUNK + 1000
BASE = np.uint64(0x9E3779B97F4A7C15)


def repeated_stretches(outputs: NDArray[np.uint64], stretch: int) -> int:
    """How many stretches of so many outputs occur a second time, by their hashes of 64 bits.

    Of 10**5 stretches, two different ones have the same hash with probability below 10**-9.
    """
    mixed = (outputs + np.uint64(1)) * BASE
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    powers = np.cumprod(np.full(len(mixed), BASE | np.uint64(1), np.uint64))
    sums = np.concatenate([[np.uint64(0)], np.cumsum(mixed * powers, dtype=np.uint64)])
    windows = sums[stretch:] - sums[:-stretch]
    inverse = np.uint64(pow(int(BASE | np.uint64(1)), -1, 2**64))
    hashes = windows * np.cumprod(np.full(len(windows), inverse, np.uint64))
    return len(hashes) - len(np.unique(hashes))


def check_long_batch(mechanism: Mechanism, count: int = LONG) -> None:
    one = encode_many(mechanism, few_values(mechanism.domain)[:1])
    drawn = output_ints(mechanism.channel, draw_many(mechanism.channel, repeated(one, count)))
    outputs = np.array([(output ^ output >> 64 ^ output >> 128) & (2**64 - 1) for output in drawn], np.uint64)
    assert repeated_stretches(outputs, long_enough(outputs[:1000].tolist())) == 0, "randomness was used twice in one batch"


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names()])
def test_a_long_batch_uses_nothing_twice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On two threads, each of which draws more than one chunk."""
    monkeypatch.setattr(batch, "worthwhile_threads", lambda count: 2)
    check_long_batch(least_private(name))


def test_pairs_of_many_people_use_nothing_twice() -> None:
    told = answer_in_pairs(bounded_pair(1, 2), np.zeros(1 << 18, np.uint8)).astype(np.uint64)
    assert repeated_stretches(told, 400) == 0


def test_a_stretch_that_comes_back_is_noticed() -> None:
    outputs = np.random.default_rng(1).integers(0, 3, 100_000).astype(np.uint64)
    assert repeated_stretches(outputs, 60) == 0
    outputs[70_123:70_223] = outputs[20_001:20_101]
    assert repeated_stretches(outputs, 60) >= 41
