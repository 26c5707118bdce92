"""A channel's rows as arrays: a few constant stretches where that is enough, all outputs otherwise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.core import (
    Chain,
    Channel,
    Identity,
    Interpolated,
    Mixture,
    Nested,
    Product,
    Profile,
    Reference,
    Singleton,
    Table,
    TwoLevel,
    Windows,
    slid_window,
)
from deniable.errors import NotSupported

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_OUTPUTS = 1 << 22
"""Rows longer than this are never written out."""


class Runs(NamedTuple):
    """Stretches of outputs, one column per input. A row is the sum of its stretches, which may overlap.

    Every output from `starts` up to but not including `stops` gains the probability `chances`.
    """

    starts: Integers
    stops: Integers
    chances: Floats


def runs(channel: Channel, indices: Integers) -> Runs | None:
    """The rows of these inputs as a few stretches; None when the channel has no such form."""
    if isinstance(channel, TwoLevel) and isinstance(channel.sets, Windows):
        return _window(channel, channel.sets, indices)
    if isinstance(channel, TwoLevel) and isinstance(channel.sets, Singleton):
        size = channel.sets.size
        return _window(channel, Windows(size, size, 1, 0, 0, size - 1), indices)
    if isinstance(channel, Nested):
        return _nested(channel, indices)
    if isinstance(channel, Identity):
        return Runs(indices[None], indices[None] + 1, np.ones((1, indices.size)))
    if isinstance(channel, Interpolated):
        rows, share = _between(channel, indices)
        near, far = runs(channel.inner, rows), runs(channel.inner, np.minimum(rows + 1, channel.inner.inputs - 1))
        if near is None or far is None:
            return None
        return _stack([_scaled(near, 1 - share), _scaled(far, share)])
    if isinstance(channel, Mixture):
        parts = [runs(part, indices) for part in channel.parts]
        found = []
        for part, start, coins in zip(parts, channel.starts, channel.shares, strict=True):
            if part is None:
                return None
            found.append(_scaled(part._replace(starts=part.starts + start, stops=part.stops + start), coins / sum(channel.shares)))
        return _stack(found)
    return None


def _window(channel: TwoLevel, sets: Windows, indices: Integers) -> Runs:
    """`low` everywhere, and high - low on the window (in two parts where it wraps around)."""
    start = np.clip(sets.offset + indices, sets.first, sets.last) % sets.outputs
    stop = start + sets.members
    zero = np.zeros_like(start)
    starts, stops = [zero, start], [zero + sets.outputs, np.minimum(stop, sets.outputs)]
    if bool(np.any(stop > sets.outputs)):
        starts.append(zero)
        stops.append(np.maximum(stop - sets.outputs, 0))
    gain = (channel.high - channel.low) / channel.total
    chances = np.array([channel.low / channel.total] + [gain] * (len(starts) - 1))
    return Runs(np.array(starts), np.array(stops), np.repeat(chances[:, None], indices.size, axis=1))


def _nested(channel: Nested, indices: Integers) -> Runs:
    """Every ring is a stretch before and a stretch after the window inside it."""
    starts, stops, weights = [], [], []
    spans = []
    for width in channel.widths:
        window = slid_window(channel.cells, width)
        start = np.clip(window.offset + indices, window.first, window.last)
        spans.append((start, start + width))
    spans.append((np.zeros_like(indices), np.full_like(indices, channel.cells)))
    inner = (spans[0][0], spans[0][0])
    for (start, stop), weight in zip(spans, channel.weights, strict=True):
        starts += [start, inner[1]]
        stops += [inner[0], stop]
        weights += [weight / channel.total] * 2
        inner = (start, stop)
    return Runs(np.array(starts), np.array(stops), np.repeat(np.array(weights)[:, None], indices.size, axis=1))


def _between(channel: Interpolated, indices: Integers) -> tuple[Integers, Floats]:
    """The lower row and the share of the next one."""
    rows, rest = np.divmod(indices, channel.steps)
    return rows, rest / channel.steps


def _scaled(found: Runs, share: Floats | float) -> Runs:
    return found._replace(chances=found.chances * share)


def _stack(parts: list[Runs]) -> Runs:
    return Runs(*(np.concatenate([part[i] for part in parts]) for i in range(3)))


def dense(channel: Channel, indices: Integers) -> Floats:
    """The rows of these inputs with every output's probability written out."""
    if channel.outputs > MOST_OUTPUTS:
        raise NotSupported(f"a row of {channel.outputs} outputs is too long to write out; the most is {MOST_OUTPUTS}")
    stretches = runs(channel, indices)
    if stretches is not None:
        return _filled(stretches, channel.outputs)
    if isinstance(channel, Table):
        return np.array([channel.rows[i] for i in indices.tolist()], dtype=np.float64) / channel.total
    if isinstance(channel, Profile):
        return _profile(channel, indices)
    if isinstance(channel, Reference):
        return _reference(channel, indices)
    if isinstance(channel, Interpolated):
        rows, share = _between(channel, indices)
        near, far = dense(channel.inner, rows), dense(channel.inner, np.minimum(rows + 1, channel.inner.inputs - 1))
        return near * (1 - share)[:, None] + far * share[:, None]
    if isinstance(channel, Mixture):
        shares = np.array(channel.shares) / sum(channel.shares)
        return np.hstack([share * dense(part, indices) for part, share in zip(channel.parts, shares, strict=True)])
    if isinstance(channel, Chain):
        return dense(channel.first, indices) @ dense(channel.second, np.arange(channel.second.inputs))
    if isinstance(channel, Product):
        return np.array([_product(channel, i) for i in indices.tolist()])
    return np.array([[weight / channel.total for weight in channel.row(i)] for i in indices.tolist()])


def _filled(stretches: Runs, outputs: int) -> Floats:
    found = np.zeros((stretches.starts.shape[1], outputs))
    for starts, stops, chances in zip(*stretches, strict=True):
        for row, start, stop, chance in zip(found, starts.tolist(), stops.tolist(), chances.tolist(), strict=True):
            row[start:stop] += chance
    return found


def _profile(channel: Profile, indices: Integers) -> Floats:
    """Every row is a piece of the same weights; at the ends, everything beyond is added."""
    weights = np.array(channel.weights, dtype=np.float64) / channel.total
    if channel.wrap:
        return np.array([np.roll(weights, i + channel.first) for i in indices.tolist()])
    found = np.empty((indices.size, channel.outputs))
    for row, i in zip(found, indices.tolist(), strict=True):
        begin = -i - channel.margin - channel.first
        row[:] = weights[begin : begin + channel.outputs]
        row[0] = channel.weight(i, 0) / channel.total
        row[-1] = channel.weight(i, channel.outputs - 1) / channel.total
    return found


def _reference(channel: Reference, indices: Integers) -> Floats:
    low = np.array(channel.low, dtype=np.float64) / channel.total
    high = np.array(channel.high, dtype=np.float64) / channel.total
    found = np.repeat(low[None], indices.size, axis=0)
    for row, i in zip(found, indices.tolist(), strict=True):
        start, end, edge, rest = channel.rows[i]
        row[start:end] = high[start:end]
        row[edge] = rest / channel.total
    return found


def _product(channel: Product, index: int) -> Floats:
    found = np.ones(1)
    for part, digit in zip(channel.parts, channel.split_input(index), strict=True):
        found = np.multiply.outer(found, dense(part, np.array([digit]))[0]).ravel()
    return found
