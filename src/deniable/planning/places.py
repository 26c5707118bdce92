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

from deniable.batch import Floats, Keystream, decode_places, randomize_many, uniform_below
from deniable.core import (
    Disc,
    Domain,
    Epsilon,
    Interval,
    Mechanism,
    NearestCells,
    Points,
    Rectangle,
    TraCSC,
    TraCSD,
    mechanisms_for,
)
from deniable.errors import NotSupported
from deniable.estimators import binned, dense
from deniable.planning.designs.direction_split import direction_split
from deniable.planning.frequency import attempt, each_way
from deniable.planning.question import Question
from deniable.planning.way import LeftOut, Prediction, Way

COARSE = 12
"""Where all weights are written out, a rectangle or disc gets a grid of at most so many cells a side."""
SIDE = 14
"""Places looked at along a side."""
ACROSS, FINEST = 20, 4096
"""Places looked at along the diameter of a disc; steps of the histogram of distances."""
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
    yield from each_way("location", domain, each, partial(_way, None), slow=False)
    if not slow:
        return
    coarse, inner = domain, None
    if isinstance(domain, Rectangle) and max(domain.x.cells, domain.y.cells) > COARSE:
        coarse = Rectangle(*(Interval(s.low, s.high, cells=min(s.cells, COARSE)) for s in (domain.x, domain.y)))
        inner = f"{coarse.x.cells} x {coarse.y.cells} cells"
    elif isinstance(domain, Disc) and domain.cells > COARSE:
        coarse, inner = Disc((domain.x, domain.y), domain.radius, cells=COARSE), f"{COARSE} cells across"
    for kind in mechanisms_for("location", coarse):
        if not kind.slow:
            continue
        if coarse.size > COARSE**2:
            yield LeftOut(kind.name, f"every pair of places has its own weight: weighed for at most {COARSE**2} places")
            continue
        yield attempt(kind.name, partial(kind, domain=coarse, epsilon=each), partial(_way, inner))
    if isinstance(domain, Rectangle):
        yield LeftOut("designed-places", "found by a linear program in about a minute: `deniable design --domain rectangle`")


def _way(inner: str | None, mechanism: Mechanism) -> Way:
    prediction = predicted(mechanism)
    return Way(
        name=mechanism.name,
        inner=inner,
        asked=mechanism,
        estimator="none: every report is read as a place",
        predict=lambda n: prediction,
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
    domain, channel = mechanism.domain, mechanism.channel
    if isinstance(mechanism, NearestCells):
        return _by_nearness(mechanism)
    inputs, true = _true_places(domain)
    named, which = np.unique(inputs, return_inverse=True)
    rows = dense(channel, named)[which]
    reported = _read(mechanism, np.arange(channel.outputs))
    distances = np.hypot(*(true[:, :, None] - reported).transpose(3, 0, 1, 2))
    return Distances(distances, np.broadcast_to(rows[:, None], distances.shape)).prediction()


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


def _by_nearness(mechanism: NearestCells) -> Prediction:
    """One true place after the other, because grids may have a million cells; the radius is read from a histogram."""
    domain, channel, sets = mechanism.domain, mechanism.channel, mechanism.sets
    reported = _read(mechanism, np.arange(channel.outputs))
    cells = np.arange(sets.rows * sets.columns) if sets.inside_region is None else np.array(sets.inside_region)
    row, column = np.divmod(cells, sets.columns)
    inputs, true = _true_places(domain)
    bins = FINEST / float(np.hypot(*np.ptp(reported, axis=0)))
    total, histogram = 0.0, np.zeros(2 * FINEST)
    for index, places in zip(inputs.tolist(), true, strict=True):
        square = (row - row[index]) ** 2 + (column - column[index]) ** 2
        edge = np.partition(square, sets.members - 1)[sets.members - 1]
        # Of the cells equally far away some are in the set: each of them in part, since places all around are looked at.
        nearer, tied = square < edge, square == edge
        near = nearer + tied * ((sets.members - nearer.sum()) / tied.sum())
        chances = (channel.low + (channel.high - channel.low) * near) / channel.total
        for place in places:
            distances = np.hypot(*(reported - place).T)
            total += float((distances * chances).sum())
            histogram += np.bincount((distances * bins).astype(np.int64), weights=chances, minlength=2 * FINEST)
    looked = true.shape[0] * true.shape[1]
    held = int(np.searchsorted(np.cumsum(histogram), HELD * looked))
    return Prediction(total / looked, (held + 0.5) / bins)


def _true_places(domain: Domain) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Inputs, and for each of them the places that stand for it."""
    if isinstance(domain, Disc):
        places = places_of(Disc((domain.x, domain.y), domain.radius, cells=ACROSS))
        return np.array([domain.encode(tuple(place)) for place in places.tolist()]), places[:, None]
    looked, sizes = _looked_at(domain), _cell(domain)
    middles = np.array([domain.decode(index) for index in looked.tolist()], np.float64)
    moves = np.array([(0.0, 0.0)] if sizes is None else [(way * sizes[0], way * sizes[1]) for way in GAUSS])
    return looked, middles[:, None] + moves


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
    losses = np.empty(runs)
    for run in range(runs):
        true = _people(domain, n, stream)
        values = true if not isinstance(domain, Points) else [tuple(place) for place in true.tolist()]
        reported = _read(mechanism, randomize_many(mechanism, values, stream).outputs)
        losses[run] = np.hypot(*(true - reported).T).mean()
    return losses


def _read(mechanism: Mechanism, outputs: Any) -> Floats:
    """The place every output stands for."""
    places = decode_places(mechanism, outputs)
    if places is not None:
        return places
    every = np.array([mechanism.decode(output) for output in range(mechanism.channel.outputs)], np.float64)
    return every[np.asarray(outputs, np.int64)]


def _people(domain: Domain, n: int, stream: Keystream) -> Floats:
    """n places spread evenly."""
    if isinstance(domain, Disc):
        out, turn = ((uniform_below(FINE, n, stream) + 0.5) / FINE for _ in range(2))
        away, angle = float(domain.radius) * np.sqrt(out), 2 * math.pi * turn
        return np.stack([float(domain.x) + away * np.cos(angle), float(domain.y) + away * np.sin(angle)], axis=1)
    if not isinstance(domain, Rectangle):
        return places_of(domain)[uniform_below(domain.size, n, stream)]
    sides = ((side, (uniform_below(FINE, n, stream) + 0.5) / FINE) for side in (domain.x, domain.y))
    return np.stack([float(side.low) + float(side.width) * at for side, at in sides], axis=1)
