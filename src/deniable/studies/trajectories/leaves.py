"""Map cells divided further where many people are: places need not be spread evenly within a cell for its interval to hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.core import DirectionDistance, Mechanism, NearestCellSets, TwoLevel
from deniable.estimators import IMAGINED, binned
from deniable.studies.arrays import Flags, Floats, Integers
from deniable.studies.trajectories.nearest_law import NearestLaw
from deniable.studies.trajectories.place_channel import PlaceChannel, Source, bounding_rectangle, cells_along
from deniable.studies.trajectories.reference_law import ReferenceLaw
from deniable.studies.trajectories.strict_bounds import StrictBounds

MOST_LEAVES = 640
ROUNDS = 6
MOST_GROUPS = 96
"""Along each coordinate."""
FINEST_SIDE = 128
"""Coordinates are told apart so finely, at most."""


@dataclass(frozen=True, eq=False)
class _Ground:
    """The finest cells there are, and what a block of them reports: its first row, the one behind its last, and its columns."""

    x_edges: Floats
    y_edges: Floats
    counts: Floats
    chances: Callable[[Integers], Floats]
    """The probabilities of a block of evenly mixed finest cells; none when it has no cell in the region."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """Blocks of finest cells that fill the region, small where many people are, and what the reports say of them."""

    blocks: Integers
    boxes: Floats
    """Left, lower, right and upper side of every block."""
    bounds: StrictBounds

    def interval(self, weights: Floats, reach: float) -> tuple[float, float]:
        """Plausible values of a weighted sum of the blocks' shares."""
        return self.bounds.interval(weights, reach)

    def covered(self, low: tuple[float, float], high: tuple[float, float]) -> Floats:
        """Which part of every block lies in a rectangle."""
        left, lower, right, upper = self.boxes.T
        across = np.minimum(right, high[0]) - np.maximum(left, low[0])
        up = np.minimum(upper, high[1]) - np.maximum(lower, low[1])
        return np.asarray(np.maximum(across, 0) * np.maximum(up, 0) / ((right - left) * (upper - lower)))

    @cached_property
    def middles(self) -> Floats:
        """The middle of every block."""
        return np.asarray((self.boxes[:, :2] + self.boxes[:, 2:]) / 2)


def leaves(laid: PlaceChannel, source: Source, shares: Floats) -> Leaves:
    """The fitted map's cells, divided where the most plausible shares are large; `shares` are those of the fit.

    A block is divided while its share could show: when its places are not spread evenly, the frequencies of reports move by
    about its share, and noise is about 1/sqrt(n).
    """
    ground = _ground(laid, source)
    n = int(ground.counts.sum())
    rows = np.searchsorted(ground.y_edges, laid.grid.y_edges - 1e-9 * np.ptp(ground.y_edges))
    columns = np.searchsorted(ground.x_edges, laid.grid.x_edges - 1e-9 * np.ptp(ground.x_edges))
    row, column = np.divmod(laid.grid.cells, laid.grid.columns)
    blocks = np.stack([rows[row], rows[row + 1], columns[column], columns[column + 1]], axis=1)
    table = np.array([ground.chances(block) for block in blocks])
    # The fit is bent; after the first round its expectations give way to those of the most plausible shares.
    likely = _likely(shares, table, n)
    for round_ in range(ROUNDS):
        found = StrictBounds(table / likely @ table.T, table @ (ground.counts / n / likely), n)
        heavy = np.flatnonzero((found.best > 1 / np.sqrt(n)) & _divisible(blocks))
        heavy = heavy[np.argsort(-found.best[heavy], kind="stable")][: max(0, (MOST_LEAVES - len(blocks)) // 3)]
        likely = _likely(found.best, table, n)
        if round_ == ROUNDS - 1 or not len(heavy):
            break
        kept = np.delete(np.arange(len(blocks)), heavy)
        parts = [part for block in blocks[heavy] for part in _quarters(block)]
        known = [(part, chances) for part in parts if len(chances := ground.chances(part))]
        blocks = np.concatenate([blocks[kept], [part for part, _ in known]])
        table = np.concatenate([table[kept], [chances for _, chances in known]])
    found = StrictBounds(table / likely @ table.T, table @ (ground.counts / n / likely), n)
    boxes = np.stack([edges[blocks[:, i]] for edges, i in _sides(ground)], axis=1)
    return Leaves(blocks, boxes, _inflated(found, ground, table, likely))


def _likely(shares: Floats, table: Floats, n: int) -> Floats:
    """Expected frequencies. Few reports seem to know much: some imagined ones keep what was not seen possible."""
    real = n / (n + IMAGINED)
    found = real * (shares @ table) + (1 - real) * table.mean(axis=0)
    # A group of reports that nothing leads to has no reports either.
    return np.where(found > 0, found, 1.0)


def _inflated(found: StrictBounds, ground: _Ground, table: Floats, likely: Floats) -> StrictBounds:
    """The bounds, wider when the best shares explain the reports less well than noise would let them."""
    n, best = found.n, found.best
    squares = float((n * (ground.counts / n - best @ table) ** 2 / likely).sum())
    free = max(len(likely) - int(np.count_nonzero(best)), 1)
    excess = squares / free
    # Below 1, or above by chance only: noise as it should be.
    return StrictBounds(found.squares, found.scores, n, excess if excess > 1 + 3 * np.sqrt(2 / free) else 1.0)


def _sides(ground: _Ground) -> list[tuple[Floats, int]]:
    return [(ground.x_edges, 2), (ground.y_edges, 0), (ground.x_edges, 3), (ground.y_edges, 1)]


def _divisible(blocks: Integers) -> Flags:
    return np.asarray((blocks[:, 1] - blocks[:, 0] > 1) | (blocks[:, 3] - blocks[:, 2] > 1))


def _quarters(block: Integers) -> list[Integers]:
    """Up to four parts: halves of each side that has more than one cell."""
    down, up, left, right = block.tolist()
    across = [(left, (left + right) // 2), ((left + right) // 2, right)] if right - left > 1 else [(left, right)]
    along = [(down, (down + up) // 2), ((down + up) // 2, up)] if up - down > 1 else [(down, up)]
    return [np.array([*rows, *columns]) for rows in along for columns in across]


def _ground(laid: PlaceChannel, source: Source) -> _Ground:
    channel = laid.mechanism.channel
    if isinstance(channel, DirectionDistance):
        return _from_reference(laid, channel, source)
    nearest = isinstance(channel, TwoLevel) and isinstance(channel.sets, NearestCellSets)
    return _nearest(laid, source) if nearest else _coordinates(laid, source)


def _from_reference(laid: PlaceChannel, channel: DirectionDistance, source: Source) -> _Ground:
    law = ReferenceLaw(channel)
    counts = [side * 2 ** int(np.log2(max(FINEST_SIDE // side, 1))) for side in (laid.grid.columns, laid.grid.rows)]
    edges: list[Floats] = [
        ends[0] + (ends[-1] - ends[0]) * np.arange(count + 1.0) / count
        for ends, count in zip((laid.grid.x_edges, laid.grid.y_edges), counts, strict=True)
    ]

    def chances(block: Integers) -> Floats:
        down, up, left, right = block.tolist()
        return law.mixed(left / counts[0], down / counts[1], right / counts[0], up / counts[1])

    return _Ground(edges[0], edges[1], laid.counts(source), chances)


def _nearest(laid: PlaceChannel, source: Source) -> _Ground:
    channel = laid.mechanism.channel
    assert isinstance(channel, TwoLevel)
    law = NearestLaw(channel)
    around = bounding_rectangle(laid.mechanism)
    numbers = np.full(law.rows * law.columns, -1, np.int64)
    numbers[law.cells] = np.arange(law.size)
    grid = numbers.reshape(law.rows, law.columns)

    def chances(block: Integers) -> Floats:
        down, up, left, right = block.tolist()
        mine = grid[down:up, left:right].ravel()
        return law.mixed(mine[mine >= 0], laid.groups[0], laid.matrix.shape[1])

    edges: list[Floats] = [
        float(side.low) + float(side.width) / side.cells * np.arange(side.cells + 1.0) for side in (around.x, around.y)
    ]
    return _Ground(edges[0], edges[1], laid.counts(source), chances)


def _coordinates(laid: PlaceChannel, source: Source) -> _Ground:
    parts: dict[str, Mechanism] = laid.mechanism.parts  # type: ignore[attr-defined]
    fitted = {"x": laid.grid.columns, "y": laid.grid.rows}
    tables, edges, groups = {}, {}, {}
    for name, count in fitted.items():
        times = max(1, min(FINEST_SIDE // count, cells_along(laid.mechanism, name) // count))
        finer = binned(parts[name], count * 2 ** int(np.log2(times)))
        # Reports told apart as finely as needed, not more: every few of the finer cuts.
        cuts = np.unique(
            np.append(np.arange(0, len(finer.cuts) - 1, -(-(len(finer.cuts) - 1) // MOST_GROUPS)), len(finer.cuts) - 1)
        )
        tables[name] = np.add.reduceat(finer.transition.matrix, cuts[:-1], axis=1)
        groups[name] = np.repeat(np.arange(len(cuts) - 1), np.diff(finer.cuts[cuts]))
        edges[name] = finer.edges
    counted = np.empty((0, tables["x"].shape[1] * tables["y"].shape[1]))
    counts = PlaceChannel(laid.mechanism, laid.grid, counted, tuple(groups[name] for name in parts)).counts(source)
    first = next(iter(parts))

    def chances(block: Integers) -> Floats:
        down, up, left, right = block.tolist()
        both = {"y": tables["y"][down:up].mean(axis=0), "x": tables["x"][left:right].mean(axis=0)}
        return np.outer(both[first], both["x" if first == "y" else "y"]).ravel()

    return _Ground(edges["x"], edges["y"], counts, chances)
