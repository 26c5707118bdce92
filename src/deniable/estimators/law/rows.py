"""A channel's rows as arrays: a few constant stretches where that is enough, all outputs otherwise."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Chain, Channel, Layers, Product, Profile, Reference, Table
from deniable.errors import NotSupported

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
    layers = channel.layers()
    if layers is not None:
        return _layered(layers, channel, indices)
    if channel.between is not None:
        inner, steps = channel.between
        rows, share = _between(steps, indices)
        near, far = runs(inner, rows), runs(inner, np.minimum(rows + 1, inner.inputs - 1))
        return None if near is None or far is None else _stack([_scaled(near, 1 - share), _scaled(far, share)])
    stretches = []
    for start, chance, part in channel.alternatives:
        own = runs(part, indices)
        if own is None:
            return None
        stretches.append(_scaled(own._replace(starts=own.starts + start, stops=own.stops + start), float(chance)))
    return _stack(stretches) if stretches else None


def _layered(layers: Layers, channel: Channel, indices: Integers) -> Runs:
    """`base` everywhere, and the height of every window on it (in two parts where it wraps around)."""
    zero = np.zeros_like(indices)
    starts, stops, weights = [zero], [zero + channel.outputs], [layers.base]
    for window, height in layers.windows:
        start = np.clip(window.offset + indices, window.first, window.last) % window.outputs
        stop = start + window.members
        parts = [(start, np.minimum(stop, window.outputs))]
        if bool(np.any(stop > window.outputs)):
            parts.append((zero, np.maximum(stop - window.outputs, 0)))
        for begin, end in parts:
            starts.append(begin)
            stops.append(end)
            weights.append(height)
    chances = np.array([weight / channel.total for weight in weights])
    return Runs(np.array(starts), np.array(stops), np.repeat(chances[:, None], indices.size, axis=1))


def _between(steps: int, indices: Integers) -> tuple[Integers, Floats]:
    """The lower row and the share of the next one."""
    rows, rest = np.divmod(indices, steps)
    return rows, rest / steps


def _scaled(stretches: Runs, share: Floats | float) -> Runs:
    return stretches._replace(chances=stretches.chances * share)


def _stack(parts: list[Runs]) -> Runs:
    return Runs(*(np.concatenate([part[i] for part in parts]) for i in range(3)))


def dense(channel: Channel, indices: Integers) -> Floats:
    """The rows of these inputs with every output's probability written out."""
    if channel.outputs > MOST_OUTPUTS:
        raise NotSupported(f"a row of {channel.outputs} outputs is too long to write out; the most is {MOST_OUTPUTS}")
    stretches = runs(channel, indices)
    if stretches is not None:
        return _filled(stretches, channel.outputs)
    if channel.between is not None:
        inner, steps = channel.between
        rows, share = _between(steps, indices)
        near, far = dense(inner, rows), dense(inner, np.minimum(rows + 1, inner.inputs - 1))
        return near * (1 - share)[:, None] + far * share[:, None]
    if channel.alternatives:
        return np.hstack([float(share) * dense(part, indices) for _, share, part in channel.alternatives])
    return _written_out(channel, indices)


@singledispatch
def _written_out(channel: Channel, indices: Integers) -> Floats:
    return np.array([[weight / channel.total for weight in channel.row(i)] for i in indices.tolist()])


@_written_out.register
def _(channel: Table, indices: Integers) -> Floats:
    return np.array([channel.rows[i] for i in indices.tolist()], dtype=np.float64) / channel.total


@_written_out.register
def _(channel: Chain, indices: Integers) -> Floats:
    return dense(channel.first, indices) @ dense(channel.second, np.arange(channel.second.inputs))


def _filled(stretches: Runs, outputs: int) -> Floats:
    table = np.zeros((stretches.starts.shape[1], outputs))
    for starts, stops, chances in zip(*stretches, strict=True):
        for row, start, stop, chance in zip(table, starts.tolist(), stops.tolist(), chances.tolist(), strict=True):
            row[start:stop] += chance
    return table


@_written_out.register
def _(channel: Profile, indices: Integers) -> Floats:
    """Every row is a piece of the same weights; at the ends, everything beyond is added."""
    weights = np.array(channel.weights, dtype=np.float64) / channel.total
    if channel.wrap:
        return np.array([np.roll(weights, i + channel.first) for i in indices.tolist()])
    table = np.empty((indices.size, channel.outputs))
    for row, i in zip(table, indices.tolist(), strict=True):
        begin = -i - channel.margin - channel.first
        row[:] = weights[begin : begin + channel.outputs]
        row[0] = channel.weight(i, 0) / channel.total
        row[-1] = channel.weight(i, channel.outputs - 1) / channel.total
    return table


@_written_out.register
def _(channel: Reference, indices: Integers) -> Floats:
    low = np.array(channel.low, dtype=np.float64) / channel.total
    high = np.array(channel.high, dtype=np.float64) / channel.total
    table = np.repeat(low[None], indices.size, axis=0)
    for row, i in zip(table, indices.tolist(), strict=True):
        start, end, edge, rest = channel.rows[i]
        row[start:end] = high[start:end]
        row[edge] = rest / channel.total
    return table


@_written_out.register
def _(channel: Product, indices: Integers) -> Floats:
    rows = []
    for index in indices.tolist():
        row = np.ones(1)
        for part, digit in zip(channel.parts, channel.split_input(index), strict=True):
            row = np.multiply.outer(row, dense(part, np.array([digit]))[0]).ravel()
        rows.append(row)
    return np.array(rows)
