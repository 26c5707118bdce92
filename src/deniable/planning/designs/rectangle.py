"""The best mechanism on a rectangle: a reference program on a grid of places, beside the nearest cells."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.core import OGPM, DesignedPlaces, Epsilon, Interval, NearestCells, Rectangle
from deniable.errors import NotSupported
from deniable.estimators import dense
from deniable.planning.designs.answer import Answer, Published
from deniable.planning.designs.cutting_planes import LossCuts, Solution, solve
from deniable.planning.designs.lower_bound import mean_cuts
from deniable.planning.designs.plane_bound import plane_bound
from deniable.planning.designs.problem import DistanceLoss, Prior
from deniable.planning.designs.rounding import LIGHTEST, TOTAL_BITS, NotPrivate

PARTS = 2
"""A uniform prior's cell around each place is cut into this many parts along each side for the bound."""


class Resolution(NamedTuple):
    """Places along each side of the program's grid, the mechanism's own cells along each side, and the bound's depth.

    A table of places times cells has to stay small.
    """

    side: int
    cells: int
    depth: int

    @classmethod
    def of(cls, epsilon: Epsilon, worst: bool) -> Resolution:
        """Finer where errors are smaller; in the worst case every place is a whole number of half cells."""
        return cls(17, 32, 3) if float(epsilon) <= 3 else cls(31, 60, 2) if worst else cls(25, 48, 2)


def design_rectangle(domain: Rectangle, loss: DistanceLoss, epsilon: Epsilon, prior: Prior) -> Answer:
    """The least worst-case or average error in the plane."""
    begin = time.monotonic()
    if loss.exponent is None or prior.kind not in ("worst", "uniform"):
        raise NotSupported("on a rectangle the loss must be a power of the distance and the prior 'worst' or 'uniform'")
    worst, e, k = prior.kind == "worst", math.exp(float(epsilon)), loss.exponent
    size = float(domain.x.width), float(domain.y.width)
    side, cells, depth = Resolution.of(epsilon, worst)
    grid = _Grid(size, side, worst)
    cuts = LossCuts(_distances(grid.places[grid.chosen], grid.places) ** k, grid.orbits, e, worst)
    solution = solve(cuts, cuts.start(), np.ones(1) if worst else grid.chances, e, tolerance=1e-4)
    bound = max(_bound(solution, grid, k, e, worst, depth), 0.0)
    reference = solution.reference
    if worst and solution.finished:
        # For the mechanism, values between the program's places count as well; the bound is better without them.
        between = _Grid(size, 2 * side - 1, worst)
        finer = LossCuts(_distances(between.places[between.chosen], grid.places) ** k, grid.orbits, e, worst)
        reference = solve(finer, reference, np.ones(1), e, tolerance=1e-3).reference
    candidates: list[DesignedPlaces | NearestCells] = [
        _rounded(domain, epsilon, grid, cuts.spread(reference), cells),
        _nearest(domain, epsilon, cells),
    ]
    costs = [_cost(mechanism, k, worst) for mechanism in candidates]
    best = int(np.argmin(costs))
    return Answer(
        mechanism=candidates[best],
        worst_case=costs[best],
        lower_bound=bound,
        published=_split_over_axes(size, epsilon, k, worst),
        seconds=time.monotonic() - begin,
        method="reference density on a grid of places by linear program"
        if best == 0
        else "the nearest cells, which no design beat",
        objective=f"{'worst-case' if worst else 'average'} {loss.name} distance",
        certified=solution.finished,
    )


class _Grid:
    """Places, which of them mirror each other, and the probability of their cells under a uniform prior."""

    def __init__(self, size: tuple[float, float], side: int, worst: bool) -> None:
        self.size, self.side = size, side
        steps = (np.arange(side) / (side - 1), np.arange(side) / (side - 1))
        if not worst:
            steps = ((np.arange(side) + 0.5) / side, (np.arange(side) + 0.5) / side)
        column, row = np.meshgrid(np.arange(side), np.arange(side))
        self.columns, self.rows = column.ravel(), row.ravel()
        self.shares = np.stack([steps[0][self.columns], steps[1][self.rows]], axis=1)
        self.places = self.shares * size
        low_column, low_row = (np.minimum(index, side - 1 - index) for index in (self.columns, self.rows))
        if size[0] == size[1]:
            low_column, low_row = np.minimum(low_column, low_row), np.maximum(low_column, low_row)
        keys = low_column * side + low_row
        _, self.chosen, self.orbits, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        self.chances = counts / counts.sum()

    def images(self, place: Floats) -> list[Floats]:
        """The places that mirror a list of places."""
        mirrored = [place]
        for axis in (0, 1):
            mirrored += [np.where(np.arange(2) == axis, np.array(self.size) - each, each) for each in mirrored]
        if self.size[0] == self.size[1]:
            mirrored += [each[:, ::-1] for each in mirrored]
        return mirrored


def _distances(a: Floats, b: Floats) -> Floats:
    return np.hypot(a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1])


def _bound(solution: Solution, grid: _Grid, k: float, e: float, worst: bool, depth: int) -> float:
    weights = solution.multipliers
    kept = weights > 1e-8 * max(float(weights.max()), 1e-300)
    if not kept.any():
        return 0.0
    asked, which = np.unique(solution.cuts.tags[kept, 0].astype(np.int64), return_inverse=True)
    (levels,), weights = mean_cuts(which, weights[kept], solution.cuts.levels[kept])
    x = grid.places[grid.chosen][asked]
    blur = 0.0
    if not worst:
        # A place stands for its cell; each part of the cell has the cell's level.
        cell = np.array(grid.size) / grid.side
        inner = (np.arange(PARTS) + 0.5) / PARTS - 0.5
        offsets = np.stack(np.meshgrid(inner, inner), axis=-1).reshape(-1, 2) * cell
        x = (x[:, None, :] + offsets).reshape(-1, 2)
        levels, weights = np.repeat(levels, PARTS**2), np.repeat(weights, PARTS**2)
        blur = float(np.hypot(*cell)) / (2 * PARTS)
    images = grid.images(x)
    everywhere = np.concatenate(images)
    return plane_bound(k, e, everywhere, np.tile(levels, len(images)), np.tile(weights, len(images)), grid.size, blur, depth)


def _rounded(domain: Rectangle, epsilon: Epsilon, grid: _Grid, reference: Floats, cells: int) -> DesignedPlaces:
    """The integer mechanism on cells of its own."""
    coarse = Rectangle(
        Interval(domain.x.low, domain.x.high, cells=min(domain.x.cells, cells)),
        Interval(domain.y.low, domain.y.high, cells=min(domain.y.cells, cells)),
    )
    total = 1 << TOTAL_BITS
    heavy: dict[tuple[int, int], float] = {}
    for (across, up), weight in zip(grid.shares.tolist(), reference.tolist(), strict=True):
        # Places are rounded to half cells; those that meet are added up.
        place = round(up * 2 * coarse.y.cells), round(across * 2 * coarse.x.cells)
        heavy[place] = heavy.get(place, 0.0) + weight
    kept = [(place, weight) for place, weight in sorted(heavy.items()) if weight > LIGHTEST]
    mechanism = DesignedPlaces(
        domain=coarse,
        epsilon=epsilon,
        columns=[place[1] for place, _ in kept],
        rows=[place[0] for place, _ in kept],
        weights=[max(round(weight * total), 1) for _, weight in kept],
        total=total,
    )
    if not mechanism.certificate().holds:
        raise NotPrivate("a designed mechanism's largest ratio exceeds e**epsilon")
    return mechanism


def _nearest(domain: Rectangle, epsilon: Epsilon, cells: int) -> NearestCells:
    coarse = [Interval(axis.low, axis.high, cells=min(axis.cells, cells)) for axis in (domain.x, domain.y)]
    return NearestCells(domain=Rectangle(*coarse), epsilon=epsilon)


def _cost(mechanism: DesignedPlaces | NearestCells, k: float, worst: bool) -> float:
    """The largest error over all places (at the corners of cells), or the average one (by Gauss points in every cell)."""
    domain = mechanism.domain
    assert isinstance(domain, Rectangle)
    outputs = np.array([mechanism.decode(output) for output in range(mechanism.channel.outputs)])
    chances = dense(mechanism.channel, np.arange(domain.size))
    sides = float(domain.x.width) / domain.x.cells, float(domain.y.width) / domain.y.cells
    corner = np.array([float(domain.x.low), float(domain.y.low)])
    column, row = np.arange(domain.size) % domain.x.cells, np.arange(domain.size) // domain.x.cells
    nodes = (0.0, 1.0) if worst else (0.5 - math.sqrt(1 / 12), 0.5 + math.sqrt(1 / 12))
    rows = []
    for across in nodes:
        for up in nodes:
            x = corner + np.stack([(column + across) * sides[0], (row + up) * sides[1]], axis=1)
            rows.append((chances * _distances(x, outputs) ** k).sum(axis=1))
    errors = np.array(rows)
    return float(errors.max() if worst else errors.mean())


def _split_over_axes(size: tuple[float, float], epsilon: Epsilon, k: float, worst: bool) -> Published:
    """The dissertation's way: half of epsilon for either axis, each by its window."""
    cells = 64
    channel = OGPM(domain=Interval(0, 1, cells=cells), epsilon=Epsilon(epsilon.exact / 2)).channel
    row = dense(channel, np.arange(cells))
    middles = (np.arange(cells) + 0.5) / cells
    tried = np.arange(0, cells, 4) if not worst else np.array([0, cells // 4, cells // 2])
    x = middles[tried] if not worst else np.array([0.0, 0.25, 0.5])
    across, up = np.abs(middles - x[:, None]) * size[0], np.abs(middles - x[:, None]) * size[1]
    errors = np.array(
        [
            [np.einsum("i,j,ij->", row[a], row[b], np.hypot(across[i][:, None], up[j][None]) ** k) for j, b in enumerate(tried)]
            for i, a in enumerate(tried)
        ]
    )
    return {"name": "ogpm on either axis", "worst_case": float(errors.max() if worst else errors.mean())}
