"""Vectors: the sum of the code words of all reports, one whole number per coordinate."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable._extras import required
from deniable.batch.accumulators.base import HEADER, MAGIC, VERSION, Accumulator, check_head
from deniable.batch.parallel import in_parallel, worthwhile_threads
from deniable.core import Mechanism, NearestCodes
from deniable.errors import InvalidParameter, Malformed

CHUNK = 1 << 12


class VectorSums(Accumulator):
    """`sums[i]` adds coordinate i of every reported word, as whole numbers: the order of reports and of parts changes no bit."""

    def __init__(self, mechanism: Mechanism) -> None:
        if not isinstance(mechanism, NearestCodes):
            raise InvalidParameter(f"reports of {mechanism.name} are not vectors")
        super().__init__(mechanism)
        self._sets = mechanism.sets

    @staticmethod
    def width(mechanism: Mechanism) -> int:
        """As many as the vectors have coordinates."""
        assert isinstance(mechanism, NearestCodes)
        return mechanism.domain.dimension

    def fold(self, outputs: Any) -> None:
        """Rotate every word back and add it."""
        bits = (self.mechanism.channel.outputs - 1).bit_length()
        if outputs.ndim != 2 or outputs.dtype != np.uint8 or outputs.shape[1] != -(-bits // 8):
            raise Malformed("the reports are not rows of bytes of this recipe")
        if bits % 8 and len(outputs) and int(outputs[:, -1].max()) >> bits % 8:
            raise Malformed("a report's output is not one this recipe can give")
        threads = worthwhile_threads(len(outputs)) if len(self.sums) <= 1 << 16 else 1
        parts = [np.zeros_like(self.sums) for _ in range(threads)]
        # Compiled: a collector of other reports counts without numba.
        add_words = required("deniable.batch.nearest_codes").add_words

        def work(thread: int, share: list[tuple[int, int]]) -> None:
            for start, end in share:
                add_words(self._sets, outputs[start:end], parts[thread])

        in_parallel(work, [(start, start + CHUNK) for start in range(0, len(outputs), CHUNK)], threads)
        for part in parts:
            self.sums += part

    def to_bytes(self) -> bytes:
        """Header, number of reports, then the sums with their signs in the narrowest of 1, 2, 4 or 8 bytes each."""
        head = MAGIC + bytes([VERSION]) + bytes.fromhex(self.mechanism.fingerprint) + self.n.to_bytes(8, "big")
        width = _narrowest(self.sums)
        return head + bytes([width]) + self.sums.astype(f"<i{width}").tobytes()

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Self:
        accumulator = cls(mechanism)
        accumulator.n = check_head(mechanism, data)
        body, count = data[HEADER:], len(accumulator.sums)
        width = body[0]
        if width not in (1, 2, 4, 8) or len(body) != 1 + count * width:
            raise Malformed(f"the sums of this recipe are {count} numbers of 1, 2, 4 or 8 bytes")
        sums = np.frombuffer(body, f"<i{width}", offset=1).astype(np.int64)
        if _narrowest(sums) != width:
            raise Malformed("the sums are written wider than they need to be")
        # No coordinate of a word exceeds the word's length, width**(3/2).
        most = accumulator.n * (math.isqrt(accumulator._sets.width**3) + 1)
        if len(sums) and max(int(sums.max()), -int(sums.min())) > most:
            raise Malformed("a sum is larger than that many reports can give")
        accumulator.sums = sums
        return accumulator


def _narrowest(sums: NDArray[np.int64]) -> int:
    low, high = int(sums.min(initial=0)), int(sums.max(initial=0))
    return next(width for width in (1, 2, 4, 8) if -(1 << 8 * width - 1) <= low and high < 1 << 8 * width - 1)
