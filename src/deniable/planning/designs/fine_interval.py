"""Absolute and squared error on [0, 1] for epsilon from 3.5 on, by programs that are solved from their interior.

For the worst case there are two. One is for the mechanism: narrow cells of outputs, and many values. The other is for the
bound: its multipliers are made of triangles, narrow near the ends of the domain and wide in the middle, over many values,
so that what they prove hardly depends on where between the points of a grid an output lies. For an average, whose
multipliers are known, one program does both.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.batch import Floats, Integers
from deniable.core import Designed, Epsilon, Interval
from deniable.planning.designs.exact_bound import exact_line_bound
from deniable.planning.designs.interior_point import Cells, follow
from deniable.planning.designs.rounding import rounded

SOLVED = 1.02
"""A design within this of its bound was solved to the end."""
FINE_FROM, ALONE_FROM = 3.5, 5.0
"""Below the first epsilon the best references have few atoms, which cutting planes find; up to the second both ways are taken."""
TOLERANCE = 5e-5
WIDEST = 0.01
NARROW, AVERAGE_TOLERANCE = 0.001, 2e-5
"""For averages, where all multipliers are known, programs are small enough for cells as narrow as this."""
END = (1e-3, 0.03)
"""Borders of two narrow cells at an end, in cells: the best references have an atom there."""
PARTS = 4
FEWEST, MOST = 1024, 4096
PER_REACH = 32


def fine_reference(k: int, epsilon: Epsilon) -> tuple[Floats, Floats]:
    """Edges of cells of outputs, and the best mass of each."""
    cells, start = _program(k, epsilon, _with_narrow_ends(_graded(k, epsilon, 0.1, 1.05)), _values(k, epsilon))
    return cells.edges, cells.spread(follow(cells, start, None, TOLERANCE).masses)


def fine_bound(k: int, epsilon: Epsilon) -> float:
    """A bound on every mechanism, decided by integers."""
    corners = _graded(k, epsilon, 0.06, 1.06)
    half = np.interp(np.arange(PARTS * (corners.size - 1) + 1) / PARTS, np.arange(corners.size), corners)
    x = _values(k, epsilon)
    cells, start = _program(k, epsilon, _with_narrow_ends(half), x)
    means = np.stack([np.interp(x, corners, row) for row in np.eye(corners.size)])
    means[0] = x == 0
    central = follow(cells, start, None, TOLERANCE, means / means.sum(axis=1, keepdims=True))
    return exact_line_bound(k, epsilon, x, central.reaches, central.weights)


def _typical(k: int, epsilon: Epsilon) -> float:
    """How far favoured outputs reach, roughly."""
    return math.exp(-float(epsilon) / (k + 1)) / 2


def _graded(k: int, epsilon: Epsilon, first: float, growth: float, widest: float = WIDEST) -> Floats:
    """Places from an end to the middle: the first step in reaches, each next one wider by a factor."""
    places, step = [0.0], first * _typical(k, epsilon)
    while places[-1] < 0.5:
        places.append(places[-1] + step)
        step = min(step * growth, widest)
    return np.array(places) / (2 * places[-1])


def _with_narrow_ends(half: Floats) -> Floats:
    return np.unique(np.concatenate([half, half[1] * np.array(END)]))


def _values(k: int, epsilon: Epsilon) -> Floats:
    return np.linspace(0, 0.5, min(max(math.ceil(PER_REACH / (2 * _typical(k, epsilon))), FEWEST), MOST) + 1)


def fine_average(k: int, epsilon: Epsilon, x: Floats, chances: Floats, symmetric: bool) -> tuple[Floats, Floats, Floats]:
    """Edges of cells of outputs, their best masses for a prior on values x, and the level of every value's cut."""
    half = _with_narrow_ends(_graded(k, epsilon, 0.1, 1.05, NARROW if symmetric else 2 * NARROW))
    cells, start = _program(k, epsilon, half, x, symmetric)
    central = follow(cells, start, chances, AVERAGE_TOLERANCE)
    return cells.edges, cells.spread(central.masses), central.reaches**k


def fine_mechanism(domain: Interval, epsilon: Epsilon, edges: Floats, masses: Floats) -> Designed:
    """The integer mechanism: the mass of every equal stretch at its middle, that of the narrow cells at the ends."""
    stretches, points = fineness(epsilon)
    sums = np.concatenate([[0.0], np.cumsum(masses)])
    reference = np.diff(np.interp(np.arange(stretches + 1) / stretches, edges, sums))
    end = float(sums[2])  # of the narrow cells, which lie within the first stretch
    reference[[0, -1]] -= end
    places: Integers = np.concatenate([[0], (2 * np.arange(stretches) + 1) * (points // stretches), [2 * points]])
    return rounded(domain, epsilon, places, np.concatenate([[end], reference, [end]]), points)


def fineness(epsilon: Epsilon) -> tuple[int, int]:
    """Places and cells of the mechanism: more where favoured windows are shorter."""
    level = float(epsilon)
    return (1024, 8192) if level <= 5 else (2048, 16384) if level <= 7 else (4096, 32768) if level <= 8 else (8192, 65536)


def _program(k: int, epsilon: Epsilon, half: Floats, x: Floats, symmetric: bool = True) -> tuple[Cells, Floats]:
    """Cells that mirror each other share a mass, unless a prior is lopsided. The start is even, with the limit's total mass."""
    edges = np.concatenate([half, 1 - half[-2::-1]])
    cells = np.arange(edges.size - 1)
    program = Cells(k, math.exp(float(epsilon)), x, edges, np.minimum(cells, cells[::-1]) if symmetric else cells)
    even = 2 * np.diff(half) if symmetric else np.diff(edges)
    return program, even * math.exp(-float(epsilon) * k / (k + 1))
