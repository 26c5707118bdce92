"""Arrays of places to cells: exactly the cells the scalar path gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch.arrays import Flags
from deniable.batch.grids import Encoder, GridEncoder
from deniable.batch.sampler import Indices
from deniable.core import (
    HALF_TURN,
    Circle,
    CircularMechanism,
    CoordinateMechanism,
    Disc,
    Domain,
    Grid,
    Interval,
    NumericMechanism,
    Parallelogram,
    Polygon,
    Rectangle,
    Sphere,
    cells,
)
from deniable.errors import OutOfDomain


def place_encoder(domain: Domain) -> Encoder | None:
    """The encoder of a region of the plane; None for other domains."""
    if isinstance(domain, Rectangle):
        return RectangleEncoder(domain)
    if isinstance(domain, Disc | Polygon):
        return RegionEncoder(domain)
    if isinstance(domain, Parallelogram | Sphere):
        return CoordinateEncoder(domain, *(cells(count) for count in _lattice(domain)))
    return None


def coordinate_columns(mechanism: CoordinateMechanism, values: NDArray[Any]) -> tuple[Indices, Indices]:
    """The parts' inputs: y first, then x."""
    y, x = mechanism.parts["y"], mechanism.parts["x"]
    assert isinstance(x, NumericMechanism | CircularMechanism)
    assert isinstance(y, NumericMechanism)
    encoder = CoordinateEncoder(mechanism.domain, x.grid, y.grid)
    across, up = encoder.columns(values)
    return up, across


def pairs(values: NDArray[Any], domain: Domain) -> NDArray[Any]:
    """The values as an array of shape (n, 2); anything else is refused."""
    if len(values) == 0:
        return np.empty((0, 2))
    if values.ndim == 1 and values.dtype == object:
        rows: list[Any] = [row if isinstance(row, list | tuple | np.ndarray) else () for row in values]
        if any(len(row) != 2 for row in rows):
            raise domain.refuse("the values must be pairs of finite numbers to belong to")
        values = np.empty((len(rows), 2), object)
        for i, row in enumerate(rows):
            values[i, 0], values[i, 1] = row[0], row[1]
    if values.ndim != 2 or values.shape[1] != 2:
        raise OutOfDomain(f"the values must form an array of pairs of numbers of {domain!r}")
    return values


class RectangleEncoder:
    """Pairs of numbers to cells of a grid, row by row."""

    def __init__(self, domain: Rectangle) -> None:
        self.domain = domain
        self.x = GridEncoder(domain.x, cells(domain.x.cells))
        self.y = GridEncoder(domain.y, cells(domain.y.cells))

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Indices of one chunk of shape (n, 2)."""
        points = pairs(values, self.domain)
        return self.y(points[:, 1]) * self.domain.x.cells + self.x(points[:, 0])

    def belong(self, values: NDArray[np.float64]) -> Flags:
        """Which places lie in the rectangle."""
        x, y = values[:, 0], values[:, 1]
        return (x >= self.x.least) & (x <= self.x.most) & (y >= self.y.least) & (y <= self.y.most)


class RegionEncoder:
    """A disc or a polygon: a look at the grid settles most places, the scalar path those near the border."""

    def __init__(self, domain: Disc | Polygon) -> None:
        self.domain = domain
        self.grid = domain.square if isinstance(domain, Disc) else domain.grid
        self.cell = RectangleEncoder(self.grid)
        self.numbers = np.full(self.grid.size, -1, np.int64)
        inside = np.array(domain.inside, np.int64)
        self.numbers[inside] = np.arange(len(inside))
        rim = _disc_rim(domain) if isinstance(domain, Disc) else np.array(sorted(domain.rim), np.int64)
        self.certain = self.numbers >= 0
        self.certain[rim] = False
        self.outside = self.numbers < 0
        self.outside[rim] = False

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Numbers of one chunk of places."""
        points = pairs(values, self.domain)
        if points.dtype.kind not in "iuf":
            return np.array([self.domain.encode((x, y)) for x, y in points.tolist()], np.int64)
        if not self.cell.belong(points).all():
            raise self.domain.refuse("at least one value is outside")
        where = self.cell(points)
        numbers = self.numbers[where]
        for i in np.nonzero(~self.certain[where])[0].tolist():
            numbers[i] = self.domain.encode((points[i, 0].item(), points[i, 1].item()))
        return numbers

    def belong(self, values: NDArray[np.float64]) -> Flags:
        """Which places lie in the region."""
        mask = self.cell.belong(values)
        where = self.cell(values[mask])
        inside = self.certain[where]
        doubtful = ~inside & ~self.outside[where]
        places = values[mask]
        for i in np.nonzero(doubtful)[0].tolist():
            inside[i] = _belongs(self.domain, (float(places[i, 0]), float(places[i, 1])))
        mask[mask] = inside
        return mask


class CoordinateEncoder:
    """Regions with two coordinates of their own: indices on a grid for each."""

    def __init__(self, domain: Rectangle | Parallelogram | Sphere, x: Grid, y: Grid) -> None:
        self.domain, self.grids = domain, (x, y)
        if isinstance(domain, Parallelogram):
            self.axes: tuple[GridEncoder, GridEncoder] | None = None
            self.doubt = _share_doubt(domain)
        elif isinstance(domain, Sphere):
            # Measured from -180, so that no rounding comes between a longitude and its cell.
            self.axes = (GridEncoder(Interval(-HALF_TURN, HALF_TURN), x), GridEncoder(domain.latitudes, y))
        else:
            self.axes = (GridEncoder(domain.x, x), GridEncoder(domain.y, y))

    def __call__(self, values: NDArray[Any]) -> Indices:
        """Cells of one chunk, row by row."""
        x, y = self.columns(values)
        return y * self.grids[0].size + x

    def columns(self, values: NDArray[Any]) -> tuple[Indices, Indices]:
        """Indices of x and of y."""
        points = pairs(values, self.domain)
        if self.axes is None:
            return self._leaning(points)
        try:
            x, y = self.axes[0](points[:, 0]), self.axes[1](points[:, 1])
        except OutOfDomain:
            x = None
        if x is None:
            raise self.domain.refuse("at least one value is outside")
        if isinstance(self.domain, Sphere):
            x[points[:, 0] == HALF_TURN] = self.grids[0].index(Circle().position(0))
        return x, y

    def _within(self, points: NDArray[Any]) -> Flags:
        assert self.axes is not None
        x, y = points[:, 0], points[:, 1]
        first, second = self.axes
        return (x >= first.least) & (x <= first.most) & (y >= second.least) & (y <= second.most)

    def belong(self, values: NDArray[np.float64]) -> Flags:
        """Which places lie in the region."""
        if self.axes is not None:
            return self._within(values)
        s, t = self._shares(values)
        least, most = np.minimum(s, t), np.maximum(s, t)
        mask = (least > self.doubt) & (most < 1 - self.doubt)
        for i in np.nonzero(~mask & (least >= -self.doubt) & (most <= 1 + self.doubt))[0].tolist():
            mask[i] = _belongs(self.domain, (float(values[i, 0]), float(values[i, 1])))
        return mask

    def _shares(self, points: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        domain = self.domain
        assert isinstance(domain, Parallelogram)
        (a, b), (c, d) = ((float(x), float(y)) for x, y in (domain.across, domain.up))
        x, y = (points[:, i].astype(np.float64) - float(domain.origin[i]) for i in (0, 1))
        area = a * d - b * c
        return (x * d - y * c) / area, (a * y - b * x) / area

    def _leaning(self, points: NDArray[Any]) -> tuple[Indices, Indices]:
        """Shares in doubles; where a cell or the border is in doubt, exact rationals."""
        domain = self.domain
        assert isinstance(domain, Parallelogram)
        exact = (
            points.dtype.kind in "iuf"
            and self.doubt < 1e-3
            and (points.dtype.kind == "f" or np.abs(points).max(initial=0) < 1 << 53)
        )
        shares = self._shares(points) if exact else (np.full(len(points), np.nan),) * 2
        columns = []
        doubtful = np.zeros(len(points), np.bool_)
        for share, grid in zip(shares, self.grids, strict=True):
            scaled = share * grid.steps + float(grid.shift)
            near = np.abs(scaled - np.round(scaled)) <= self.doubt * grid.steps + 1e-9
            doubtful |= ~((share > self.doubt) & (share < 1 - self.doubt)) | near
            columns.append(np.minimum(np.nan_to_num(scaled), grid.last).astype(np.int64))
        for i in np.nonzero(doubtful)[0].tolist():
            s, t = domain.coordinates(points[i].tolist())
            columns[0][i] = self.grids[0].index(s / domain.sides.x.high)
            columns[1][i] = self.grids[1].index(t / domain.sides.y.high)
        return columns[0], columns[1]


def belong_many(domain: Domain, values: NDArray[np.float64]) -> Flags:
    """Which of many places belong to a region; nan belongs to none."""
    encoder = place_encoder(domain)
    if isinstance(encoder, RectangleEncoder | RegionEncoder | CoordinateEncoder):
        return encoder.belong(values)
    return np.array([_belongs(domain, (x, y)) for x, y in values.tolist()], np.bool_)


def _belongs(domain: Domain, value: tuple[float, float]) -> bool:
    try:
        domain.encode(value)
    except OutOfDomain:
        return False
    return True


def _lattice(domain: Parallelogram | Sphere) -> tuple[int, int]:
    return (domain.cells, domain.latitudes.cells) if isinstance(domain, Sphere) else domain.cells


def _disc_rim(domain: Disc) -> Indices:
    """The cells of the square that the circle may touch: not all four corners on one side of it."""
    n = domain.cells
    ticks = 2 * np.arange(n + 1, dtype=np.int64) - n
    squares = ticks[:, None] ** 2 + ticks[None, :] ** 2
    corners = np.stack([squares[:-1, :-1], squares[1:, :-1], squares[:-1, 1:], squares[1:, 1:]])
    inner = corners.max(axis=0) <= n * n
    # The nearest point of a cell to the center may lie on a side: only cells in the middle row or column have such.
    nearest = np.maximum(np.minimum(np.abs(ticks[:-1]), np.abs(ticks[1:])), 0)
    nearest[(ticks[:-1] < 0) & (ticks[1:] > 0)] = 0
    outer = nearest[:, None] ** 2 + nearest[None, :] ** 2 > n * n
    return np.nonzero(~(inner | outer).ravel())[0]


def _share_doubt(domain: Parallelogram) -> float:
    """How far a share computed in doubles may be off."""
    largest = max(abs(float(part)) for corner in domain.corners for part in corner)
    (a, b), (c, d) = ((float(x), float(y)) for x, y in (domain.across, domain.up))
    longest = max(abs(a), abs(b), abs(c), abs(d))
    return float(64 * 2.0**-53 * (largest + longest) * longest / abs(a * d - b * c))
