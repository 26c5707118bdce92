"""Places: which mechanism puts a single report nearest to the truth.

The error is the average Euclidean distance between the true place, anywhere in the region with equal chance, and the
reported one. The interval's half width is the radius that holds 95 % of the reports. Both are those of one report: more
users do not make any of them nearer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Keystream, randomize_many
from deniable.batch.place_decoding import decode_places
from deniable.batch.sampler import uniform_below
from deniable.channels import TwoLevel
from deniable.channels.nearest import NearestCells
from deniable.design.direction_split import direction_split
from deniable.domains import Disc, Domain, Interval, Points, Rectangle
from deniable.errors import NotSupported
from deniable.estimators.distribution import binned
from deniable.exact import Epsilon
from deniable.mechanisms import Mechanism, make_mechanism
from deniable.mechanisms.spatial.tracs_c import TraCSC
from deniable.mechanisms.spatial.tracs_d import TraCSD
from deniable.planning.frequency import attempt
from deniable.planning.question import Question
from deniable.planning.way import Floats, LeftOut, Prediction, Way
from deniable.utility.rows import dense

NAMES: dict[type[Domain], tuple[str, ...]] = {
    Rectangle: ("nearest-cells", "tracs-c", "tracs-d"),
    Disc: ("nearest-cells",),
    Points: ("nearest-places",),
}
ON_CELLS = ("exponential-cells", "l-srr", "planar-laplace")
"""Their rows are written out, so on a rectangle they get a grid of at most COARSE cells a side."""
COARSE = 12
SIDE = 14
"""Places looked at along a side."""
MOST_LOOKED_AT = 200
HELD = 0.95
OFFSETS = 1024
FINE = 1 << 30
GAUSS = (-1 / math.sqrt(12), 1 / math.sqrt(12))
"""Two points on a cell's diagonal stand for all of it: the mixed term cancels over the region."""


class Distances(NamedTuple):
    """Distances with their probabilities."""

    distances: Floats
    chances: Floats

    def prediction(self) -> Prediction:
        """The mean, and the radius that holds 95 %."""
        order = np.argsort(self.distances, axis=None)
        distances, chances = self.distances.ravel()[order], self.chances.ravel()[order]
        held = np.searchsorted(np.cumsum(chances), HELD * chances.sum())
        return Prediction(float(distances @ chances / chances.sum()), float(distances[min(held, len(distances) - 1)]))


def place_ways(question: Question, epsilon: Epsilon, *, slow: bool = True) -> Iterator[Way | LeftOut]:
    """Every way to ask for a place at this epsilon."""
    domain, each = question.domain, question.each(epsilon)
    for name in NAMES[type(domain)]:
        yield attempt(name, partial(make_mechanism, name, domain=domain, epsilon=each), partial(_way, None))
    if not slow:
        return
    coarse, inner = domain, None
    if isinstance(domain, Rectangle) and max(domain.x.cells, domain.y.cells) > COARSE:
        coarse = Rectangle(*(Interval(s.low, s.high, cells=min(s.cells, COARSE)) for s in (domain.x, domain.y)))
        inner = f"{coarse.x.cells} x {coarse.y.cells} cells"
    for name in ON_CELLS:
        make = partial(make_mechanism, name, domain=coarse, epsilon=each)
        yield attempt(name, make, partial(_way, inner))
    if isinstance(domain, Rectangle):
        yield LeftOut("designed-places", "found by a linear program in about a minute: `deniable design --domain rectangle`")


def _way(inner: str | None, mechanism: Mechanism) -> Way:
    found = predicted(mechanism)
    return Way(
        name=mechanism.name,
        inner=inner,
        asked=mechanism,
        estimator="none: every report is read as a place",
        predict=lambda n: found,
        losses=partial(_losses, mechanism),
        root=False,
    )


@lru_cache(maxsize=64)
def predicted(mechanism: Mechanism) -> Prediction:
    """The average distance of a mechanism's report, from its weights."""
    if isinstance(mechanism, TraCSC):
        return _by_axis(mechanism)
    if isinstance(mechanism, TraCSD):
        return _by_direction(mechanism)
    domain = mechanism.domain
    looked = _looked_at(domain)
    middles = places_of(domain)
    rows = _rows(mechanism, looked)
    reported = _read(mechanism, np.arange(mechanism.channel.outputs))
    true = middles[looked]
    sizes = _cell(domain)
    distances, chances = [], []
    for way in GAUSS if sizes else (0.0,):
        moved = true + (way * np.array(sizes) if sizes else 0.0)
        distances.append(np.hypot(*(moved[:, None, :] - reported[None]).transpose(2, 0, 1)))
        chances.append(rows)
    return Distances(np.array(distances), np.array(chances)).prediction()


def places_of(domain: Domain) -> Floats:
    """The middle of every cell, or every place."""
    return np.array([domain.decode(index) for index in range(domain.size)], np.float64)


def _cell(domain: Domain) -> tuple[float, float] | None:
    """The size of a cell of a rectangle: true places lie anywhere in it."""
    if isinstance(domain, Rectangle):
        return float(domain.x.width) / domain.x.cells, float(domain.y.width) / domain.y.cells
    return None


def _looked_at(domain: Domain) -> NDArray[np.int64]:
    """Inputs spread evenly: all of few, a grid of many."""
    if domain.size <= MOST_LOOKED_AT:
        return np.arange(domain.size)
    if isinstance(domain, Rectangle):
        rows, columns = (_spread(side.cells, SIDE) for side in (domain.y, domain.x))
        return (rows[:, None] * domain.x.cells + columns).ravel()
    return _spread(domain.size, MOST_LOOKED_AT)


def _spread(size: int, count: int) -> NDArray[np.int64]:
    count = min(size, count)
    return ((np.arange(count) + 0.5) * size / count).astype(np.int64)


def _rows(mechanism: Mechanism, looked: NDArray[np.int64]) -> Floats:
    channel = mechanism.channel
    if not (isinstance(channel, TwoLevel) and isinstance(channel.sets, NearestCells)):
        return dense(channel, looked)
    sets = channel.sets
    cells = np.arange(sets.rows * sets.columns) if sets.inside_region is None else np.array(sets.inside_region)
    row, column = np.divmod(cells, sets.columns)
    square = (row[looked, None] - row) ** 2 + (column[looked, None] - column) ** 2
    # A stable sort takes cells equally far away by position, as the channel does.
    nearest = np.argsort(square, axis=1, kind="stable")[:, : sets.members]
    found = np.full(square.shape, channel.low / channel.total)
    np.put_along_axis(found, nearest, channel.high / channel.total, axis=1)
    return found


def _by_axis(mechanism: TraCSC) -> Prediction:
    """Both coordinates err independently, so the law of the distance follows from those of the offsets."""
    offsets = [_offsets(part) for part in mechanism.parts.values()]
    (up, up_chance), (across, across_chance) = offsets
    return Distances(np.hypot(up[:, None], across[None]), up_chance[:, None] * across_chance[None]).prediction()


def _offsets(part: Mechanism) -> tuple[Floats, Floats]:
    """How far a coordinate's report lies from the truth, in bins, for truths spread evenly."""
    assert isinstance(part.domain, Interval)
    laid = binned(part, min(128, part.domain.cells))
    matrix, width = laid.transition.matrix, float(part.domain.width)
    bins = len(matrix)
    cuts = laid.cuts / laid.cuts[-1] * width
    outputs, inputs = (cuts[:-1] + cuts[1:]) / 2, (np.arange(bins) + 0.5) / bins * width
    apart = np.abs(outputs[None] - inputs[:, None])
    size = width / OFFSETS
    number = np.minimum(apart / size, OFFSETS - 1).astype(np.int64)
    chance: Floats = np.bincount(number.ravel(), weights=(matrix / bins).ravel(), minlength=OFFSETS).astype(np.float64)
    total = np.bincount(number.ravel(), weights=(matrix / bins * apart).ravel(), minlength=OFFSETS)
    used = chance > 0
    return total[used] / chance[used], chance[used]


def _by_direction(mechanism: TraCSD) -> Prediction:
    domain = mechanism.domain
    if not isinstance(domain, Rectangle) or mechanism.reference is not None or domain.x.width != domain.y.width:
        raise NotSupported("tracs-d is predicted on squares with their center as reference")
    side = float(domain.x.width)
    return Prediction(direction_split(mechanism.privacy, width=side, height=side).error, None)


def _losses(mechanism: Mechanism, n: int, runs: int, stream: Keystream) -> Floats:
    domain = mechanism.domain
    found = np.empty(runs)
    for run in range(runs):
        true = _people(domain, n, stream)
        values = true if not isinstance(domain, Points) else [tuple(place) for place in true.tolist()]
        reported = _read(mechanism, randomize_many(mechanism, values, stream).outputs)
        found[run] = np.hypot(*(true - reported).T).mean()
    return found


def _read(mechanism: Mechanism, outputs: Any) -> Floats:
    """The place every output stands for."""
    found = decode_places(mechanism, outputs)
    if found is not None:
        return found
    every = np.array([mechanism.decode(output) for output in range(mechanism.channel.outputs)], np.float64)
    return every[np.asarray(outputs, np.int64)]


def _people(domain: Domain, n: int, stream: Keystream) -> Floats:
    """n places spread evenly."""
    if not isinstance(domain, Rectangle):
        return places_of(domain)[uniform_below(domain.size, n, stream)]
    sides = ((side, (uniform_below(FINE, n, stream) + 0.5) / FINE) for side in (domain.x, domain.y))
    return np.stack([float(side.low) + float(side.width) * at for side, at in sides], axis=1)
