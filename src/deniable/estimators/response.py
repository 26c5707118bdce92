"""What a value's report looks like: the channel's rows at a few places of the domain that stand for all of it.

Reports are put into groups of neighbouring outputs. The chance of a group is then a piecewise straight line in the
input for channels made of windows, and for channels entered between their rows. With a point at every bend, each value of
the domain has the row of a mixture of the two points around it: whatever holds for all distributions on the points holds
for all distributions on the domain. Other channels are looked at in every input, or in so many that nothing is missed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats, Integers
from deniable.core import (
    Channel,
    Circle,
    Interval,
    Mechanism,
    Windows,
)
from deniable.errors import InvalidParameter
from deniable.estimators.bins import input_axis
from deniable.estimators.law.rows import dense, runs

FEW_GROUPS, MANY_GROUPS = 48, 128
MANY_REPORTS = 20_000
"""From so many reports on, outputs are told apart twice as finely."""
GROUPS_PER_WINDOW = 4
MOST_GROUPS = 384
LEAST_POINTS = 33
"""Evenly spaced points beside the bends: a value between two rows is noisier than either."""
MOST_POINTS = 1025
"""Of a channel that is not made of windows."""
CHUNK = 1 << 22
MOST_KEPT = 4096
"""Rows beside the points that are kept for the next question."""


@dataclass(frozen=True, eq=False)
class Response:
    """Points of the domain and the law of the groups of reports at each of them."""

    channel: Channel
    cuts: Integers
    """Where the groups of outputs begin, and the end."""
    places: Floats
    """The points in units of the channel's inputs, rising."""
    between: bool
    """May a value lie between two inputs? Else the point t stands for the values from t up to t + 1."""
    scale: tuple[float, float]
    """A place t is the value scale[0] + t * scale[1]."""
    ends: tuple[float, float]
    table: Floats
    """The chance of every group of reports; a row for every point."""
    circular: bool

    @property
    def least(self) -> Floats:
        """The smallest value that each point stands for."""
        return np.asarray(np.clip(self.scale[0] + self.scale[1] * self.places, *self.ends))

    @property
    def most(self) -> Floats:
        """The largest value that each point stands for; for cells it is the one they end before."""
        return np.asarray(np.clip(self.scale[0] + self.scale[1] * (self.places + (not self.between)), *self.ends))

    def place(self, value: Floats) -> Floats:
        """Values in units of the channel's inputs."""
        return np.asarray((value - self.scale[0]) / self.scale[1])

    def with_edges(self, edges: Floats) -> Response:
        """The same with points on both sides of these values, so that every point lies on one side of them."""
        near = self.place(np.asarray(edges, np.float64))
        if self.between:
            more = near
        else:
            whole = np.floor(near + 1e-9)
            more = np.concatenate([whole - 1, whole, whole + 1])
        last = self.channel.inputs - 1
        places = np.unique(np.concatenate([self.places, np.clip(more, 0, last)]))
        new = np.setdiff1d(places, self.places)
        if not len(new):
            return self
        table = np.empty((len(places), self.table.shape[1]))
        table[np.searchsorted(places, self.places)] = self.table
        table[np.searchsorted(places, new)] = self._rows_at(new)
        return Response(self.channel, self.cuts, places, self.between, self.scale, self.ends, table, self.circular)

    @cached_property
    def _known(self) -> dict[float, Floats]:
        return {}

    def _rows_at(self, places: Floats) -> Floats:
        """The rows at these places; those asked for before are kept."""
        rows = [self._known.get(place) for place in places.tolist()]
        if all(row is not None for row in rows):
            return np.array(rows)
        worked_out = rows_at(self.channel, places, self.cuts)
        if len(self._known) > MOST_KEPT:
            self._known.clear()
        self._known.update(zip(places.tolist(), worked_out, strict=True))
        return worked_out

    def inside(self, low: float, high: float) -> tuple[Floats, Floats]:
        """Which points lie between two values surely, and which possibly; on an interval its upper end belongs to its last bin.

        Both values must be edges, or points may stand for values on both sides.
        """
        least, most, top = self.least, self.most, self.ends[1]
        slack = 1e-9 * (top - self.ends[0])
        if self.circular and low > high:
            # Across zero: everything but what lies between high and low.
            surely, possibly = self.inside(high, low)
            return 1 - possibly, 1 - surely
        if not self.between:
            return _flags((least >= low - slack) & (most <= high + slack)), _flags((most > low + slack) & (least < high - slack))
        # A point on an edge may stand for either side, but not at the ends of the domain, which have no other side.
        starts, stops = low <= self.ends[0] + slack, high >= top - slack
        after = (least > low + slack) | starts
        before = (least < high - slack) | stops
        return _flags(after & before), _flags((least >= low - slack) & (least <= high + slack))


def _flags(which: NDArray[np.bool_]) -> Floats:
    return which.astype(np.float64)


@lru_cache(maxsize=8)
def response(mechanism: Mechanism, groups: int) -> Response:
    """The points and their rows, with about so many groups of reports, more where windows are narrow."""
    domain = mechanism.domain
    assert isinstance(domain, Interval | Circle)
    channel, axis = input_axis(mechanism, 1)
    cuts = group_cuts(channel, _enough(channel, groups))
    bends = _bends(channel, cuts)
    last = channel.inputs - 1
    if bends is None:
        count = min(channel.inputs, MOST_POINTS)
        bends = (np.arange(count) * last / max(count - 1, 1)).round()
    even = np.arange(LEAST_POINTS) * last / (LEAST_POINTS - 1)
    more = even if axis.kind == "between" else even.round()
    places = np.unique(np.clip(np.concatenate([bends, more]), 0, last)).astype(np.float64)
    start, end = float(axis.cuts[0]), float(axis.cuts[-1])
    low, high = float(domain.low), float(domain.low) + float(domain.width)
    step = (high - low) / (end - start)
    circular = isinstance(domain, Circle)
    return Response(
        channel,
        cuts,
        places,
        axis.kind == "between",
        (low - start * step, step),
        (low, high),
        rows_at(channel, places, cuts),
        circular,
    )


def groups_for(n: int) -> int:
    """How finely so many reports are worth telling apart."""
    return FEW_GROUPS if n < MANY_REPORTS else MANY_GROUPS


def _enough(channel: Channel, groups: int) -> int:
    """More groups where windows are so narrow that they would hold only few."""
    widths = [window.members for window in _windows(channel)]
    narrow = min((channel.outputs / width for width in widths if width > 1), default=1.0)
    return int(min(max(groups, GROUPS_PER_WINDOW * narrow), MOST_GROUPS))


def group_cuts(channel: Channel, groups: int) -> Integers:
    """Where groups of outputs begin, and the end; of every part of a mixture their own."""
    if channel.alternatives:
        return np.unique(np.concatenate([group_cuts(part, groups) + start for start, _, part in channel.alternatives]))
    if channel.between is not None:
        return group_cuts(channel.between[0], groups)
    outputs = channel.outputs
    if outputs <= groups:
        return np.arange(outputs + 1)
    cuts = np.arange(groups + 1) * outputs // groups
    # The first and the last output may stand for everything beyond.
    return cuts if _windows(channel) else np.unique(np.concatenate([cuts, [1, outputs - 1]]))


def _windows(channel: Channel) -> list[Windows]:
    """The windows that a channel is made of; none when it is made of something else."""
    if channel.between is not None:
        return _windows(channel.between[0])
    layers = channel.layers()
    if layers is not None:
        return [window for window, _ in layers.windows]
    return [window for _, _, part in channel.alternatives for window in _windows(part)]


def _bends(channel: Channel, cuts: Integers) -> Floats | None:
    """The inputs at which the chances of groups may bend; None when they may do so anywhere."""
    if channel.between is not None:
        inner, steps = channel.between
        bent = _bends(inner, cuts)
        if bent is None and inner.inputs <= MOST_POINTS:
            bent = np.arange(inner.inputs, dtype=np.float64)
        return None if bent is None else bent * steps
    if channel.alternatives:
        parts = [
            _bends(part, cuts[(cuts >= start) & (cuts <= start + part.outputs)] - start) for start, _, part in channel.alternatives
        ]
        return None if any(part is None for part in parts) else np.concatenate([part for part in parts if part is not None])
    windows = _windows(channel)
    if not windows:
        return None
    places = []
    for window in windows:
        bends = np.concatenate([cuts - window.offset, cuts - window.offset - window.members])
        if window.first < 0:
            bends %= window.outputs
        places.append(np.concatenate([bends, [window.first - window.offset, window.last - window.offset]]))
    return np.concatenate(places).astype(np.float64)


def rows_at(channel: Channel, places: Floats, cuts: Integers) -> Floats:
    """The chances of the groups at these places; between two inputs, those of their mixture."""
    below = np.floor(places).astype(np.int64)
    share = places - below
    rows = _rows(channel, below, cuts)
    mixed = np.flatnonzero(share > 0)
    if len(mixed):
        above = _rows(channel, below[mixed] + 1, cuts)
        rows[mixed] += share[mixed, None] * (above - rows[mixed])
    return rows


def _rows(channel: Channel, inputs: Integers, cuts: Integers) -> Floats:
    stretches = runs(channel, inputs)
    table = np.zeros((len(inputs), len(cuts) - 1))
    if stretches is None:
        at_once = max(1, CHUNK // channel.outputs)
        for begin in range(0, len(inputs), at_once):
            part = slice(begin, begin + at_once)
            table[part] = np.add.reduceat(dense(channel, inputs[part]), cuts[:-1], axis=1)
        return table
    for start, stop, chance in zip(*stretches, strict=True):
        chance = np.broadcast_to(chance, start.shape)
        until = np.clip(stop[:, None], cuts[:-1], cuts[1:]) - np.clip(start[:, None], cuts[:-1], cuts[1:])
        table += chance[:, None] * until
    return table


def only_multiples(whole: Response, step: float) -> Response:
    """Only the points of values that are multiples of a step."""
    first, last = math.ceil(whole.ends[0] / step - 1e-9), math.floor(whole.ends[1] / step + 1e-9)
    if not 1 <= last - first + 1 <= 4096:
        raise InvalidParameter("multiples_of must give from 1 to 4,096 different values within the domain")
    values = step * np.arange(first, last + 1, dtype=np.float64)
    places = np.clip(whole.place(values), 0, whole.channel.inputs - 1)
    places = np.unique(places if whole.between else np.floor(places + 1e-9))
    return replace(whole, places=places, table=rows_at(whole.channel, places, whole.cuts))
