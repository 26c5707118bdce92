"""The best randomized response on blocks of categories, by dynamic programming.

Columns that raise intervals of categories (in the order of likelihood ratios) form a matrix with
consecutive ones. Its balanced combinations are mixtures of partitions, so the best one is a single
partition into b blocks with b-ary randomized response between them: no linear program is needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.planning.designs.divergences import Divergence
from deniable.planning.designs.hypotheses import Hypotheses

Block = tuple[int, ...]

ROUNDS = 60


class BestPartition(NamedTuple):
    """Blocks in likelihood order, their divergence, and prices of the categories that prove it among intervals."""

    blocks: tuple[Block, ...]
    value: float
    prices: tuple[Floats, ...]


def block_value(hypotheses: Hypotheses, blocks: tuple[Block, ...], divergence: Divergence, epsilon: float) -> float:
    """The divergence of randomized response between blocks, each category answering for its block."""
    gain = math.expm1(epsilon)
    difference = np.array([hypotheses.difference[list(block)].sum() for block in blocks])
    second = np.array([hypotheses.second[list(block)].sum() for block in blocks])
    return float(divergence.part(gain * difference, 1 + gain * second).sum() / (len(blocks) + gain))


def best_partition(hypotheses: Hypotheses, divergence: Divergence, epsilon: float) -> BestPartition:
    """The best partition into intervals of the likelihood order, over all numbers of blocks.

    Its value V solves: the heaviest path from 0 to k with edge weights part(i, j) - V weighs (E - 1) V.
    Newton's steps reach it after a few paths.
    """
    order, gain = hypotheses.order, math.expm1(epsilon)
    parts = _interval_parts(hypotheses, divergence, gain)
    size = hypotheses.size
    value = 0.0
    ends: list[int] = []
    for _ in range(ROUNDS):
        _, ends = _heaviest_path(parts - value)
        better = sum(parts[i, j] for i, j in zip([0, *ends[:-1]], ends, strict=True)) / (len(ends) + gain)
        if better <= value * (1 + 1e-15):
            break
        value = float(better)
    forward, _ = _heaviest_path(parts - value)
    # Turned round, the same search gives the prices seen from the other end.
    turned, _ = _heaviest_path((parts - value)[::-1, ::-1].T)
    backward = forward[-1] - turned[::-1]
    prices = []
    for share in (0.5, 1.0, 0.0):
        steps = np.diff(share * forward + (1 - share) * backward) / gain
        price = np.empty(size)
        price[order] = steps
        prices.append(price)
    starts = [0, *ends[:-1]]
    blocks = tuple(tuple(sorted(order[i:j].tolist())) for i, j in zip(starts, ends, strict=True))
    return BestPartition(blocks, value, tuple(prices))


def _interval_parts(hypotheses: Hypotheses, divergence: Divergence, gain: float) -> Floats:
    """part[i, j]: what a column contributes that raises places i … j-1 of the order (-inf unless i < j)."""
    order = hypotheses.order
    difference = np.concatenate([[0.0], np.cumsum(hypotheses.difference[order])])
    second = np.concatenate([[0.0], np.cumsum(hypotheses.second[order])])
    parts = np.full((order.size + 1, order.size + 1), -np.inf)
    i, j = np.triu_indices(order.size + 1, 1)
    parts[i, j] = divergence.part(gain * (difference[j] - difference[i]), 1 + gain * (second[j] - second[i]))
    return parts


def _heaviest_path(edges: Floats) -> tuple[Floats, list[int]]:
    """The weight of the heaviest path from 0 to every place, and the places on the one to the last."""
    last = len(edges) - 1
    heights = np.zeros(last + 1)
    before = np.zeros(last + 1, dtype=np.int64)
    for j in range(1, last + 1):
        candidates = heights[:j] + edges[:j, j]
        before[j] = candidates.argmax()
        heights[j] = candidates[before[j]]
    ends, place = [], last
    while place > 0:
        ends.append(place)
        place = int(before[place])
    return heights, ends[::-1]
