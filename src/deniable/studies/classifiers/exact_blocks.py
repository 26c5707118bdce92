"""Tree models with too many cells: blocks of cells, split where the probability is, until nearly all is decided.

In a block, every tree's lead of the asked class over another one has a least and a greatest value; their sums
bound the model's lead. A block whose bounds agree on the answer is decided. What is left is kept apart, so its
probability is a certified error.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from deniable.batch import Floats, Integers
from deniable.studies.classifiers.exact_cells import Restricted, Wanted, leaf_blocks, points_of
from deniable.studies.classifiers.output_law import ProductLaw
from deniable.studies.classifiers.region import Blocks

MOST_BLOCKS = 20_000
LEAST_LIKELY = 1e-7
"""Blocks less likely than this are not split any more."""

ROUNDING = 1e-9
"""Leads closer to zero than this may be rounding: the model itself is asked."""


class _Work(NamedTuple):
    first: Integers
    last: Integers
    tree: Integers
    leads: Floats
    start: Floats


@njit(nogil=True, cache=True)
def _bounds(kept, first, last, tree, leads, start, low, high, least, most, inside):  # type: ignore[no-untyped-def]
    """Bounds of every lead in the block low … high-1, and the leaves that meet it; their number is returned."""
    columns = leads.shape[1]
    for k in range(columns):
        least[k] = start[k]
        most[k] = start[k]
    count = 0
    current = -1
    small = np.zeros(columns)
    large = np.zeros(columns)
    for place in range(kept.size):
        leaf = kept[place]
        meets = True
        for a in range(low.size):
            if first[leaf, a] >= high[a] or last[leaf, a] <= low[a]:
                meets = False
                break
        if not meets:
            continue
        inside[count] = leaf
        count += 1
        if tree[leaf] != current:
            for k in range(columns):
                least[k] += small[k]
                most[k] += large[k]
                small[k] = leads[leaf, k]
                large[k] = leads[leaf, k]
            current = tree[leaf]
        else:
            for k in range(columns):
                small[k] = min(small[k], leads[leaf, k])
                large[k] = max(large[k], leads[leaf, k])
    for k in range(columns):
        least[k] += small[k]
        most[k] += large[k]
    return count


def tree_blocks(
    restricted: Restricted,
    edges: tuple[Floats, ...],
    wanted: Wanted,
    laws: Sequence[ProductLaw],
    *,
    most_blocks: int = MOST_BLOCKS,
) -> Blocks:
    """Decide blocks, likeliest first, until `most_blocks` have been looked at or all that is left is unlikely."""
    sums = [_running(edge, axis, laws, restricted.seen[axis]) for axis, edge in enumerate(edges)]
    work = _work_on(restricted, edges, wanted)
    low = np.zeros(len(edges), dtype=np.int64)
    high = np.array([edge.size + 1 for edge in edges], dtype=np.int64)
    queue: list[tuple[float, int, Integers, Integers, Integers]] = []
    heapq.heappush(queue, (-1.0, 0, low, high, np.arange(work.tree.size)))
    same: list[tuple[Integers, Integers]] = []
    unknown: list[tuple[Integers, Integers]] = []
    ties: list[Integers] = []
    least, most = np.empty(work.start.size), np.empty(work.start.size)
    for count in range(most_blocks):
        if not queue:
            break
        chance, _, low, high, kept = heapq.heappop(queue)
        inside = np.empty(kept.size, dtype=np.int64)
        met = _bounds(kept, *work, low, high, least, most, inside)
        if bool((least > ROUNDING).all()):
            same.append((low, high))
        elif bool((most < -ROUNDING).any()):
            continue
        elif int((high - low).max()) == 1:
            ties.append(low)
        elif -chance < LEAST_LIKELY and laws:
            unknown.append((low, high))
        else:
            for number, (a, b) in enumerate(_halves(low, high, sums)):
                heapq.heappush(queue, (-_chance(a, b, sums), 2 * count + number + 1, a, b, inside[:met]))
    unknown += [(low, high) for _, _, low, high, _ in queue]
    same += _split_by_asking(restricted, edges, ties, wanted)
    return Blocks(edges, _stacked(same, len(edges)), _stacked(unknown, len(edges)), restricted.seen)


def _work_on(restricted: Restricted, edges: tuple[Floats, ...], wanted: Wanted) -> _Work:
    """The leaves and, per leaf, the lead of the asked class over each other class."""
    ensemble = restricted.ensemble
    first, last = leaf_blocks(restricted, edges)
    values = ensemble.values[restricted.leaves.node]
    if wanted.tolerance is not None:  # above the lower end, and below the upper one
        least, most = ((wanted.label + side * wanted.tolerance) * ensemble.divide for side in (-1, 1))
        start = np.array([ensemble.start[0] - least, most - ensemble.start[0]])
        return _Work(first, last, restricted.leaves.tree, np.hstack([values, -values]), start)
    target = wanted.number
    if ensemble.columns == 1:
        sign = 1.0 if target == 1 else -1.0
        return _Work(first, last, restricted.leaves.tree, sign * values, sign * ensemble.start)
    others = [k for k in range(ensemble.columns) if k != target]
    leads = values[:, [target]] - values[:, others]
    return _Work(first, last, restricted.leaves.tree, np.ascontiguousarray(leads), ensemble.start[target] - ensemble.start[others])


def _running(edge: Floats, axis: int, laws: Sequence[ProductLaw], seen: Any) -> Floats:
    """Running sums, over cells, of the mean probability under the laws; of equal shares without any law."""
    if not laws:
        return np.linspace(0.0, 1.0, edge.size + 2)
    running = [np.concatenate([[0.0], law.laws[axis].up_to(edge, seen=seen), [1.0]]) for law in laws]
    return np.asarray(np.mean(running, axis=0))


def _chance(low: Integers, high: Integers, sums: list[Floats]) -> float:
    return float(np.prod([total[b] - total[a] for total, a, b in zip(sums, low, high, strict=True)]))


def _halves(low: Integers, high: Integers, sums: list[Floats]) -> list[tuple[Integers, Integers]]:
    """Cut across the feature with the most cells, where its probability is halved."""
    axis = int(np.argmax(high - low))
    total = sums[axis]
    middle = (total[low[axis]] + total[high[axis]]) / 2
    cut = int(np.clip(np.searchsorted(total, middle), low[axis] + 1, high[axis] - 1))
    upper, lower = high.copy(), low.copy()
    upper[axis], lower[axis] = cut, cut
    return [(low, upper), (lower, high)]


def _split_by_asking(
    restricted: Restricted, edges: tuple[Floats, ...], ties: list[Integers], wanted: Wanted
) -> list[tuple[Integers, Integers]]:
    """Single cells whose scores are too close to call: the model says."""
    if not ties:
        return []
    said = restricted.prepared.model.predict(points_of(restricted, edges, np.array(ties)))
    return [(cell, cell + 1) for cell, kept in zip(ties, wanted.among(said), strict=True) if kept]


def _stacked(blocks: list[tuple[Integers, Integers]], axes: int) -> tuple[Integers, Integers]:
    empty = np.empty((0, axes), dtype=np.int64)
    if not blocks:
        return empty, empty
    return np.array([low for low, _ in blocks]), np.array([high for _, high in blocks])
