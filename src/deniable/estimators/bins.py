"""Bins: how evenly spread values fall on a channel's inputs, and how outputs are gathered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import (
    Channel,
    Circle,
    CircularMechanism,
    Interval,
    Mechanism,
    NumericMechanism,
)
from deniable.errors import InvalidParameter, NotSupported

MOST_BINS = 1 << 11
FEW_OUTPUTS = 1 << 12
"""Channels other than windows keep every output apart up to so many."""


@dataclass(frozen=True)
class Axis:
    """Equal bins of the domain in units of a channel's inputs.

    Bin j reaches from cuts[j] to cuts[j + 1]. A value at t enters input floor(t) ("cells"), or one of the
    inputs next to t at random so that the mean is t ("between").
    """

    cuts: Floats
    kind: Literal["cells", "between"]

    @property
    def bins(self) -> int:
        """How many bins."""
        return len(self.cuts) - 1

    def coarser(self, steps: int) -> Axis:
        """The same bins for a channel entered between its inputs, `steps` apart."""
        return Axis(self.cuts / steps, "between")

    @cached_property
    def per_bin(self) -> float:
        """Inputs per bin."""
        return float(self.cuts[-1] - self.cuts[0]) / self.bins

    def weights(self, begin: int, end: int) -> Floats:
        """The chance that a value spread evenly over a bin enters each of the inputs begin … end-1; a row per bin."""
        index = np.arange(begin, end)
        below = self.cuts[:, None] - index[None, :]
        if self.kind == "cells":
            filled = np.clip(below, 0, 1)
        else:
            rising, falling = np.clip(below + 1, 0, 1), np.clip(below, 0, 1)
            filled = rising**2 / 2 + falling - falling**2 / 2
        return np.asarray(np.diff(filled, axis=0) / np.diff(self.cuts)[:, None])

    def groups(self) -> tuple[Integers, Integers, list[tuple[Integers, Floats]]]:
        """Inputs begin … end-1 that a bin holds entirely, and single inputs with the part it holds of them.

        Needs at least three inputs per bin.
        """
        low, high = self.cuts[:-1], self.cuts[1:]
        first, last = np.floor(low).astype(np.int64), np.floor(high).astype(np.int64)
        into, over = low - first, high - last
        if self.kind == "cells":
            whole = into == 0
            begin = np.where(whole, first, first + 1)
            return begin, last, [(first, np.where(whole, 0.0, 1 - into)), (last, over)]
        singles = [
            (first, (1 - into) ** 2 / 2),
            (first + 1, 1 - into**2 / 2),
            (last, 0.5 + over - over**2 / 2),
            (last + 1, over**2 / 2),
        ]
        return first + 2, last, singles


def input_axis(mechanism: Mechanism, bins: int) -> tuple[Channel, Axis]:
    """The channel to look at and the bins in units of its inputs."""
    if not isinstance(mechanism, NumericMechanism | CircularMechanism):
        raise NotSupported(
            f"{mechanism.name} does not report numbers on an interval or a circle; for categories use shares(source)"
        )
    channel = mechanism.channel
    if channel.between is not None:
        inner, _ = channel.between
        return inner, Axis(np.arange(bins + 1) * (inner.inputs - 1) / bins, "between")
    grid = mechanism.grid
    return channel, Axis(np.arange(bins + 1) * grid.steps / bins + float(grid.shift), "cells")


def checked_bins(mechanism: Mechanism, bins: object, default: int) -> int:
    """A number of bins the mechanism's lattice and reports can tell apart; the default is as many, if need be fewer."""
    domain = mechanism.domain
    if not isinstance(mechanism, NumericMechanism | CircularMechanism) or not isinstance(domain, Interval | Circle):
        raise NotSupported(
            f"{mechanism.name} does not report numbers on an interval or a circle; for categories use shares(source)"
        )
    most = min(mechanism.grid.steps, mechanism.channel.outputs, MOST_BINS)
    if bins is None:
        if most < min(default, 8) and mechanism.grid.steps > most:
            raise NotSupported(f"{mechanism.name} has {most} different reports: too few for a distribution; use mean(source)")
        return min(default, most)
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= most:
        raise InvalidParameter(f"bins must be a whole number from 1 to {most}: {mechanism.name} cannot distinguish more")
    return bins


def output_cuts(channel: Channel, least: int, *, windows: bool) -> Integers:
    """Where bins of outputs begin, and the end: each of at least `least` outputs.

    Channels made of windows need no narrower bins. Others keep few outputs apart, and of many at least the
    first and the last, which may stand for everything beyond.
    """
    if channel.alternatives:
        parts = [output_cuts(part, least, windows=windows) + start for start, _, part in channel.alternatives]
        return np.unique(np.concatenate(parts))
    outputs = channel.outputs
    if not windows and outputs <= FEW_OUTPUTS:
        return np.arange(outputs + 1)
    count = max(outputs // least, 1)
    cuts = np.arange(count + 1) * outputs // count
    if windows or channel.layers() is not None:
        return cuts
    return np.unique(np.concatenate([cuts, [1, outputs - 1]]))


def gathered(sums: Integers, cuts: Integers) -> Floats:
    """How many reports fall into each bin of outputs."""
    return np.add.reduceat(sums, cuts[:-1]).astype(np.float64)
