"""Arrays of outputs to places of the plane: post-processing, in floats, by the scalar path's own operations."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.arrays import Floats
from deniable.batch.steps import StepKernel
from deniable.core import (
    CoordinateMechanism,
    Disc,
    Interval,
    Mechanism,
    NearestCells,
    NearestPlaces,
    Points,
    Polygon,
    Rectangle,
    TraCSD,
    TraCSDDisc,
)

MOST_LISTED = 1 << 16
"""Axes with more outputs than this are read one output at a time."""


def decode_places(mechanism: Mechanism, outputs: Any) -> Floats | None:
    """The places an array of outputs stands for, of shape (n, 2); None for mechanisms that report no place."""
    if isinstance(mechanism, CoordinateMechanism):
        y, x = (_axis(part, out) for part, out in zip(mechanism.parts.values(), outputs, strict=True))
        return np.stack(mechanism.domain.place(x, y), axis=1)  # type: ignore[arg-type]
    if isinstance(mechanism, NearestCells):
        return cell_middles(mechanism.domain)[np.asarray(outputs, np.int64)]
    if isinstance(mechanism, NearestPlaces):
        return _listed(mechanism.domain)[np.asarray(outputs, np.int64)]
    if isinstance(mechanism, TraCSD):
        return StepKernel(mechanism.channel, mechanism.domain).read(np.asarray(outputs, np.int64))
    if isinstance(mechanism, TraCSDDisc):
        return _disc(mechanism, np.asarray(outputs, np.int64))
    return None


@lru_cache(maxsize=8)  # a public table
def cell_middles(domain: Rectangle | Disc | Polygon) -> Floats:
    """The middles of all cells of a region, in the order of their numbers."""
    grid = domain if isinstance(domain, Rectangle) else domain.square if isinstance(domain, Disc) else domain.grid
    numbers = np.arange(grid.size) if isinstance(domain, Rectangle) else np.array(domain.inside, np.int64)
    row, column = np.divmod(numbers, grid.x.cells)
    return np.stack([_middles(grid.x)[column], _middles(grid.y)[row]], axis=1)


@lru_cache(maxsize=8)
def _middles(side: Interval) -> Floats:
    return np.array([side.decode(cell) for cell in range(side.cells)])


@lru_cache(maxsize=4)
def _listed(domain: Points) -> Floats:
    return np.array([domain.decode(place) for place in range(domain.size)])


@lru_cache(maxsize=16)
def _axis_values(part: Mechanism) -> Floats:
    return np.array([part.decode(output) for output in range(part.channel.outputs)])


def _axis(part: Mechanism, outputs: NDArray[Any]) -> Floats:
    if part.channel.outputs <= MOST_LISTED:
        values: Floats = _axis_values(part)[outputs]
        return values
    return np.array([part.decode(int(output)) for output in outputs])


@lru_cache(maxsize=4)
def _directions(mechanism: TraCSDDisc) -> Floats:
    """Every angle's middle vector and its length."""
    middles = [mechanism.channel.directions.middle(turn) for turn in range(mechanism.direction_cells)]
    return np.array([(x, y, math.hypot(x, y)) for x, y in middles], np.float64)


def _disc(mechanism: TraCSDDisc, outputs: NDArray[np.int64]) -> Floats:
    turn, share = np.divmod(outputs, mechanism.distance_cells)
    across, up, size = _directions(mechanism)[turn].T
    length = float(mechanism.domain.radius) * (2 * share + 1) / (2 * mechanism.distance_cells) / size
    return np.stack([float(mechanism.domain.x) + length * across, float(mechanism.domain.y) + length * up], axis=1)
