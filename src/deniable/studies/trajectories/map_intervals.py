"""How small and how large a share of people may be in a part of a map, whatever the distribution of places is.

As for bins (`plausible`): for every number w per group of reports, w'f plus its spread plus the most that a - Aw is over all
finest cells is an upper end for the share a'p. One half of the reports chooses w, the other half is asked. A few hundred
cells are searched like the points of a line. More are searched for all questions at once: what is to be made small,

    w'e + z * spread of w + max (a - Aw),    e being what the first half expects,

is convex in w, and with a rounded maximum also smooth. Any w holds; a better one only has narrower intervals. Only the parts
of w that reports tell something by are looked at (the leading singular vectors of A). Where reports cannot tell cells apart
the ends lie far from one another, which is the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.batch import Floats
from deniable.estimators import USUAL, Plausible, halves, pilot_shares, upper_end
from deniable.studies.trajectories.finest_cells import FinestCells, finest_cells
from deniable.studies.trajectories.place_channel import PlaceChannel, Source
from deniable.studies.trajectories.smooth_descent import descent

MANY_REPORTS = 20_000
"""From so many reports on it is worth telling them apart more finely."""
FEW_GROUPS, MANY_GROUPS = 32, 48
"""Groups of reports along each coordinate, for few and for many reports."""
FEW_CELLS = 400
"""So many finest cells are searched one question after the other."""
PARTS = 200
"""Singular vectors that are looked at, at most."""
WEAKEST = 0.3
"""Of the size at which a singular vector's part of the distribution would show in all reports: weaker ones say nothing."""
ROUNDINGS = ((0.05, 48), (0.01, 96), (0.003, 240))
"""How much the maximum is rounded, and for how many steps at most: a rough one first."""
TOGETHER = 256
"""Questions at a time."""


@dataclass(frozen=True, eq=False)
class MapIntervals:
    """Intervals of sums of the shares of finest cells. Weights are given for every cell inside."""

    ground: FinestCells
    counts: Floats

    @cached_property
    def _few(self) -> Plausible:
        return Plausible.of(self.ground.table, self.counts, "population")

    @cached_property
    def _halves(self) -> list[tuple[_Half, Floats]]:
        first, second = halves(self.counts)
        pairs = ((first, second), (second, first))
        return [(_Half(self.ground, mine, float(self.counts.sum())), other) for mine, other in pairs if other.sum() > 0]

    def ends(self, low_weights: Sequence[Floats], high_weights: Sequence[Floats], reach: float) -> list[tuple[float, float]]:
        """For every question the least that a sum with its low weights and the most that one with its high weights may be."""
        if len(self.ground.cells) <= FEW_CELLS:
            pairs = zip(low_weights, high_weights, strict=True)
            return [self._few.interval(low, high, reach) for low, high in pairs]
        questions = [-one for one in low_weights] + list(high_weights)
        largest = self._largest(questions, reach)
        return [(-low, high) for low, high in zip(largest[: len(low_weights)], largest[len(low_weights) :], strict=True)]

    def inside(self, low: tuple[float, float], high: tuple[float, float], reach: float) -> tuple[float, float]:
        """Of the share in a rectangle; a cell that is cut counts as outside for the lower end, as inside for the upper one."""
        part = self.ground.covered(low, high)
        return self.ends([np.floor(part + 1e-9)], [np.ceil(part - 1e-9)], reach)[0]

    @cached_property
    def _known(self) -> dict[bytes, tuple[float, float, float]]:
        """By a question's weights: the sum of its estimates, their variance and third central moment; the same for all levels."""
        return {}

    def _largest(self, questions: Sequence[Floats], reach: float) -> list[float]:
        keys = [one.tobytes() for one in questions]
        new = [i for i, key in enumerate(keys) if key not in self._known]
        for start in range(0, len(new), TOGETHER):
            asked = new[start : start + TOGETHER]
            totals = np.zeros((3, len(asked)))
            for half, counts in self._halves:
                totals += half.asked(np.stack([questions[i] for i in asked], axis=1), counts)
            for i, (value, second, third) in zip(asked, totals.T.tolist(), strict=True):
                self._known[keys[i]] = value, second, third
        n = float(self.counts.sum())
        ends = [upper_end(*self._known[key], n, reach) / n for key in keys]
        return [min(end, float(one.max())) for end, one in zip(ends, questions, strict=True)]


@dataclass(frozen=True, eq=False)
class _Half:
    """What one half of the reports expects, to choose estimators by."""

    ground: FinestCells
    own: Floats
    n: float

    @cached_property
    def expected(self) -> Floats:
        """The groups' chances, as this half sees them."""
        blocks = self.ground.blocks
        shares = pilot_shares(blocks, self.own)
        # Few reports seem to know much: one imagined report keeps possible what was not seen.
        return np.asarray((self.n * (shares @ blocks) + blocks.mean(axis=0)) / (self.n + 1))

    @cached_property
    def _parts(self) -> tuple[Floats, Floats]:
        """Orthonormal parts of an estimator times the root of what is expected, and what each gives for people in each cell."""
        roots = np.sqrt(self.expected)
        scaled = self.ground.table / roots
        coarse = self.ground.blocks / roots
        # Of evenly mixed blocks first, then of the cells within them: a basis of all that can be told apart.
        start = coarse.T @ np.linalg.eigh(coarse @ coarse.T)[1][:, -(PARTS + 20) :]
        basis = np.linalg.qr(scaled.T @ (scaled @ start))[0]
        _, sizes, turned = np.linalg.svd(scaled @ basis, full_matrices=False)
        kept = sizes > WEAKEST * math.sqrt(len(scaled) / self.n)
        kept[PARTS:] = False
        vectors = basis @ turned[kept].T
        return vectors, scaled @ vectors

    def asked(self, weights: Floats, counts: Floats) -> Floats:
        """For every question (a column of weights) the sum of its estimates over the other half's counts, and its moments."""
        vectors, given = self._parts
        roots = np.sqrt(self.expected)
        factors, ends = descent(given, weights, vectors.T @ roots, USUAL / math.sqrt(self.n), ROUNDINGS)
        linear = (vectors / roots[:, None]) @ factors
        slack = (weights - self.ground.table @ linear).max(axis=0)
        own = float(counts.sum())
        return np.stack([counts @ linear + own * slack, *(own * self._moments(linear, ends))])

    def _moments(self, linear: Floats, ends: Floats) -> Floats:
        """Of what this half expects, or of the distribution at the end, whichever varies more."""
        here, there = moments(self.expected[:, None], linear), moments(self.ground.table.T @ ends, linear)
        return np.where(there[0] > here[0], there, here)


def moments(chances: Floats, linear: Floats) -> Floats:
    """The variance and the third central moment of every column of numbers per group."""
    mean = (chances * linear).sum(axis=0)
    centred = linear - mean
    return np.stack([(chances * centred**2).sum(axis=0), (chances * centred**3).sum(axis=0)])


def map_intervals(laid: PlaceChannel, source: Source) -> MapIntervals:
    """From the reports of a map."""
    n = int(laid.counts(source).sum())
    ground = finest_cells(laid, FEW_GROUPS if n < MANY_REPORTS else MANY_GROUPS)
    return MapIntervals(ground, ground.counts(laid, source))
