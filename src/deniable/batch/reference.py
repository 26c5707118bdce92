"""Reference channels: bisection of running sums that are put together from two shared lists."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.sampler import TooWide, WordSampler, acceptance
from deniable.batch.wide import multiply_high
from deniable.core import Reference


@njit(nogil=True, cache=True)
def _reference(words, indices, out, pending, total, threshold, low_sum, gain, starts, ends, edges, extra):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(indices.size):
        drawn = multiply_high(words[i], total)
        x = indices[i]
        start, end, edge = starts[x], ends[x], edges[x]
        low = 0
        high = low_sum.size - 1
        while high - low > 1:
            middle = (low + high) // 2
            before = low_sum[middle] + gain[min(max(middle, start), end)] - gain[start]
            before += extra[x] if middle > edge else uint64(0)
            if before <= drawn:
                low = middle
            else:
                high = middle
        out[i] = low
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class ReferenceSampler(WordSampler):
    """One word and about twelve steps of bisection per report."""

    kernel = staticmethod(_reference)

    def __init__(self, channel: Reference) -> None:
        bounds = acceptance(channel.total)
        if max(channel.low_sums[-1], channel.gain_sums[-1]) >= 1 << 63:
            raise TooWide
        rows = channel.rows
        super().__init__(
            channel.outputs,
            *bounds,
            np.array(channel.low_sums, np.uint64),
            np.array(channel.gain_sums, np.uint64),
            np.array([row.start for row in rows], np.int64),
            np.array([row.end for row in rows], np.int64),
            np.array([row.edge for row in rows], np.int64),
            np.array([row.rest - channel.low[row.edge] for row in rows], np.uint64),
        )
