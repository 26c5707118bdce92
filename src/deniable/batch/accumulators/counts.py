"""Sums that are counts: of outputs, of bits, of supporting hashes."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable.batch.accumulators.base import Accumulator
from deniable.batch.accumulators.plain_kernels import GOLDEN
from deniable.batch.parallel import in_parallel, worthwhile_threads
from deniable.core import Mechanism, output_bits
from deniable.errors import Malformed, NotSupported

KERNELS: Any = import_module(f"deniable.batch.accumulators.{'kernels' if find_spec('numba') else 'plain_kernels'}")
MOST_OUTPUTS = 1 << 23
FEW_OUTPUTS = 1 << 12
CHUNK = 1 << 14
HASH_WORK = 1 << 22
"""Hashes per piece of work: long enough to be worth handing over."""


class Counts(Accumulator):
    """How often each output was reported: all there is to know about reports that are single numbers."""

    @staticmethod
    def width(mechanism: Mechanism) -> int:
        if mechanism.channel.outputs > MOST_OUTPUTS:
            raise NotSupported(
                f"counting needs at most {MOST_OUTPUTS} different outputs, {mechanism.name} has {mechanism.channel.outputs}; "
                "give the domain fewer cells"
            )
        return mechanism.channel.outputs

    def fold(self, outputs: NDArray[Any]) -> None:
        """Count them, once all are seen to be possible; a second thread has counts of its own."""
        if len(outputs) and (int(outputs.max()) >= len(self.sums) or (outputs.dtype.kind != "u" and outputs.min() < 0)):
            raise Malformed("a report's output is not one this recipe can give")
        kernel = KERNELS.count_few_outputs if len(self.sums) <= FEW_OUTPUTS else KERNELS.count_outputs
        threads = worthwhile_threads(len(outputs)) if len(self.sums) <= 1 << 16 else 1
        counts = [self.sums, *(np.zeros_like(self.sums) for _ in range(1, threads))]

        def work(thread: int, share: list[NDArray[Any]]) -> None:
            for piece in share:
                kernel(piece, counts[thread])

        in_parallel(work, np.array_split(outputs, threads) if threads > 1 else [outputs], threads)
        for own in counts[1:]:
            self.sums += own

    def _in_proportion(self, ratio: float) -> NDArray[np.int64]:
        """Counts that add up to the number of reports."""
        return np.asarray(np.diff(np.rint(np.cumsum(self.sums) * ratio), prepend=0), np.int64)

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Self:
        """As any sums; and every report has one output, so the counts must add up."""
        accumulator = super().from_bytes(mechanism, data)
        if int(accumulator.sums.sum()) != accumulator.n:
            raise Malformed("the counts do not add up to the number of reports")
        return accumulator


class BitCounts(Accumulator):
    """How often each bit was 1, for unary reports and subsets."""

    @staticmethod
    def width(mechanism: Mechanism) -> int:
        return output_bits(mechanism.channel)

    def fold(self, outputs: NDArray[np.uint8]) -> None:
        if outputs.ndim != 2 or outputs.shape[1] != -(-len(self.sums) // 8):
            raise Malformed("rows of bits have another length than this recipe's")
        rows = np.ascontiguousarray(outputs, np.uint8)
        threads = worthwhile_threads(len(rows) * 8)
        counts = [self.sums, *(np.zeros_like(self.sums) for _ in range(1, threads))]

        def work(thread: int, share: list[NDArray[np.uint8]]) -> None:
            for piece in share:
                KERNELS.count_bits(piece, counts[thread])

        in_parallel(work, np.array_split(rows, threads) if threads > 1 else [rows], threads)
        for own in counts[1:]:
            self.sums += own


class SupportCounts(Accumulator):
    """How many hashed reports support each value: their hash function puts it into their bucket."""

    @staticmethod
    def width(mechanism: Mechanism) -> int:
        return mechanism.channel.inputs

    def fold(self, outputs: NDArray[np.uint64]) -> None:
        """n times k hashes, in 32-bit vector arithmetic."""
        channel = self.mechanism.channel
        buckets = channel.buckets
        assert buckets is not None
        if len(outputs) and int(outputs.max()) >= channel.outputs:
            raise Malformed("a report's output is not one this recipe can give")
        # Bucket b holds the hashes from edges[b] up to but not including edges[b + 1].
        edges = np.array([-(-(b << 32) // buckets) for b in range(buckets + 1)], np.uint64)
        spread = (np.arange(channel.inputs, dtype=np.uint64) * np.uint64(GOLDEN)).astype(np.uint32)
        at_once = min(max(1, HASH_WORK // channel.inputs), (1 << 32) - 1)
        pieces = [outputs[start : start + at_once] for start in range(0, len(outputs), at_once)]
        threads = worthwhile_threads(len(outputs) * max(1, channel.inputs // 64))
        counts = [np.zeros_like(self.sums) for _ in range(threads)]

        def work(thread: int, share: list[NDArray[np.uint64]]) -> None:
            for piece in share:
                seed, bucket = np.divmod(piece, np.uint64(buckets))
                low = edges[bucket]
                supported = np.zeros(len(spread), np.uint32)
                KERNELS.count_support(
                    seed.astype(np.uint32),
                    low.astype(np.uint32),
                    (edges[bucket + np.uint64(1)] - low).astype(np.uint32),
                    spread,
                    supported,
                )
                counts[thread] += supported

        in_parallel(work, pieces, threads)
        for own in counts:
            self.sums += own
