"""How many hashed reports support each of many prefixes: reports times candidates hashes, in 32-bit vectors."""

from __future__ import annotations

import numpy as np
from numba import njit, uint32
from numpy.typing import NDArray

from deniable.batch import in_parallel, mix, worthwhile_threads
from deniable.core import TwoLevel, WideHashing
from deniable.estimators.frequent_words.candidates import Prefixes

GOLDEN = 0x9E3779B1
BLOCK = 1 << 12
"""Candidates at a time: their hashes and counts stay in the fastest cache."""
PIECE = 1 << 13
"""Reports at a time."""


@njit(nogil=True, cache=True)
def _count(keys, lows, widths, halves, firsts, spread, sums):  # type: ignore[no-untyped-def]
    """sums[v] += how many reports hash candidate v into their own bucket.

    Candidates firsts[r] up to firsts[r + 1] share the high half halves[r], which is mixed in once for all
    of them; spread[v] is v's low half times the golden constant. See accumulators.kernels.count_support.
    """
    for i in range(keys.size):
        key, low, width = keys[i], lows[i], widths[i]
        for run in range(halves.size):
            inner = mix(key, halves[run])
            # Views, so that the compiler sees that no index is negative, and uses vectors.
            values, counts = spread[firsts[run] : firsts[run + 1]], sums[firsts[run] : firsts[run + 1]]
            for v in range(values.size):
                h = uint32(inner + values[v])
                h = uint32(uint32(h ^ (h >> uint32(16))) * uint32(0x7FEB352D))
                h = uint32(uint32(h ^ (h >> uint32(15))) * uint32(0x846CA68B))
                h = uint32(h ^ (h >> uint32(16)))
                counts[v] += uint32(uint32(h - low) < width)


def supported(channel: TwoLevel, outputs: NDArray[np.uint64], prefixes: Prefixes) -> NDArray[np.int64]:
    """C(v) for each of the ascending prefixes v."""
    sets = channel.sets
    assert isinstance(sets, WideHashing)
    # Bucket b holds the hashes from edges[b] up to but not including edges[b + 1].
    edges = np.array([-(-(b << 32) // sets.buckets) for b in range(sets.buckets + 1)], np.uint64)
    key, bucket = np.divmod(outputs, np.uint64(sets.buckets))
    low = edges[bucket]
    reports = [key.astype(np.uint32), low.astype(np.uint32), (edges[bucket + np.uint64(1)] - low).astype(np.uint32)]
    pieces = [slice(start, start + PIECE) for start in range(0, len(outputs), PIECE)]
    blocks = [_runs(prefixes[start : start + BLOCK]) for start in range(0, len(prefixes), BLOCK)]
    threads = worthwhile_threads(len(outputs) * max(1, len(prefixes) // 64))
    counts = [np.zeros(len(prefixes), np.int64) for _ in range(threads)]

    def work(thread: int, share: list[slice]) -> None:
        for piece in share:
            keys, lows, widths = (column[piece] for column in reports)
            for number, block in enumerate(blocks):
                sums = np.zeros(len(block[2]), np.uint32)
                _count(keys, lows, widths, *block, sums)
                counts[thread][number * BLOCK : number * BLOCK + len(sums)] += sums

    in_parallel(work, pieces, threads)
    supporters = np.zeros(len(prefixes), np.int64)
    for part in counts:
        supporters += part
    return supporters


def _runs(prefixes: Prefixes) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]:
    """High halves, where the candidates of each begin (and the last one ends), and spread-out low halves."""
    halves, firsts = np.unique(prefixes >> np.uint64(32), return_index=True)
    ends = np.append(firsts, len(prefixes)).astype(np.int64)
    spread = (prefixes * np.uint64(GOLDEN)).astype(np.uint32)
    return halves.astype(np.uint32), ends, spread
