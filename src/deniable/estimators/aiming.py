"""The kernel that looks for the estimator of an upper end: see `plausible`.

Points are the rows of `points`: first the places of the domain, then stretches of the pilot, each a distribution of its own.
Place x belongs to the stretch `number[x]` with the part `part_of[x]` of it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from deniable.estimators.active_set import LOOSE, furthest, put

MOST_STEPS = 12
SLACK = 3e-2
"""Of the distance to the pilot's value: how far from the best estimator a chosen one may be; it is valid all the same."""


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _products(points, factors, products):  # type: ignore[no-untyped-def]
    for x in range(len(products)):
        total = 0.0
        for group in range(points.shape[1]):
            total += points[x, group] * factors[group]
        products[x] = total


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _mixed(points, at, shares):  # type: ignore[no-untyped-def]
    """The groups' chances under shares of points."""
    mixture = np.zeros(points.shape[1])
    for i in range(len(at)):
        for group in range(points.shape[1]):
            mixture[group] += shares[i] * points[at[i], group]
    return mixture


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _log_likelihood(expected, likely):  # type: ignore[no-untyped-def]
    total = 0.0
    for group in range(len(expected)):
        total += expected[group] * np.log(likely[group])
    return total


@njit(nogil=True, cache=True, fastmath=LOOSE)
def spread_out(at, shares, number, part_of):  # type: ignore[no-untyped-def]
    """Shares of points and of stretches as shares of places."""
    size = len(number)
    everywhere = np.zeros(size)
    of_stretch = np.zeros(number[size - 1] + 1)
    for i in range(len(at)):
        if at[i] < size:
            everywhere[at[i]] += shares[i]
        else:
            of_stretch[at[i] - size] += shares[i]
    for x in range(size):
        everywhere[x] += of_stretch[number[x]] * part_of[x]
    return everywhere


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _noise_part(points, own, shares, expected, likely):  # type: ignore[no-untyped-def]
    """Which part of the spread of a likelihood ratio is noise, when the users' values are given."""
    size = len(own)
    ratio = np.log(likely / expected)
    first, second = np.empty(size), np.empty(size)
    _products(points, ratio, first)
    _products(points, ratio**2, second)
    part, any_part = 0.0, False
    for turn in range(2):
        chances = likely if turn == 0 else expected
        people = shares if turn == 0 else own
        mean, whole, noise = 0.0, 0.0, 0.0
        for group in range(len(ratio)):
            mean += chances[group] * ratio[group]
            whole += chances[group] * ratio[group] ** 2
        whole -= mean**2
        for x in range(size):
            noise += people[x] * (second[x] - first[x] ** 2)
        if whole > 0:
            part, any_part = max(part, min(noise / whole, 1.0)), True
    return part if any_part else 1.0


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _merged(at, shares):  # type: ignore[no-untyped-def]
    """Every point once, and none without a share."""
    order = np.argsort(at)
    points, summed = np.empty(len(at), np.int64), np.zeros(len(at))
    count = 0
    for i in order:
        if count and points[count - 1] == at[i]:
            summed[count - 1] += shares[i]
        else:
            points[count], summed[count] = at[i], shares[i]
            count += 1
    kept = summed[:count] > 1e-12
    places, own = points[:count][kept], summed[:count][kept]
    return places, own / own.sum()


@njit(nogil=True, cache=True, fastmath=LOOSE)
def aimed(  # type: ignore[no-untyped-def]
    points, own, number, part_of, expected, weights, reach, n, given, many, start, start_shares, start_tilt, first_rows, first_ready
):
    """The factors of the groups' frequencies, the shares of places, the tilt, and whether the best was found.

    The tilt is where the next question may begin to look, else 0.
    """
    size = len(own)
    wide = np.zeros(len(points))
    put(weights, wide)
    for x in range(size):
        wide[size + number[x]] += part_of[x] * weights[x]
    middle, top, bottom = 0.0, weights.max(), weights.min()
    for x in range(size):
        middle += weights[x] * own[x]
    tilt, part = start_tilt / (top - bottom), 1.0
    most = _log_likelihood(expected, expected)
    likely, at, shares = expected.copy(), start.copy(), start_shares.copy()
    roots, rows, ready = points * (1 / np.sqrt(expected)), first_rows, first_ready
    gain, mine = np.empty(len(points)), np.empty(len(points))
    value, width, best = middle, 1.0, False
    for step in range(MOST_STEPS):
        limit = part * reach**2 / n
        _products(points, expected / likely, gain)
        here = _log_likelihood(expected, likely)
        if step == 1 and not many:
            rows, ready = np.empty((len(points), len(points))), np.zeros(len(points), np.bool_)
        if step > 0 and not many:
            roots = points * (np.sqrt(expected) / likely)
            ready[:] = False
        # H p for the present shares, from the groups' side.
        mixed = np.zeros(roots.shape[1])
        for i in range(len(at)):
            mixed += shares[i] * roots[at[i]]
        _products(roots, mixed, mine)
        constant = 2 - 2 * (here - most)
        for i in range(len(at)):
            constant += shares[i] * mine[at[i]]
        _, at, shares, tilt = furthest(roots, rows, ready, gain + mine, constant, wide, limit, middle, at, shares, tilt)
        goal = _mixed(points, at, shares)
        part_way = 1.0
        while most - _log_likelihood(expected, likely + part_way * (goal - likely)) > 2 * limit and part_way > 1e-3:
            part_way /= 2
        likely = likely + part_way * (goal - likely)
        if part_way < 1:
            at, shares = np.concatenate((at, start)), np.concatenate((part_way * shares, (1 - part_way) * start_shares))
            at, shares = _merged(at, shares)
            likely = _mixed(points, at, shares)
        before = part
        if given:
            part = _noise_part(points, own, spread_out(at, shares, number, part_of), expected, likely)
        _products(points, expected / likely, gain)
        bound = (wide + gain / tilt).max() - (1 + most - part * reach**2 / n / 2 - _log_likelihood(expected, likely)) / tilt
        value = 0.0
        for i in range(len(at)):
            value += wide[at[i]] * shares[i]
        width = max(min(bound, top) - middle, 1e-300)
        best = (abs(bound - value) <= SLACK * width and abs(part - before) <= 3 * SLACK * part) or value >= top - SLACK * width
        if best:
            break
    # A constant more or less changes nothing: frequencies add up to 1.
    linear = -(expected / likely - 1) / tilt
    next_tilt = tilt * (top - bottom) if value < top - SLACK * width else 0.0
    return linear, spread_out(at, shares, number, part_of), next_tilt, best


@njit(nogil=True, cache=True, fastmath=LOOSE)
def noise_of(points, own, shares, given, linear):  # type: ignore[no-untyped-def]
    """The variance and the third central moment of an estimator for one report: of the end's shares or the pilot's."""
    size = len(own)
    first, second, third = np.empty(size), np.empty(size), np.empty(size)
    _products(points, linear, first)
    _products(points, linear**2, second)
    _products(points, linear**3, third)
    best, skew = -1.0, 0.0
    for turn in range(2):
        people = shares if turn == 0 else own
        spread, cubed = 0.0, 0.0
        if given:
            for x in range(size):
                variance = second[x] - first[x] ** 2
                spread += people[x] * variance
                cubed += people[x] * (third[x] - 3 * first[x] * variance - first[x] ** 3)
        else:
            mean, square = 0.0, 0.0
            for x in range(size):
                mean += people[x] * first[x]
                square += people[x] * second[x]
                cubed += people[x] * third[x]
            spread = square - mean**2
            cubed = cubed - 3 * mean * spread - mean**3
        spread = max(spread, 0.0)
        if spread > best or (spread == best and cubed > skew):
            best, skew = spread, cubed
    return best, skew
