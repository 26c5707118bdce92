"""Exact regions of tree models: a grid of cells in the sensitive features, one answer in each.

With the other features fixed, a tree splits on sensitive features only. All thresholds that such splits use
make a grid, and every leaf is a block of its cells. Leaf values are added block by block, tree after tree: the
same sums, in the same order, that the model computes for one record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from deniable.batch import Flags, Floats, Integers
from deniable.errors import NotSupported
from deniable.studies.classifiers.output_law import ProductLaw
from deniable.studies.classifiers.preprocessing import Prepared, Seen, prepare
from deniable.studies.classifiers.region import Blocks, Cells
from deniable.studies.classifiers.trees import LEAF, Ensemble, read_trees

MOST_CELLS = 1 << 25
MOST_WORK = 1 << 32
"""Cells times trees times scores: beyond this, blocks are refined where the probability is."""

CHUNK = 1 << 15
"""Scores held at once: they stay in the processor's cache while all trees are added."""

CHECKED = 200


class Wanted(NamedTuple):
    """Which answers count: one class, by its label and number, or with a tolerance the numbers near `label`."""

    label: Any
    number: int = -1
    tolerance: float | None = None

    def among(self, said: Any) -> Flags:
        """Which of the model's answers count."""
        return np.asarray(said == self.label if self.tolerance is None else np.abs(said - self.label) <= self.tolerance)

    def reached(self, ensemble: Ensemble, scores: Floats) -> Flags:
        """The same from sums of leaf values."""
        if self.tolerance is None:
            return np.asarray(ensemble.answers(scores) == self.number)
        return self.among(scores[..., 0] / ensemble.divide)


class Leaves(NamedTuple):
    """The leaves one record can reach by changing its sensitive features."""

    tree: Integers
    node: Integers
    low: Floats
    high: Floats


@njit(nogil=True, cache=True)
def _leaves_within(roots, feature, threshold, left, right, record, axis, low, high, tree_of, node_of, stack):  # type: ignore[no-untyped-def]
    count = 0
    axes = low.shape[1]
    work_low = np.empty((stack.size, axes))
    work_high = np.empty((stack.size, axes))
    for t in range(roots.size):
        stack[0] = roots[t]
        work_low[0] = -np.inf
        work_high[0] = np.inf
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            while feature[node] >= 0 and axis[feature[node]] < 0:
                node = left[node] if record[feature[node]] <= threshold[node] else right[node]
            if feature[node] < 0:
                tree_of[count] = t
                node_of[count] = node
                low[count] = work_low[depth]
                high[count] = work_high[depth]
                count += 1
                continue
            a = axis[feature[node]]
            cut = threshold[node]
            bottom, top = work_low[depth, a], work_high[depth, a]
            # The right side is put where this node stood, the left side on top of it.
            goes_right, goes_left = cut < top, bottom < cut
            if goes_right and goes_left:
                work_low[depth + 1] = work_low[depth]
                work_high[depth + 1] = work_high[depth]
                stack[depth] = right[node]
                work_low[depth, a] = cut
                stack[depth + 1] = left[node]
                work_high[depth + 1, a] = cut
                depth += 2
            else:
                stack[depth] = right[node] if goes_right else left[node]
                depth += 1
    return count


@dataclass(frozen=True, eq=False)
class Restricted:
    """A tree model with everything but the sensitive features held fixed."""

    ensemble: Ensemble
    prepared: Prepared
    leaves: Leaves

    @property
    def seen(self) -> tuple[Seen | None, ...]:
        """What the splits make of each sensitive number."""
        return tuple(_composed(way, self.ensemble) for way in self.prepared.seen)

    def edges(self, laws: Sequence[ProductLaw] = ()) -> tuple[Floats, ...]:
        """The thresholds along every sensitive feature; with laws, only those that part outputs of one of them."""
        parting = []
        for axis, seen in enumerate(self.seen):
            ends = np.unique(self.leaves.high[:, axis])
            cuts = ends[np.isfinite(ends)]
            parting.append(_parting(cuts, [law.laws[axis].counts(cuts, seen=seen) for law in laws]) if laws else cuts)
        return tuple(parting)


def _composed(way: Seen | None, ensemble: Ensemble) -> Seen | None:
    if way is None:
        return ensemble.seen if ensemble.single_precision else None
    inner: Seen = way
    return lambda numbers: ensemble.seen(inner(numbers))


def _parting(cuts: Floats, counted: list[list[tuple[int, Integers]]]) -> Floats:
    """Drop an edge when no output lies between it and the edge below (or below all)."""
    keep = np.zeros(cuts.size, dtype=bool)
    for stretches in counted:
        for begin, stops in stretches:
            keep |= np.diff(stops, prepend=begin) > 0
    return cuts[keep]


def restrict(model: Any, record: Any, sensitive: Sequence[int]) -> Restricted:
    """Hold all but the sensitive features of a record fixed in a tree model or a pipeline that ends in one."""
    prepared = prepare(model, record, sensitive)
    ensemble = read_trees(prepared.model)
    if len(ensemble.classes) == 1:
        raise NotSupported("the model knows one class only, so its answer never changes")
    axis = np.full(prepared.record.size, LEAF, dtype=np.int64)
    axis[list(prepared.columns)] = np.arange(len(prepared.columns))
    count = ensemble.feature.size
    low, high = np.empty((count, len(prepared.columns))), np.empty((count, len(prepared.columns)))
    tree_of, node_of = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    arrays = (ensemble.roots, ensemble.feature, ensemble.threshold, ensemble.left, ensemble.right)
    stack = np.empty(4096, dtype=np.int64)
    kept = _leaves_within(*arrays, ensemble.seen(prepared.record), axis, low, high, tree_of, node_of, stack)
    return Restricted(ensemble, prepared, Leaves(tree_of[:kept], node_of[:kept], low[:kept], high[:kept]))


@njit(nogil=True, cache=True)
def _paint(scores, first, last, nodes, values, begin, end):  # type: ignore[no-untyped-def]
    """Add every leaf's values to its block of a two-axis grid, rows begin … end-1."""
    for leaf in range(nodes.size):
        top, bottom = max(first[leaf, 0], begin), min(last[leaf, 0], end)
        for k in range(values.shape[1]):
            value = values[nodes[leaf], k]
            for i in range(top - begin, bottom - begin):
                for j in range(first[leaf, 1], last[leaf, 1]):
                    scores[k, i, j] += value


def tree_cells(
    model: Any,
    record: Any,
    sensitive: Sequence[int],
    *,
    laws: Sequence[ProductLaw] = (),
    same_as: Any = None,
    tolerance: float | None = None,
) -> Cells | Blocks:
    """Where a tree model answers as it does at `record` (or `same_as`), in the sensitive features, exactly.

    With a `tolerance`, where a regressor predicts a number at most that far from `same_as`.

    `laws` says which mechanisms will be asked about: cells without any of their outputs are dropped. When
    the grid is too large, blocks are split where the probability is, and what stays undecided is kept apart.
    """
    restricted = restrict(model, record, sensitive)
    edges = restricted.edges(laws)
    shape = tuple(edge.size + 1 for edge in edges)
    cells = int(np.prod([float(size) for size in shape]))
    if tolerance is not None:
        wanted = Wanted(float(same_as), tolerance=tolerance)
    else:
        wanted = answered(restricted) if same_as is None else wanted_class(restricted.ensemble, same_as)
    if cells > MOST_CELLS or cells * restricted.ensemble.roots.size * restricted.ensemble.columns > MOST_WORK:
        from deniable.studies.classifiers.exact_blocks import tree_blocks

        return tree_blocks(restricted, edges, wanted, laws)
    first, last = leaf_blocks(restricted, edges)
    same = _painted(restricted, shape, first, last, wanted)
    check_cells(restricted, edges, same, wanted)
    return Cells(edges, same, restricted.seen)


def leaf_blocks(restricted: Restricted, edges: tuple[Floats, ...]) -> tuple[Integers, Integers]:
    """The cells of every leaf: from `first` up to but not including `last` along every feature."""
    low, high = restricted.leaves.low, restricted.leaves.high
    # A dropped edge parts no outputs from the kept edge below it, so it counts as that one.
    first = [np.searchsorted(edge, low[:, axis], "right") for axis, edge in enumerate(edges)]
    last = [np.searchsorted(edge, high[:, axis], "right") + np.isinf(high[:, axis]) for axis, edge in enumerate(edges)]
    return np.column_stack(first).astype(np.int64), np.column_stack(last).astype(np.int64)


def _painted(restricted: Restricted, shape: tuple[int, ...], first: Integers, last: Integers, wanted: Wanted) -> Flags:
    ensemble, nodes = restricted.ensemble, restricted.leaves.node
    if len(shape) > 2:
        scores = np.broadcast_to(ensemble.start, (*shape, ensemble.columns)).copy()
        for leaf, node in enumerate(nodes.tolist()):
            block = tuple(slice(a, b) for a, b in zip(first[leaf].tolist(), last[leaf].tolist(), strict=True))
            scores[block] += ensemble.values[node]
        return wanted.reached(ensemble, scores)
    flat = len(shape) == 1
    wide = (shape[0], 1) if flat else shape
    if flat:
        ones = np.zeros((first.shape[0], 1), dtype=np.int64)
        first, last = np.hstack([first, ones]), np.hstack([last, ones + 1])
    same = np.empty(wide, dtype=bool)
    rows = max(1, CHUNK // (wide[1] * ensemble.columns))
    for begin in range(0, wide[0], rows):
        end = min(begin + rows, wide[0])
        scores = np.empty((ensemble.columns, end - begin, wide[1]))
        scores[:] = ensemble.start[:, None, None]
        _paint(scores, first, last, nodes, ensemble.values, begin, end)
        same[begin:end] = wanted.reached(ensemble, np.moveaxis(scores, 0, -1))
    return same.reshape(shape)


def answered(restricted: Restricted) -> Wanted:
    """The class the model answers at the record itself."""
    answer = restricted.prepared.model.predict(restricted.prepared.record[None])[0]
    return wanted_class(restricted.ensemble, answer)


def wanted_class(ensemble: Ensemble, label: Any) -> Wanted:
    """A class by its label."""
    places = np.flatnonzero(ensemble.classes == label)
    if places.size != 1:
        raise NotSupported("same_as is not one of the classes the model knows")
    return Wanted(ensemble.classes[places[0]], int(places[0]))


def points_of(restricted: Restricted, edges: tuple[Floats, ...], cells: Integers) -> Floats:
    """One record, as the last step sees it, in each of these cells."""
    rows = np.repeat(restricted.prepared.record[None], len(cells), axis=0)
    kind = np.float32 if restricted.ensemble.single_precision else np.float64
    for axis, (edge, column) in enumerate(zip(edges, restricted.prepared.columns, strict=True)):
        ends = restricted.leaves.high[:, axis]
        cuts = ends[np.isfinite(ends)]
        if cuts.size:
            beyond = float(np.nextafter(kind(cuts.max()), kind(np.inf)))
            rows[:, column] = np.append(edge, beyond)[cells[:, axis]]
    return rows


def check_cells(restricted: Restricted, edges: tuple[Floats, ...], same: Flags, wanted: Wanted) -> None:
    """Ask the model itself in a few cells; a model that disagrees with its own trees is not one that can be read."""
    # Multiples of an odd number far from any period of the grid: the same cells every time, spread over all of it.
    flat = np.unique((np.arange(CHECKED) * 2654435761) % same.size)
    cells = np.column_stack(np.unravel_index(flat, same.shape)).astype(np.int64)
    said = wanted.among(restricted.prepared.model.predict(points_of(restricted, edges, cells)))
    wrong = int(np.count_nonzero(said != same[tuple(cells.T)]))
    if wrong > max(2, CHECKED // 20):
        raise NotSupported(
            "the model does not answer what its trees say (it may be a changed subclass, or random); sample it instead"
        )
