"""What a mechanism on places does between the cells of a map and groups of its reports.

nearest-cells       by stretches of its favoured sets; groups are blocks of reported cells
coordinates         x and y apart (tracs-c, and records of an x and a y): the product of two one-dimensional laws
tracs-d             direction and distance from one reference, the same for all reports
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from deniable.batch import Accumulator, Counts, Floats, Integers, Joined, Reports
from deniable.core import Disc, Mechanism, NearestCells, Parallelogram, Rectangle, TraCSD
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import binned
from deniable.studies.trajectories.map_grid import MapGrid, map_shape
from deniable.studies.trajectories.nearest_law import NearestLaw
from deniable.studies.trajectories.reference_law import ReferenceLaw

Source = Accumulator | Reports
MOST_CELLS = 1 << 10
"""Map cells whose covariance is written out."""
FINEST = 64
"""Reports are told apart at least so finely along each side, and four times as finely as the map."""
MOST_CONDITION = 1e6


@dataclass(frozen=True, eq=False)
class PlaceChannel:
    """Probabilities from map cells, places spread evenly within each, to groups of reports."""

    mechanism: Mechanism
    grid: MapGrid
    matrix: Floats
    """A row per map cell inside the region, a column per group of reports."""
    groups: tuple[Integers, ...]
    """For every output its group; for a product for every output of y and of x, as its row and its column.

    For tracs-d, whose output is a direction and a distance in one number, for every direction and every distance.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """How many groups there are along each part of a report."""
        return tuple(int(group.max()) + 1 for group in self.groups)

    def grouped(self, reports: Reports) -> Integers:
        """The group of every report."""
        if reports.mechanism.fingerprint != self.mechanism.fingerprint:
            raise InvalidParameter("the reports were made by another recipe")
        return self._grouped(reports.outputs)

    def _grouped(self, outputs: Any) -> Integers:
        columns = outputs if isinstance(outputs, tuple) else (outputs,)
        if len(self.groups) > len(columns):
            columns = np.divmod(np.asarray(columns[0], np.int64), len(self.groups[1]))
        parts = [group[np.asarray(column, np.int64)] for group, column in zip(self.groups, columns, strict=True)]
        return np.ravel_multi_index(tuple(parts), self.shape).astype(np.int64)

    def counts(self, source: Source) -> Floats:
        """How many reports fall into each group."""
        if isinstance(source, Reports):
            grouped = np.bincount(self.grouped(source), minlength=self.matrix.shape[1])
        elif isinstance(source, Counts) and source.mechanism.fingerprint == self.mechanism.fingerprint:
            grouped = np.bincount(self._grouped(np.arange(len(source.sums))), source.sums, minlength=self.matrix.shape[1])
        elif isinstance(source, Joined):
            raise NotSupported("sums of x and of y apart do not know where people are; estimate from the Reports themselves")
        else:
            raise InvalidParameter(f"the source of a map is an Accumulator or Reports of places, got {type(source).__name__}")
        if not grouped.sum():
            raise InvalidParameter("there are no reports to estimate from")
        return grouped.astype(np.float64)

    @cached_property
    def told_apart(self) -> tuple[Floats, Integers]:
        """The matrix with a column for all groups that say the same of where a person is, and every group's column in it."""
        if self.matrix.shape[1] <= len(self.matrix):
            return self.matrix, np.arange(self.matrix.shape[1])
        whole = self.matrix.sum(axis=0)
        chances = np.round(self.matrix / np.where(whole > 0, whole, 1.0), 12)
        alike = np.unique(chances, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
        order = np.argsort(alike, kind="stable")
        starts = np.flatnonzero(np.diff(alike[order], prepend=-1))
        return np.add.reduceat(self.matrix[:, order], starts, axis=1), alike

    @cached_property
    def unbiased(self) -> Floats:
        """Weights of a report's group for every map cell: their expectation is 1 in the person's own cell and 0 elsewhere.

        Weighted least squares with the weights of evenly spread people, which do not depend on the reports.
        """
        usual = self.matrix.mean(axis=0)
        usual = np.where(usual > 0, usual, 1.0)
        scaled = self.matrix / np.sqrt(usual)
        information = scaled @ scaled.T
        if len(self.grid) > self.matrix.shape[1] or np.linalg.cond(information) > MOST_CONDITION**2:
            raise NotSupported(
                f"{len(self.grid)} cells are more than reports of {self.mechanism.name} can distinguish: use fewer, or method='em'"
            )
        return np.asarray(np.linalg.solve(information, self.matrix / usual), np.float64)


@lru_cache(maxsize=8)
def place_channel(mechanism: Mechanism, cells: int | tuple[int, int]) -> PlaceChannel:
    """The exact probabilities between a map and the reports of a mechanism on places.

    >>> from deniable.core import make_mechanism
    >>> channel = place_channel(make_mechanism("nearest-cells", epsilon=4), 4)
    >>> channel.matrix.shape, bool(np.allclose(channel.matrix.sum(axis=1), 1))
    ((16, 4096), True)
    """
    if isinstance(mechanism, NearestCells):
        return _nearest(mechanism, cells)
    if mechanism.channel.side_by_side and set(mechanism.parts) == {"x", "y"}:
        return _coordinates(mechanism, cells)
    if isinstance(mechanism, TraCSD) and isinstance(mechanism.domain, Rectangle):
        return _from_reference(mechanism, cells)
    raise NotSupported(
        f"maps are made from reports of nearest-cells, tracs-c, tracs-d on a rectangle, or of x and y, not of {mechanism.name}"
    )


def source_mechanism(source: Source) -> Mechanism:
    """The recipe behind a source; anything that is no source is refused."""
    mechanism = getattr(source, "mechanism", None)
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(f"the source of a map is an Accumulator or Reports of places, got {type(source).__name__}")
    return mechanism


def map_rows_and_columns(mechanism: Mechanism, cells: int | tuple[int, int]) -> tuple[int, int]:
    """How many rows and columns a map of the mechanism's region has."""
    return map_shape(cells, float(_side(mechanism, "x").width), float(_side(mechanism, "y").width))


def cells_along(mechanism: Mechanism, name: str) -> int:
    """How many cells the mechanism tells apart along its side "x" or "y"."""
    return int(_side(mechanism, name).cells)


def _side(mechanism: Mechanism, name: str) -> Any:
    if set(mechanism.parts) == {"x", "y"}:
        return mechanism.parts[name].domain
    return getattr(bounding_rectangle(mechanism), name)


def bounding_rectangle(mechanism: Mechanism) -> Rectangle:
    """The rectangle whose grid a mechanism's cells lie on."""
    domain: Any = mechanism.domain
    if isinstance(domain, Rectangle):
        return domain
    around = domain.square if isinstance(domain, Disc) else getattr(domain, "grid", None)
    if not isinstance(around, Rectangle):
        raise NotSupported(f"a map needs a region with a grid of cells, not {type(domain).__name__}")
    return around


def map_axes(law: NearestLaw, around: Rectangle, cells: int | tuple[int, int]) -> tuple[Integers, Integers]:
    """The map row of every grid row, and the map column of every grid column."""
    rows, columns = map_shape(cells, float(around.x.width), float(around.y.width))
    if rows > law.rows or columns > law.columns:
        raise InvalidParameter(f"a map of these reports has at most {law.columns} by {law.rows} cells")
    return np.arange(law.rows) * rows // law.rows, np.arange(law.columns) * columns // law.columns


def nearest_grid(law: NearestLaw, around: Rectangle, cells: int | tuple[int, int]) -> tuple[MapGrid, Integers]:
    """The map's grid, and the map cell (numbered among those inside) of every cell of the region."""
    map_row, map_column = map_axes(law, around, cells)
    shape = int(map_row[-1]) + 1, int(map_column[-1]) + 1
    row, column = np.divmod(law.cells, law.columns)
    flat = map_row[row] * shape[1] + map_column[column]
    inside = np.zeros(shape[0] * shape[1], np.bool_)
    inside[flat] = True
    edges = [
        float(side.low) + float(side.width) / side.cells * np.append(np.flatnonzero(np.diff(of, prepend=-1)), len(of))
        for side, of in ((around.x, map_column), (around.y, map_row))
    ]
    grid = MapGrid(edges[0], edges[1], inside.reshape(shape))
    return grid, grid.numbers.ravel()[flat]


def _nearest(mechanism: NearestCells, cells: int | tuple[int, int]) -> PlaceChannel:
    law = NearestLaw(mechanism)
    grid, inputs = nearest_grid(law, bounding_rectangle(mechanism), cells)
    check_size(grid)
    blocks = [min(size, max(FINEST, 4 * parts)) for size, parts in ((law.rows, grid.rows), (law.columns, grid.columns))]
    row, column = np.divmod(law.cells, law.columns)
    block = row * blocks[0] // law.rows * blocks[1] + column * blocks[1] // law.columns
    outputs = np.unique(block, return_inverse=True)[1].astype(np.int64)
    return PlaceChannel(mechanism, grid, law.between(inputs, outputs), (outputs,))


def _coordinates(mechanism: Mechanism, cells: int | tuple[int, int]) -> PlaceChannel:
    parts = mechanism.parts
    if isinstance(mechanism.domain, Parallelogram):
        raise NotSupported("a map of a parallelogram is not supported; use nearest-cells on a Polygon")
    rows, columns = map_rows_and_columns(mechanism, cells)
    laid = {"y": binned(parts["y"], rows), "x": binned(parts["x"], columns)}
    grid = MapGrid(laid["x"].edges, laid["y"].edges, np.ones((rows, columns), np.bool_), laid["x"].circular)
    check_size(grid)
    # In the order of the record's fields, as its reports have them; rows of the matrix always count y first.
    order = list(parts)
    tables = [laid[name].transition.matrix for name in order]
    both = np.einsum("ay,bx->abyx" if order[0] == "y" else "bx,ay->abxy", *tables).reshape(rows * columns, -1)
    groups = tuple(np.repeat(np.arange(len(laid[name].cuts) - 1), np.diff(laid[name].cuts)) for name in order)
    return PlaceChannel(mechanism, grid, both, groups)


def _from_reference(mechanism: TraCSD, cells: int | tuple[int, int]) -> PlaceChannel:
    rows, columns = map_rows_and_columns(mechanism, cells)
    around = bounding_rectangle(mechanism)
    across, up = np.arange(columns + 1) / columns, np.arange(rows + 1) / rows
    edges = [float(side.low) + float(side.width) * share for side, share in ((around.x, across), (around.y, up))]
    grid = MapGrid(edges[0], edges[1], np.ones((rows, columns), np.bool_))
    check_size(grid)
    law = ReferenceLaw(mechanism.channel)
    matrix = [law.mixed(across[j], up[i], across[j + 1], up[i + 1]) for i in range(rows) for j in range(columns)]
    return PlaceChannel(mechanism, grid, np.array(matrix), law.groups)


def check_size(grid: MapGrid) -> None:
    """Refuse maps whose covariance would not fit."""
    if len(grid) > MOST_CELLS:
        raise InvalidParameter(
            f"a map with intervals has at most {MOST_CELLS} cells inside the region, this one {len(grid)}; use fewer"
        )
