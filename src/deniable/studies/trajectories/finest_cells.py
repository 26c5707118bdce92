"""The finest cells that a map's intervals look at, and what people in them report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from deniable.batch import Flags, Floats, Integers
from deniable.core import Interval, NearestCells, TraCSD
from deniable.estimators import binned
from deniable.studies.trajectories.nearest_law import NearestLaw
from deniable.studies.trajectories.place_channel import PlaceChannel, Source, bounding_rectangle, cells_along
from deniable.studies.trajectories.reference_law import reference_law

FINEST_SIDE = 64
"""Coordinates are told apart so finely, at most."""
BLOCKS = 24
"""Along each coordinate, at most."""


@dataclass(frozen=True, eq=False)
class FinestCells:
    """A grid as fine as the mechanism's or nearly, and groups of its reports."""

    x_edges: Floats
    y_edges: Floats
    inside: Flags
    """Rows by columns: which cells lie in the region."""
    groups: tuple[Integers, ...]
    """Of reports, as in `PlaceChannel`."""
    table: Floats
    """The probabilities of the groups, a row for every cell inside."""

    @cached_property
    def blocks(self) -> Floats:
        """The same for people evenly mixed over blocks of cells: few enough for a first look."""
        row, column = np.divmod(self.cells, self.inside.shape[1])
        sides = [-(-size // BLOCKS) for size in self.inside.shape]
        number = np.unique((row // sides[0]) * self.inside.shape[1] + column // sides[1], return_inverse=True)[1]
        order = np.argsort(number, kind="stable")
        starts = np.flatnonzero(np.diff(number[order], prepend=-1))
        return np.asarray(np.add.reduceat(self.table[order], starts, axis=0) / np.bincount(number)[:, None])

    @cached_property
    def cells(self) -> Integers:
        """The cells inside, as row * columns + column."""
        return np.flatnonzero(self.inside.ravel())

    @cached_property
    def middles(self) -> Floats:
        """The middle of every cell inside."""
        row, column = np.divmod(self.cells, self.inside.shape[1])
        x, y = ((edges[1:] + edges[:-1]) / 2 for edges in (self.x_edges, self.y_edges))
        return np.stack([x[column], y[row]], axis=1)

    def covered(self, low: tuple[float, float], high: tuple[float, float]) -> Floats:
        """Which part of every cell inside lies in a rectangle."""
        row, column = np.divmod(self.cells, self.inside.shape[1])
        across = _overlap(self.x_edges, low[0], high[0])
        up = _overlap(self.y_edges, low[1], high[1])
        return np.asarray(across[column] * up[row])

    def counts(self, laid: PlaceChannel, source: Source) -> Floats:
        """How many reports fall into each group."""
        shape = [int(group.max()) + 1 for group in self.groups]
        return PlaceChannel(laid.mechanism, laid.grid, np.empty((0, int(np.prod(shape)))), self.groups).counts(source)


def _overlap(edges: Floats, low: float, high: float) -> Floats:
    """Which part of every step between edges lies between low and high."""
    part = (np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)) / np.diff(edges)
    return np.asarray(np.clip(part, 0.0, 1.0))


@lru_cache(maxsize=2)
def finest_cells(laid: PlaceChannel, groups: int) -> FinestCells:
    """The finest cells behind a map, whose cells are unions of them; reports in so many groups along a side, or fewer."""
    if isinstance(laid.mechanism, TraCSD):
        return _from_reference(laid, laid.mechanism, groups)
    if isinstance(laid.mechanism, NearestCells):
        return _nearest(laid, laid.mechanism, groups)
    return _coordinates(laid, groups)


def _times(laid: PlaceChannel, name: str) -> int:
    """How many finest cells one cell of the fitted map has along a side: a power of 2."""
    fitted = laid.grid.columns if name == "x" else laid.grid.rows
    most = min(FINEST_SIDE // fitted, cells_along(laid.mechanism, name) // fitted)
    return int(2 ** int(np.log2(max(1, most))))


def _folded(groups: Integers, most: int) -> Integers:
    """Neighbouring groups put together until there are few enough."""
    count = int(groups.max()) + 1
    return groups if count <= most else groups * most // count


def _from_reference(laid: PlaceChannel, mechanism: TraCSD, most: int) -> FinestCells:
    law = reference_law(mechanism.channel)
    columns, rows = laid.grid.columns * _times(laid, "x"), laid.grid.rows * _times(laid, "y")
    # Directions are told apart more finely than distances.
    groups = _folded(law.groups[0], most), _folded(law.groups[1], most // 2)
    first, second = law.of_cells(columns, rows, groups)
    edges = [
        ends[0] + (ends[-1] - ends[0]) * np.arange(count + 1.0) / count
        for ends, count in ((laid.grid.x_edges, columns), (laid.grid.y_edges, rows))
    ]

    inside = np.ones((rows, columns), np.bool_)
    return FinestCells(edges[0], edges[1], inside, groups, np.einsum("ci,cj->cij", first, second).reshape(len(first), -1))


def _nearest(laid: PlaceChannel, mechanism: NearestCells, most: int) -> FinestCells:
    law, around = NearestLaw(mechanism), bounding_rectangle(mechanism)
    row, column = np.divmod(law.cells, law.columns)
    blocks = [min(size, most) for size in (law.rows, law.columns)]
    outputs = _numbered(row * blocks[0] // law.rows * blocks[1] + column * blocks[1] // law.columns)
    up, y_edges = _finer(around.y, laid.grid.y_edges)
    across, x_edges = _finer(around.x, laid.grid.x_edges)
    inputs = up[row] * (len(x_edges) - 1) + across[column]
    inside = np.zeros((len(y_edges) - 1) * (len(x_edges) - 1), np.bool_)
    inside[inputs] = True
    table = law.between(_numbered(inputs), outputs)
    return FinestCells(x_edges, y_edges, inside.reshape(len(y_edges) - 1, -1), (outputs,), table)


def _numbered(names: Integers) -> Integers:
    """The same names as 0, 1, 2 and so on."""
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _finer(side: Interval, edges: Floats) -> tuple[Integers, Floats]:
    """The finest row of every row of a mechanism's cells, and their edges, which the map's are among."""
    step = float(side.width) / side.cells
    ends = np.rint((edges - float(side.low)) / step).astype(np.int64)
    times = max(1, FINEST_SIDE // (len(edges) - 1))
    cuts = np.unique(ends[:-1, None] + np.diff(ends)[:, None] * np.arange(times) // times)
    return np.searchsorted(cuts, np.arange(side.cells), side="right") - 1, float(side.low) + step * np.append(cuts, side.cells)


def _coordinates(laid: PlaceChannel, most: int) -> FinestCells:
    parts = laid.mechanism.parts
    tables, edges, groups = {}, {}, {}
    for name, count in (("x", laid.grid.columns), ("y", laid.grid.rows)):
        finer = binned(parts[name], count * _times(laid, name))
        outputs = np.repeat(np.arange(len(finer.cuts) - 1), np.diff(finer.cuts))
        groups[name] = _folded(outputs, most)
        starts = np.flatnonzero(np.diff(groups[name][finer.cuts[:-1]], prepend=-1))
        tables[name], edges[name] = np.add.reduceat(finer.transition.matrix, starts, axis=1), finer.edges
    rows, columns = len(edges["y"]) - 1, len(edges["x"]) - 1
    # In the order of the record's fields, as its reports have them; cells always count y first.
    order = list(parts)
    both = np.einsum("ay,bx->abyx" if order[0] == "y" else "bx,ay->abxy", *(tables[name] for name in order))
    inside = np.ones((rows, columns), np.bool_)
    return FinestCells(edges["x"], edges["y"], inside, tuple(groups[name] for name in order), both.reshape(rows * columns, -1))
