"""Lower bounds that hold for every mechanism, with outputs anywhere: what the multipliers of cuts prove.

Weights mu (of sum 1) on cuts (x, l) show that no mechanism's worst error is below sum mu l, provided that
h(y) = sum mu c(y) is nowhere negative: the error is at least sum mu l + sum g h. Where a grid left h a little
negative, all levels are lowered by s, which raises h by at least s everywhere (E s where the output is
favoured) and lowers the bound by s. h is examined for all real y, not on a grid: between the places where
some cut changes its rule it is convex (exponents from 1) or concave (below 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deniable.batch import Floats, Integers
from deniable.planning.designs.problem import DistanceLoss

SAFETY = 1e-9
"""Taken off every bound, relatively: far more than sums of doubles can be wrong."""
CHUNK = 1 << 21
TURNS, SHORT = 8, 0.7
FINE = 1 << 14
FEWEST, MOST = 1 << 10, 1 << 15
SPREAD = 512
"""Cells of a continuous prior are cut until there would be this many of them."""
PIECES = 1025
"""Pieces are cut at least this often, so that tangents at their ends stay close to the curve."""


def lowered(levels: Floats, weights: Floats, least: Callable[[Floats], float]) -> float:
    """sum mu l, lowered until `least` (the smallest h for given levels) is not negative."""
    weights = weights / weights.sum()
    scale = float(np.abs(levels).max()) + 1e-300

    def low(shift: float) -> float:
        return least(levels - shift) - SAFETY * scale

    left, at_left = 0.0, low(0.0)
    if at_left >= 0:
        return float(weights @ levels) - SAFETY * scale
    # h grows by at least the shift; as a function of it, its minimum is concave, so chords stay below it.
    right = -at_left
    at_right = low(right)
    for turn in range(TURNS):
        if right - left < 1e-5 * (right + 1e-4 * scale):
            break
        # A chord's root is enough of a shift; every other time, a point near it that may not be, to shorten the chord.
        between = left - at_left * (right - left) / (at_right - at_left)
        if turn % 2:
            between = left + SHORT * (between - left)
        at_between = low(between)
        if at_between < 0:
            left, at_left = between, at_between
        else:
            right, at_right = between, at_between
    return float(weights @ levels) - right - SAFETY * scale


def line_bound(loss: DistanceLoss, e: float, x: Floats, levels: Floats, weights: Floats) -> float:
    """The bound proved by cuts at x in [0, 1] and by their mirror images, over all outputs in [0, 1].

    In widths of the domain (for a function, in its own units).
    """
    x, levels, weights = _used(x, levels, weights)
    x, levels, weights = np.concatenate([x, 1 - x]), np.tile(levels, 2), np.tile(weights, 2)
    share = weights / weights.sum()
    if loss.exponent is None:
        return lowered(levels, weights, lambda shifted: _least_by_cells(loss, e, x, shifted, share))
    exponent = loss.exponent
    return lowered(levels, weights, lambda shifted: _least_power(exponent, e, x, shifted, share))


def _used(x: Floats, levels: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """One cut for every x, in order."""
    kept = weights > 1e-10 * weights.max()
    places, which = np.unique(x[kept], return_inverse=True)
    (mean,), together = mean_cuts(which, weights[kept], levels[kept])
    return places, mean, together


def mean_cuts(which: Integers, weights: Floats, *numbers: Floats) -> tuple[list[Floats], Floats]:
    """For the cuts of every x (its number in `which`) the means of their numbers by weight, and their weights together.

    A cut is concave in its level (and in its level and slope together), so one at the means proves no less than all.
    """
    together = np.bincount(which, weights=weights)
    return [np.asarray(np.bincount(which, weights=weights * each) / together) for each in numbers], np.asarray(together, np.float64)


def _least_power(k: float, e: float, x: Floats, levels: Floats, share: Floats) -> float:
    """The least h for |y - x|**k."""
    reach = np.where(levels > 0, np.maximum(levels, 0.0) ** (1 / k), -1.0)
    inside = reach >= 0
    marks = np.concatenate([np.linspace(0, 0.5, PIECES), x, (x - reach)[inside], (x + reach)[inside]])
    # The cuts are mirror images of each other, so one half of the outputs shows everything.
    marks = np.unique(np.clip(marks, 0, 0.5))
    return least_between(marks, lambda y, middle: power_terms(k, e, x, levels, reach, share, y, middle), k < 1)


def power_terms(
    k: float, e: float, x: Floats, levels: Floats, reach: Floats, share: Floats, y: Floats, middle: Floats
) -> tuple[Floats, Floats]:
    """h and its slope at y, by the rules that hold at `middle`."""
    away = middle[:, None] - x
    rule = np.where(np.abs(away) < reach, e, 1.0) * share
    distance = np.abs(y[:, None] - x)
    value = (rule * (distance**k - levels)).sum(axis=1)
    if k < 1:
        return value, np.zeros_like(value)
    slope = (rule * np.sign(away) * k * distance ** (k - 1)).sum(axis=1)
    return value, slope


def least_between(marks: Floats, terms: Callable[[Floats, Floats], tuple[Floats, Floats]], concave: bool) -> float:
    """A lower bound of a function that is convex (or concave) between neighbouring marks.

    `terms(y, middle)` gives value and slope at y by the rules that hold at `middle`. A convex function lies above
    its tangents at both ends of a piece, and so above the point where they meet.
    """
    smallest = np.inf
    size = 1 << 10
    for begin in range(0, marks.size - 1, size):
        a, b = marks[begin : begin + size + 1][:-1], marks[begin : begin + size + 1][1:]
        middle = (a + b) / 2
        (left, rise), (right, fall) = terms(a, middle), terms(b, middle)
        ends = np.minimum(left, right)
        if not concave:
            bent = (rise < 0) & (fall > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                meet = left + rise * (right - left - fall * (b - a)) / (rise - fall)
            ends = np.where(bent, np.minimum(ends, meet), ends)
        smallest = min(smallest, float(ends.min()))
    return smallest


def _least_by_cells(loss: DistanceLoss, e: float, x: Floats, levels: Floats, share: Floats) -> float:
    """The least h for any increasing loss: in a cell of outputs, no loss is below that at its nearest point."""
    half = 0.5 / FINE
    middles = (np.arange(FINE // 2) + 0.5) / FINE
    smallest = np.inf
    size = max(1, CHUNK // x.size)
    for begin in range(0, FINE // 2, size):
        nearest = np.maximum(np.abs(middles[begin : begin + size, None] - x) - half, 0.0)
        above = loss.at(nearest.ravel()).reshape(nearest.shape) - levels
        smallest = min(smallest, float((np.where(above > 0, above, e * above) @ share).min()))
    return smallest


def spread_bound(exponent: float, e: float, x: Floats, width: float, levels: Floats, weights: Floats) -> float:
    """The same when each x stands for a value spread evenly over x ± width/2: a continuous prior.

    Cells are cut into parts, with levels in between those of their neighbours. h is then an average of cuts: between the
    points of a fine grid it cannot fall below the chord by more than its curvature allows.
    """
    x, levels, weights = _used(x, levels, weights)
    # Below exponent 1 the curvature bound suffers from short cells.
    parts = max(1, math.ceil(width * SPREAD)) if exponent >= 1 else 1
    offsets = ((np.arange(parts) + 0.5) / parts - 0.5) * width
    finer = (x[:, None] + offsets).ravel()
    levels, weights = np.interp(finer, x, levels), np.repeat(weights / parts, parts)
    x, width = finer, width / parts
    share = weights / weights.sum()
    bend = _bend(exponent, width, float(share.max()))
    y = np.linspace(0, 1, 1 + _outputs(exponent, e, bend, float(share @ levels)))
    step = float(y[1])
    sag = e * (bend * step**2 / 8 if exponent >= 1 else bend * step)
    if np.array_equal(levels, levels[::-1]) and np.array_equal(share, share[::-1]):
        y = y[: y.size // 2 + 1]  # the other half mirrors this one

    def least(shifted: Floats) -> float:
        smallest = np.inf
        size = max(1, CHUNK // x.size)
        for begin in range(0, y.size, size):
            part = y[begin : begin + size, None]
            whole = _integral(part - x + width / 2, shifted, exponent, e) - _integral(part - x - width / 2, shifted, exponent, e)
            smallest = min(smallest, float((whole / width @ share).min()))
        return smallest - sag

    return lowered(levels, weights, least)


def _outputs(k: float, e: float, bend: float, level: float) -> int:
    """As many steps as it takes for the sag between outputs to cost a few parts in 10,000, within reason."""
    # Lowering all levels by s raises h by s, and by E s for each value within reach.
    raised = 2e-4 * level * (1 + (e - 1) * min(1.0, 2 * level ** (1 / k)))
    steps = math.sqrt(e * bend / (8 * raised)) if k >= 1 else e * bend / raised
    return 2 * min(max(FEWEST, math.ceil(steps / 2)), MOST)


def _bend(k: float, width: float, densest: float) -> float:
    """An upper bound of h'' / E (for k < 1, of |h'| / E), for values spread over cells of a width."""
    if k < 1:
        return float(width ** (k - 1))
    if k >= 2:
        return k * (k - 1)
    # Across the cell that holds y, c' jumps from -k d**(k-1) to k d**(k-1); across the others it grows by small steps.
    return float(densest * (4 * k * width ** (k - 2) + (2 * k / width if k > 1 else 0.0)))


def _integral(u: Floats, levels: Floats, k: float, e: float) -> Floats:
    """The integral of c from 0 to u, as a function of the signed distance."""
    reach = np.maximum(levels, 0.0) ** (1 / k)
    d = np.abs(u)
    near = np.minimum(d, reach)
    all_of_it, part = _power(d, k + 1) / (k + 1), _power(near, k + 1) / (k + 1)
    inside = e * (part - levels * near)
    outside = all_of_it - part - levels * (d - near)
    return np.asarray(np.sign(u) * (inside + outside))


def _power(d: Floats, exponent: float) -> Floats:
    """d**exponent; squares and cubes by multiplication, which is many times faster."""
    if exponent == 2:
        return d * d
    return d * d * d if exponent == 3 else np.asarray(d**exponent)
