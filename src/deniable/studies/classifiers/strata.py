"""Up to three sensitive features: boxes whose probability is known exactly, and a few draws in each of them.

Inside a box between the edges of all windows every two-level mechanism is uniform, so what the model answers there
serves every mechanism and every epsilon; only the probability of the box changes. Boxes in which the model gives
one answer add nothing to the variance: all of it comes from the boxes that its decision boundary crosses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import ndimage

from deniable.batch import Flags, Floats, Integers, Keystream
from deniable.studies.classifiers.intervals import Counted, Evidence, Weighted
from deniable.studies.classifiers.weights import Group

Answer = Callable[[list[Floats]], Flags]
"""From one array of numbers per sensitive feature to: does the model keep its answer?"""

EDGE_FACTOR = 1.15
"""A step in a law by more than this factor is an edge of a box."""
BOUNDARY_FACTOR = 2.0
"""How much more often boxes near the model's boundary are asked."""
LEAST_NEED, USUAL_ERROR = 0.2, 0.05
PER_BOX = 2
"""Draws per box, on average, that the number of boxes is chosen for."""


def uniforms(keystream: Keystream, count: int) -> Floats:
    """Numbers in [0, 1) with 53 random bits."""
    words = np.empty(count, dtype=np.uint64)
    keystream.fill(words)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def counted(group: Group, answer: Answer) -> list[Evidence]:
    """Ask the model at every point of the lattice: ρ without error, for every setting of the group."""
    grids = np.meshgrid(*[places.numbers for places in group.places], indexing="ij")
    kept = answer([grid.ravel() for grid in grids]).reshape(group.sizes).astype(np.float64)
    evidence: list[Evidence] = []
    tables = [group.table(i) for i in range(len(group.places))]
    for j in range(len(group.settings)):
        left = kept
        for table in reversed(tables):
            left = left @ table[j]
        evidence.append(Counted(float(np.clip(left, 0.0, 1.0)), kept.size))
    return evidence


class _Axis:
    """One feature of a group: places are drawn by `envelope`, the largest probability any setting gives them.

    `ratios` are the settings' probabilities beside the envelope, `jumps` the places at which some law steps up or
    down, the largest steps first.
    """

    def __init__(self, table: Floats, widths: Floats) -> None:
        envelope = table.max(axis=0)
        self.rising = np.concatenate([[0.0], np.cumsum(envelope)])
        self.ratios = table / np.where(envelope > 0, envelope, 1.0)
        self.jumps = _jumps(table / widths)

    def cut(self, count: int) -> _Bins:
        """About `count` stretches: at the largest jumps, and between them where the envelope has equal mass."""
        places = self.ratios.shape[1]
        if count >= places:
            begins = np.arange(places, dtype=np.int64)
        else:
            jumps = self.jumps[: 3 * count // 4]
            shares = np.arange(1, count - jumps.size) / (count - jumps.size)
            even = np.searchsorted(self.rising[1:], shares * self.rising[-1], side="right")
            begins = np.unique(np.concatenate([[0], jumps, np.minimum(even, places - 1)])).astype(np.int64)
        edges = np.append(begins, places)
        heights = np.diff(self.rising[edges])
        return _Bins(edges, heights, np.maximum.reduceat(self.ratios, begins, axis=1) * heights)

    def draw(self, begin: Integers, end: Integers, shares: Floats) -> Integers:
        """A place from `begin` up to `end`, by the envelope."""
        aim = self.rising[begin] + shares * (self.rising[end] - self.rising[begin])
        places: Integers = np.clip(np.searchsorted(self.rising, aim, side="right") - 1, begin, end - 1)
        return places


class _Bins(NamedTuple):
    """Stretches of places: their edges, the envelope's mass, and the largest ratio of every setting times that mass."""

    edges: Integers
    heights: Floats
    peak: Floats


class _Hint(NamedTuple):
    """What an earlier sample saw: edges of its boxes, which of them may hold both answers, and who needs most."""

    edges: list[Integers]
    mixed: Flags
    needs: Floats

    def tilt(self, bins: list[_Bins]) -> Floats:
        """How much more often every new box should be asked."""
        where = []
        for old, cut in zip(self.edges, bins, strict=True):
            middle = (cut.edges[:-1] + cut.edges[1:] - 1) // 2
            where.append(np.searchsorted(old, middle, side="right") - 1)
        return np.where(self.mixed[np.ix_(*where)].ravel(), BOUNDARY_FACTOR, 1.0)


class Strata:
    """A group of settings, ready to be sampled more than once.

    Every sample tells the next one where the model's boundary runs; it asks there more often. Only the size of the
    boxes' shares depends on that, so each sample is valid on its own.
    """

    def __init__(self, group: Group) -> None:
        self.group = group
        self._hint: _Hint | None = None
        self.axes = [_Axis(group.table(i), places.widths) for i, places in enumerate(group.places)]

    def sample(self, answer: Answer, evaluations: int, keystream: Keystream) -> Sequence[Evidence]:
        """One weighted sample for every setting of the group."""
        each = max(int(max(evaluations // PER_BOX, 1) ** (1 / len(self.axes))), 1)
        bins = [axis.cut(each) for axis in self.axes]
        shape = tuple(cut.heights.size for cut in bins)
        peak = _joined([cut.peak for cut in bins])
        envelope = peak.max(axis=0)
        if self._hint is not None:
            envelope = (peak * self._hint.needs[:, None]).max(axis=0) * self._hint.tilt(bins)
        boxes, inside, scale = _allocated(envelope, shape, evaluations, keystream)
        shares = [inside, *(uniforms(keystream, boxes.size) for _ in bins[1:])]
        picked = [
            axis.draw(cut.edges[stretch], cut.edges[stretch + 1], share)
            for axis, cut, stretch, share in zip(self.axes, bins, np.unravel_index(boxes, shape), shares, strict=True)
        ]
        kept = answer([places.numbers[index] for places, index in zip(self.group.places, picked, strict=True)])
        factor = scale * _joined([cut.heights[None] for cut in bins])[0][boxes]
        reach = envelope.sum() / boxes.size
        highest = np.divide(peak, envelope, out=np.zeros_like(peak), where=envelope > 0).max(axis=1) * reach
        samples: list[Weighted] = []
        for j, largest in enumerate(highest.tolist()):
            weights = factor.copy()
            for axis, index in zip(self.axes, picked, strict=True):
                weights *= axis.ratios[j][index]
            right, total, squares, products, others = _pair_sums(weights, kept)
            samples.append(Weighted(right, total, (squares, products, others), largest, kept.size))
        self._hint = _Hint([cut.edges[:-1] for cut in bins], _boxes_with_both_answers(boxes, kept, shape), _needs(samples))
        return samples


@njit(nogil=True, cache=True)
def _pair_sums(weights, kept):  # type: ignore[no-untyped-def]
    """Sums of w*kept and w, and over pairs of neighbours of a**2, a*b and b**2, their differences."""
    right = total = squares = products = others = 0.0
    for i in range(0, weights.size, 2):
        one, two = weights[i], weights[i + 1]
        kept_one = one if kept[i] else 0.0
        kept_two = two if kept[i + 1] else 0.0
        right += kept_one + kept_two
        total += one + two
        a, b = kept_one - kept_two, one - two
        squares += a * a
        products += a * b
        others += b * b
    return right, total, squares, products, others


def _needs(samples: list[Weighted]) -> Floats:
    """How wide the settings' intervals are beside the widest: what is narrow already can do with larger weights."""
    reach = np.array([part.reach(USUAL_ERROR) for part in samples])
    needs: Floats = np.clip(reach / reach.max(), LEAST_NEED, 1.0)
    return needs


def _boxes_with_both_answers(boxes: Integers, kept: Flags, shape: tuple[int, ...]) -> Flags:
    """Boxes with both answers in them or in their neighbours, and boxes nobody knows anything about."""
    seen = [np.bincount(boxes[kept == side], minlength=prod(shape)).reshape(shape) > 0 for side in (True, False)]
    right, wrong = (ndimage.maximum_filter(grid, size=3) for grid in seen)
    undecided: Flags = right == wrong
    return undecided


def _joined(parts: list[Floats]) -> Floats:
    """Products over all combinations of bins: one row per setting."""
    joined = parts[0]
    for part in parts[1:]:
        joined = (joined[:, :, None] * part[:, None, :]).reshape(joined.shape[0], -1)
    return joined


def _jumps(heights: Floats) -> Integers:
    """Places at which some density steps up or down, the largest steps first."""
    if heights.shape[1] < 2:
        return np.empty(0, dtype=np.int64)
    size = np.zeros(heights.shape[1] - 1)
    for row in heights:
        left, right = row[:-1], row[1:]
        high, low = np.maximum(left, right), np.minimum(left, right)
        size = np.maximum(size, np.where(high > EDGE_FACTOR * low, (high - low) / max(float(row.max()), 1e-300), 0.0))
    steps = np.flatnonzero(size > 0)
    return (steps[np.argsort(-size[steps], kind="stable")] + 1).astype(np.int64)


def _allocated(envelope: Floats, shape: tuple[int, ...], evaluations: int, keystream: Keystream) -> tuple[Integers, Floats, Floats]:
    """The box of every draw, how far through the box it fell, and 1/(expected draws in that box).

    Boxes are laid out one after the other, neighbours beside each other, each as long as the largest weight any
    setting may need there: so no setting gets a large one. The line is cut into as many equal pieces as there are
    pairs, and both draws of a pair fall into one piece.
    """
    order = _snake_order(shape)
    lengths = envelope[order] / envelope.sum()
    ends = np.cumsum(lengths)
    pairs = max(evaluations // 2, 1)
    spots = (np.repeat(np.arange(pairs), 2) + uniforms(keystream, 2 * pairs)) / pairs * ends[-1]
    place = np.minimum(np.searchsorted(ends, spots, side="right"), order.size - 1)
    inside = np.clip((spots - (ends[place] - lengths[place])) / lengths[place], 0.0, 1.0 - 2.0**-53)
    return order[place], inside, 1.0 / (2 * pairs * lengths[place])


def _snake_order(shape: tuple[int, ...]) -> Integers:
    """All boxes in an order in which neighbours follow each other: back and forth, row by row."""
    boxes = np.arange(prod(shape), dtype=np.int64).reshape(shape)
    for axis in range(1, len(shape)):
        rows = boxes.reshape(prod(shape[:axis]), shape[axis], -1)
        rows[1::2] = rows[1::2, ::-1].copy()
    return boxes.ravel()


def points_of(group: Group) -> int:
    """How many points a lattice has in all."""
    return prod(group.sizes)
