"""Any channel between bins, as a matrix: for channels that are not one window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Channel, Windows
from deniable.errors import NotSupported
from deniable.estimators.bins import Axis
from deniable.estimators.law.rows import dense
from deniable.estimators.window_channel import LEAST_INPUTS, WindowTransition, window_end

MOST_WORK = 1 << 28
CHUNK = 1 << 22


@dataclass(frozen=True)
class DenseTransition:
    """Probabilities from bins of inputs to bins of outputs, written out."""

    matrix: Floats


def dense_transition(channel: Channel, axis: Axis, cuts: Integers) -> DenseTransition:
    """The exact probabilities of any channel between bins."""
    return DenseTransition(_matrix(channel, axis, cuts))


def _matrix(channel: Channel, axis: Axis, cuts: Integers) -> Floats:
    if channel.alternatives:
        parts = [
            float(share) * _matrix(part, axis, cuts[(cuts >= start) & (cuts <= start + part.outputs)] - start)
            for start, share, part in channel.alternatives
        ]
        return np.hstack(parts)
    if channel.between is not None:
        inner, steps = channel.between
        return _matrix(inner, axis.coarser(steps), cuts)
    sizes = np.diff(cuts).astype(np.float64)
    layers = channel.layers() if axis.per_bin >= LEAST_INPUTS and sizes.max() > 1 else None
    if layers is not None:
        matrix = np.zeros((axis.bins, len(sizes))) + layers.base / channel.total * sizes
        for window, height in layers.windows:
            matrix += height / channel.total * _window(window, axis, cuts)
        return matrix
    return _averaged(channel, axis, cuts)


def _window(sets: Windows, axis: Axis, cuts: Integers) -> Floats:
    """How many cells of a bin of outputs the window of a bin holds, on average."""
    sizes = np.diff(cuts).astype(np.float64)
    return WindowTransition(0.0, 1.0, sizes, window_end(sets, axis, cuts, 0), window_end(sets, axis, cuts, sets.members)).matrix


def _averaged(channel: Channel, axis: Axis, cuts: Integers) -> Floats:
    """Every row of the channel, gathered into bins of outputs and averaged over bins of inputs."""
    if channel.inputs * (channel.outputs + axis.bins) > MOST_WORK:
        raise NotSupported("this channel is too large to be written out; use a domain with fewer cells, or a window mechanism")
    averages = np.zeros((axis.bins, len(cuts) - 1))
    at_once = max(1, CHUNK // (channel.outputs + axis.bins))
    for begin in range(0, channel.inputs, at_once):
        end = min(begin + at_once, channel.inputs)
        rows = np.add.reduceat(dense(channel, np.arange(begin, end)), cuts[:-1], axis=1)
        averages += axis.weights(begin, end) @ rows
    return averages
