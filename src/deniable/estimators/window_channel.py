"""Windows between bins: probabilities by prefix sums instead of a matrix.

A value spread evenly over an input bin starts its window at one of a few neighbouring cells. With
F(t) = sum of r over the output cells before t, the window's sum of r is F(start + members) - F(start),
and the average of F over those starts is F[d] + near * r[d] + far * r[d + 1]: three numbers per end of the
window, exact, because the starts of one bin lie in at most two bins of outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Channel, Windows
from deniable.estimators.bins import Axis

LEAST_INPUTS = 4
"""Bins of fewer inputs are written out as a matrix: gathering outputs would cost more than it saves."""


class End(NamedTuple):
    """The average of F over one end of the windows of every bin."""

    place: Integers
    follower: Integers
    turns: Floats
    near: Floats
    far: Floats


@dataclass(frozen=True)
class WindowTransition:
    """Probabilities from bins of inputs to bins of outputs of a two-level channel on windows."""

    low: float
    gain: float
    sizes: Floats
    """Output cells per bin of outputs."""
    lower: End
    upper: End

    @cached_property
    def matrix(self) -> Floats:
        """All probabilities, a row per bin of inputs."""
        return self.low * self.sizes + self.gain * (self._cells(self.upper) - self._cells(self.lower))

    def _cells(self, end: End) -> Floats:
        rows, width = np.arange(len(end.place)), len(self.sizes)
        weights = np.zeros((len(rows), width + 2))
        weights[:, :width] = self.sizes * ((np.arange(width) < end.place[:, None]) + end.turns[:, None])
        weights[rows, end.place] += end.near
        np.add.at(weights, (rows, end.follower), end.far)
        return weights[:, :width]


def window_spread(axis: Axis) -> int:
    """How many cells apart the starts of one bin may lie: bins of outputs must not be narrower."""
    begin, end, singles = axis.groups()
    first = np.minimum(begin, singles[0][0])
    last = np.max([end - 1, *(np.where(weight > 0, place, 0) for place, weight in singles)], axis=0)
    return max(int((last - first).max()), 1)


def one_window(channel: Channel) -> tuple[Windows, float, float] | None:
    """The window, the chance of an output outside and what one inside has more; None unless there is one window of many cells."""
    layers = channel.layers()
    if layers is None or len(layers.windows) != 1 or layers.windows[0][0].members == 1:
        return None
    window, height = layers.windows[0]
    return window, layers.base / channel.total, height / channel.total


def window_transition(window: Windows, outside: float, gain: float, axis: Axis, cuts: Integers) -> WindowTransition:
    """The exact probabilities of a window channel between bins."""
    sizes = np.diff(cuts).astype(np.float64)
    return WindowTransition(outside, gain, sizes, window_end(window, axis, cuts, 0), window_end(window, axis, cuts, window.members))


def wraps(sets: Windows) -> bool:
    """Does the window move around a circle?"""
    return sets.first < 0


def window_end(sets: Windows, axis: Axis, cuts: Integers, shift: int) -> End:
    """Coefficients of the average of F at start + shift."""
    size = len(cuts) - 1
    if wraps(sets):
        edges = np.concatenate([cuts[:-1] + turn * sets.outputs for turn in range(4)])
    else:
        edges = np.concatenate([cuts, [cuts[-1] + sets.outputs + axis.per_bin + 2]]).astype(np.int64)
    begin, end, singles = axis.groups()
    # A turn is added so that no start is negative, and taken away where a bin lies beyond the circle.
    anchor = np.minimum(begin, singles[0][0])
    turned = (sets.offset + anchor) % sets.outputs - (sets.offset + anchor) if wraps(sets) else np.zeros_like(anchor)

    def place(index: Integers) -> Integers:
        start = sets.offset + index if wraps(sets) else np.clip(sets.offset + index, sets.first, sets.last)
        return start + turned + shift

    bin_ = np.searchsorted(edges, place(anchor), "right") - 1
    here, there = edges[bin_], edges[bin_ + 1]
    near, far = np.zeros(axis.bins), np.zeros(axis.bins)

    def add(at: Integers, weight: Floats | Integers) -> None:
        nonlocal near, far
        near += weight * (np.minimum(at, there) - here)
        far += weight * np.maximum(at - there, 0)

    for index, weight in singles:
        add(place(index), weight)
    if not wraps(sets):
        held_low = np.clip(sets.first - sets.offset - begin, 0, end - begin)
        held_high = np.clip(end - 1 - (sets.last - sets.offset), 0, end - begin)
        add(np.full_like(begin, sets.first + shift), held_low)
        add(np.full_like(begin, sets.last + shift), held_high)
        begin, end = begin + held_low, end - held_high
    # A stretch of starts, one cell apart: those before the next bin, then those in it.
    count, start = end - begin, sets.offset + begin + turned + shift
    before = np.clip(there - start, 0, count)
    after = count - before
    near += before * (start - here) + before * (before - 1) / 2 + after * (there - here)
    far += after * (start + before - there) + after * (after - 1) / 2
    scale = np.diff(axis.cuts)
    if wraps(sets):
        return End(bin_ % size, (bin_ + 1) % size, (bin_ // size).astype(np.float64), near / scale, far / scale)
    return End(bin_, bin_ + 1, np.zeros(axis.bins), near / scale, far / scale)
