"""Any channel between bins, as a matrix: for channels that are not one window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core import Channel, Identity, Interpolated, Mixture, Nested, TwoLevel, Windows, slid_window
from deniable.errors import NotSupported
from deniable.estimators.bins import Axis, Floats, Integers
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
    if isinstance(channel, Mixture):
        shares = np.array(channel.shares) / sum(channel.shares)
        return np.hstack(
            [
                share * _matrix(part, axis, cuts[(cuts >= start) & (cuts <= start + part.outputs)] - start)
                for part, start, share in zip(channel.parts, channel.starts, shares, strict=True)
            ]
        )
    if isinstance(channel, Interpolated):
        return _matrix(channel.inner, axis.coarser(channel.steps), cuts)
    sizes = np.diff(cuts).astype(np.float64)
    wide = axis.per_bin >= LEAST_INPUTS and sizes.max() > 1
    if wide and isinstance(channel, TwoLevel) and isinstance(channel.sets, Windows):
        gain = (channel.high - channel.low) / channel.total
        return channel.low / channel.total * sizes + gain * _window(channel.sets, axis, cuts)
    if wide and isinstance(channel, Nested):
        found = np.zeros((axis.bins, len(sizes))) + channel.weights[-1] / channel.total * sizes
        for j, width in enumerate(channel.widths):
            gain = (channel.weights[j] - channel.weights[j + 1]) / channel.total
            found += gain * _window(slid_window(channel.cells, width), axis, cuts)
        return found
    if wide and isinstance(channel, Identity):
        return _window(Windows(channel.size, channel.size, 1, 0, 0, channel.size - 1), axis, cuts)
    return _averaged(channel, axis, cuts)


def _window(sets: Windows, axis: Axis, cuts: Integers) -> Floats:
    """How many cells of a bin of outputs the window of a bin holds, on average."""
    sizes = np.diff(cuts).astype(np.float64)
    return WindowTransition(0.0, 1.0, sizes, window_end(sets, axis, cuts, 0), window_end(sets, axis, cuts, sets.members)).matrix


def _averaged(channel: Channel, axis: Axis, cuts: Integers) -> Floats:
    """Every row of the channel, gathered into bins of outputs and averaged over bins of inputs."""
    if channel.inputs * (channel.outputs + axis.bins) > MOST_WORK:
        raise NotSupported("this channel is too large to be written out; use a domain with fewer cells, or a window mechanism")
    found = np.zeros((axis.bins, len(cuts) - 1))
    at_once = max(1, CHUNK // (channel.outputs + axis.bins))
    for begin in range(0, channel.inputs, at_once):
        end = min(begin + at_once, channel.inputs)
        rows = np.add.reduceat(dense(channel, np.arange(begin, end)), cuts[:-1], axis=1)
        found += axis.weights(begin, end) @ rows
    return found
