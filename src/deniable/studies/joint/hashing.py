"""Joint answers inside optimized local hashing (OLH): the k-ary table on the buckets of each user's own hash.

Averaged over the hash functions, a user who does not hold v supports v with probability 1/g whether the
indicator is 1 or 0. So only pairs that both hold v are correlated in the count of v: the joint table changes
the variance of frequent values and leaves that of rare ones as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, uint32, uint64
from numpy.typing import NDArray

from deniable.batch import Keystream, SystemKeystream, mix, random_words, whole_numbers
from deniable.core import SEEDS, Epsilon, EpsilonLike, Hashing
from deniable.errors import InvalidParameter
from deniable.studies.joint.accounting import Accounting
from deniable.studies.joint.arguments import check_ones, check_users
from deniable.studies.joint.k_ary import KaryPair, check_values


@njit(nogil=True, cache=True)
def _buckets(hashes, values, buckets, out):  # type: ignore[no-untyped-def]
    """The bucket of each value under its user's own hash function: channels.hashing.Hashing.bucket."""
    for i in range(values.size):
        mixed = uint64(mix(uint32(hashes[i]), uint32(values[i])))
        out[i] = np.int64((mixed * uint64(buckets)) >> uint64(32))


@njit(nogil=True, cache=True)
def _support(reports, value, buckets):  # type: ignore[no-untyped-def]
    """How many reports name the bucket their hash function gives this value."""
    count = 0
    for i in range(reports.shape[0]):
        mixed = uint64(mix(uint32(reports[i, 0]), uint32(value)))
        count += np.int64((mixed * uint64(buckets)) >> uint64(32)) == reports[i, 1]
    return count


@dataclass(frozen=True)
class HashedPair:
    """Two users who hash one of `size` values to g buckets each and answer together; seeds are public.

    >>> HashedPair.bounded(1000, 1, 2).buckets.k
    3
    """

    size: int
    buckets: KaryPair

    def __post_init__(self) -> None:
        check_values(self.size)
        Hashing(self.size, self.buckets.k)

    @classmethod
    def bounded(cls, size: int, epsilon: EpsilonLike, collusion: EpsilonLike) -> HashedPair:
        """OLH's g = floor(E) + 1 buckets with the bounded k-ary table."""
        return cls(size, KaryPair.bounded(Epsilon(epsilon).floor(1) + 1, epsilon, collusion))

    def account(self, n: int, m: int) -> Accounting:
        """Those of the k-ary table: the seed is independent of the value."""
        return self.buckets.account(n, m)

    def variance(self, n: int, count: int) -> float:
        """[n g'(1-g') + n_v (p - g')(1 - p - g') + n_v (n_v - 1)/(n-1) r p (1-p)] / (p - g')**2, g' = 1/g, r the correlation."""
        check_users(n)
        held = check_ones(count, n, "count")
        p, share, r = float(self.buckets.truth), 1 / self.buckets.k, float(self.buckets.pair.correlation)
        together = held * (held - 1) / (n - 1) * r * p * (1 - p)
        return (n * share * (1 - share) + held * (p - share) * (1 - p - share) + together) / (p - share) ** 2

    def answer(self, values: Any, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """Reports (seed, bucket), one row per user; neighbours answer together."""
        held = np.ascontiguousarray(whole_numbers(values, "the values", self.size), np.int64)
        stream = SystemKeystream() if keystream is None else keystream
        hashes = (random_words(stream, len(held)) >> np.uint64(32)).astype(np.int64)
        true = np.empty(len(held), np.int64)
        _buckets(hashes, held, self.buckets.k, true)
        return np.stack([hashes, self.buckets.answer(true, stream)], axis=1)

    def estimate(self, reports: NDArray[np.int64], value: int) -> float:
        """The unbiased count of a value: (support - n/g) / (p - 1/g)."""
        rows = np.ascontiguousarray(reports, np.int64)
        whole = rows.ndim == 2 and rows.shape[1] == 2 and len(rows) > 0
        if not whole or rows.min() < 0 or rows[:, 0].max() >= SEEDS or rows[:, 1].max() >= self.buckets.k:
            raise InvalidParameter(f"reports must be rows of a seed below 2**32 and a bucket from 0 to {self.buckets.k - 1}")
        if not 0 <= value < self.size:
            raise InvalidParameter(f"value must be a whole number from 0 to {self.size - 1}")
        support = int(_support(rows, value, self.buckets.k))
        share = 1 / self.buckets.k
        return (support - len(reports) * share) / (float(self.buckets.truth) - share)
