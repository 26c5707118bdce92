"""Lower bounds on an interval decided by integers: absolute and squared error, outputs anywhere.

lower_bound.py says what weights on cuts (x, level) prove: if h(y) = sum of mu c(y) is nowhere negative, no mechanism's worst
error is below sum of mu times level. Here x, the reach of a cut (its level is reach**k) and mu are integers, e**epsilon
is a rational above it (which makes h smaller, so nothing is gained by it), and h is a polynomial between neighbouring
places where some cut changes its rule. One pass over these places adds up the polynomials and checks all of them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from deniable.batch import Floats
from deniable.core import Epsilon
from deniable.planning.designs.lower_bound import lowered

UNIT = 1 << 40
"""Places are multiples of 1/UNIT."""
HEAVIEST = 1 << 30
LIGHTEST = 1e-9
E_BITS = 40
TRIES = 20
SLACK = 1e-6
"""The first shift is this much larger, relatively to the bound, than what floats found."""
FINE = 32
"""Cuts are spread until there are so many within a typical reach."""
MOST_CUTS = 8192


def exact_line_bound(k: int, epsilon: Epsilon, x: Floats, reaches: Floats, weights: Floats) -> float:
    """The bound proved by cuts at even steps of x in [0, 1/2] and by their mirror images, in widths of the domain.

    Multipliers of a program sit on its grid; spread between its points they may prove more. The better of the two counts.
    """
    everywhere = np.concatenate([x, 1 - x[::-1][1:]])
    reaches, weights = (np.concatenate([each, each[::-1][1:]]) for each in (reaches, weights))
    typical = float(weights @ reaches / weights.sum())
    finer = math.ceil(FINE / (typical * (everywhere.size - 1)))
    finer = min(finer, MOST_CUTS // everywhere.size)
    bounds = [_decided(k, epsilon, everywhere, reaches, weights)]
    if finer > 1:
        bounds.append(_decided(k, epsilon, *_spread(everywhere, reaches, weights, finer)))
    return max(bounds)


def _spread(x: Floats, reaches: Floats, weights: Floats, finer: int) -> tuple[Floats, Floats, Floats]:
    """The weight of each inner value as a triangle between its neighbours; both ends keep theirs."""
    steps = x.size - 1
    fine = np.linspace(0, 1, steps * finer + 1)
    inner = weights.copy()
    inner[[0, -1]] = 0
    spread = np.interp(fine, x, inner) / finer
    spread[[0, -1]] += weights[[0, -1]]
    return fine, np.interp(fine, x, reaches), spread


def _decided(k: int, epsilon: Epsilon, x: Floats, reaches: Floats, weights: Floats) -> float:
    """Floats choose how far the levels are lowered; integers say whether that is enough."""
    kept = weights > LIGHTEST * weights.max()
    x, reaches, weights = x[kept], reaches[kept], weights[kept]
    share, levels, e = weights / weights.sum(), reaches**k, math.exp(float(epsilon))
    found = lowered(levels, share, lambda shifted: least_of_sums(k, e, x, shifted, share))
    shift = float(share @ levels) - found + SLACK * abs(found)
    places = [round(each * UNIT) for each in x.tolist()]
    parts = [max(round(each), 1) for each in (weights / weights.max() * HEAVIEST).tolist()]
    for _ in range(TRIES):
        low = (np.maximum(levels - shift, 0.0) ** (1 / k) * UNIT).tolist()
        reach = [math.floor(each) for each in low]
        if nowhere_negative(k, epsilon, places, reach, parts):
            bound = Fraction(sum(part * each**k for part, each in zip(parts, reach, strict=True)), sum(parts) * UNIT**k)
            return _rounded_down(bound)
        shift += 10 * SLACK * abs(found)
    return 0.0


def _rounded_down(bound: Fraction) -> float:
    near = float(bound)
    return near if Fraction(near) <= bound else math.nextafter(near, 0.0)


def nowhere_negative(k: int, epsilon: Epsilon, x: list[int], reach: list[int], weights: list[int]) -> bool:
    """Is h(y) >= 0 for all real y in [0, UNIT]? Exactly, for k = 1 or 2.

    >>> nowhere_negative(1, Epsilon(1), [0, UNIT], [0, 0], [1, 1]), nowhere_negative(1, Epsilon(1), [0, UNIT], [UNIT, UNIT], [1, 1])
    (True, False)
    """
    one = 1 << E_BITS
    more = math.ceil(epsilon.bounds()[1] * one) - one
    changes = _changes(k, one, more, x, reach, weights)
    begin = changes.pop(-1)
    order = sorted(place for place in changes if 0 < place < UNIT)
    square, slope, constant = begin
    for place in changes:
        if place <= 0:
            square, slope, constant = (a + b for a, b in zip((square, slope, constant), changes[place], strict=True))
    for left, right in pairwise([0, *order, UNIT]):
        if left > 0:
            square, slope, constant = (a + b for a, b in zip((square, slope, constant), changes[left], strict=True))
        if min((square * y + slope) * y + constant for y in (left, right)) < 0:
            return False
        # A convex parabola with its lowest point inside.
        if square > 0 and -2 * square * right < slope < -2 * square * left and 4 * square * constant < slope * slope:
            return False
    return True


def _changes(k: int, one: int, more: int, x: list[int], reach: list[int], weights: list[int]) -> dict[int, list[int]]:
    """The polynomial (y**2, y, 1) far to the left under -1, and by how much it changes at every place."""
    changes: dict[int, list[int]] = {-1: [0, 0, 0]}

    def add(place: int, square: int, slope: int, constant: int) -> None:
        # Places left of the domain matter to nothing but its lower end.
        terms = changes.setdefault(place if place == -1 else max(place, 0), [0, 0, 0])
        terms[0] += square
        terms[1] += slope
        terms[2] += constant

    for at, far, weight in zip(x, reach, weights, strict=True):
        all_of_it, favoured = weight * one, weight * more
        if k == 2:
            constant = at * at - far * far
            add(-1, all_of_it, -2 * at * all_of_it, constant * all_of_it)
            add(max(at - far, 0), favoured, -2 * at * favoured, constant * favoured)
            add(at + far, -favoured, 2 * at * favoured, -constant * favoured)
        else:
            add(-1, 0, -all_of_it, (at - far) * all_of_it)
            add(max(at - far, 0), 0, -favoured, (at - far) * favoured)
            add(at, 0, 2 * (all_of_it + favoured), -2 * at * (all_of_it + favoured))
            add(at + far, 0, -favoured, (at + far) * favoured)
    return changes


def least_of_sums(k: int, e: float, x: Floats, levels: Floats, share: Floats) -> float:
    """The least h on [0, 1] in floats, by the same pass; cuts with a level of 0 or less favour nothing."""
    wide = np.longdouble
    reach = np.maximum(levels, 0.0) ** (1 / k)
    gain = (e - 1) * share * (levels > 0)
    if k == 2:
        constant = x * x - levels
        begin = (share.sum(), float(-2 * (share @ x)), float(share @ constant))
        inside = np.stack([gain, -2 * x * gain, constant * gain])
        places, terms = np.concatenate([x - reach, x + reach]), np.concatenate([inside, -inside], axis=1)
    else:
        begin = (0.0, -float(share.sum()), float(share @ (x - levels)))
        nothing, both = np.zeros_like(x), 2 * (share + gain)
        parts = [(x - reach, -gain, (x - reach) * gain), (x, both, -x * both), (x + reach, -gain, (x + reach) * gain)]
        places = np.concatenate([part[0] for part in parts])
        terms = np.concatenate([np.stack([nothing, *part[1:]]) for part in parts], axis=1)
    order = np.argsort(places)
    sums = np.cumsum(terms[:, order].astype(wide), axis=1) + np.array(begin, dtype=wide)[:, None]
    sums = np.concatenate([np.array(begin, dtype=wide)[:, None], sums], axis=1)
    left = np.clip(np.concatenate([[0.0], places[order]]), 0, 1)
    right = np.append(left[1:], 1.0)
    square, slope, constant = sums
    smallest = min(float(((square * y + slope) * y + constant).min()) for y in (left, right))
    if k == 2:
        with np.errstate(divide="ignore", invalid="ignore"):
            lowest = np.clip(np.where(square > 0, -slope / (2 * square), left), left, right)
        smallest = min(smallest, float(((square * lowest + slope) * lowest + constant).min()))
    return smallest
