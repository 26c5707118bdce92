"""Windows inside windows: find the ring, then the cell of the ring."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from deniable.batch.sampler import WordSampler, acceptance
from deniable.batch.wide import multiply_high
from deniable.core import Nested


@njit(nogil=True, cache=True)
def _start(index, width, cells):  # type: ignore[no-untyped-def]
    return min(max(index - width // 2, 0), cells - width)


@njit(nogil=True, cache=True)
def _nested(words, indices, out, pending, total, threshold, cells, widths, weights, ends):  # type: ignore[no-untyped-def]
    rejected = 0
    for i in range(indices.size):
        drawn = multiply_high(words[i], total)
        ring = 0
        while drawn >= ends[ring]:
            ring += 1
        position = np.int64((drawn - (ends[ring - 1] if ring else uint64(0))) // weights[ring])
        cell = position + (_start(indices[i], widths[ring], cells) if ring < widths.size else 0)
        if ring:
            hole = _start(indices[i], widths[ring - 1], cells)
            cell = cell + widths[ring - 1] if cell >= hole else cell
        out[i] = cell
        if words[i] * total < threshold:
            pending[rejected] = i
            rejected += 1
    return rejected


class NestedSampler(WordSampler):
    """One word per report."""

    kernel = staticmethod(_nested)

    def __init__(self, channel: Nested) -> None:
        super().__init__(
            channel.outputs,
            *acceptance(channel.total),
            np.int64(channel.cells),
            np.array(channel.widths, np.int64),
            np.array(channel.weights, np.uint64),
            np.array(channel.ring_ends, np.uint64),
        )
