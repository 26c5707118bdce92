"""Tails of sums of two binomials, and the counts and chances at which they pass a bound: the kernels behind `intervals`."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LEFT_OUT = 1e-12
"""How much of a binomial may be left out of a sum; it is added to the tail, so intervals only grow by it."""
BITS = math.log(2 / LEFT_OUT)
CHANCE_TOLERANCE = 1e-4
"""How exactly a chance is looked for, of what one success more or less would change; what is returned is the outer side."""
MOST_STEPS = 60


@njit(nogil=True, cache=True)
def reach_of(trials, spread):  # type: ignore[no-untyped-def]
    """Bernstein: beyond this far from its mean a binomial has at most LEFT_OUT of its mass."""
    return BITS / 3 + np.sqrt(BITS**2 / 9 + 2 * trials * spread * BITS)


@njit(nogil=True, cache=True)
def _bulk(trials, p):  # type: ignore[no-untyped-def]
    """Where the bulk of a binomial begins, and its chances from there on."""
    if trials == 0 or p <= 0.0:
        return 0, np.ones(1)
    if p >= 1.0:
        return trials, np.ones(1)
    reach = reach_of(trials, p * (1 - p))
    first = max(int(np.floor(trials * p - reach)), 0)
    last = min(int(np.ceil(trials * p + reach)), trials)
    chances = np.empty(last - first + 1)
    # From the middle outwards, where nothing is too small to be told from 0.
    middle = min(max(int(trials * p), first), last)
    log = math.lgamma(trials + 1.0) - math.lgamma(middle + 1.0) - math.lgamma(trials - middle + 1.0)
    chances[middle - first] = np.exp(log + middle * np.log(p) + (trials - middle) * np.log1p(-p))
    odds = p / (1 - p)
    for j in range(middle, last):
        chances[j + 1 - first] = chances[j - first] * odds * (trials - j) / (j + 1)
    for j in range(middle, first, -1):
        chances[j - 1 - first] = chances[j - first] / odds * j / (trials - j + 1)
    return first, chances


@njit(nogil=True, cache=True)
def lower_tail_of(supported, people, n, p, q, own):  # type: ignore[no-untyped-def]
    """Pr[C < supported] + own Pr[C = supported], for C the sum of Bin(people, p) and Bin(n - people, q)."""
    first, mine = _bulk(people, p)
    start, theirs = _bulk(n - people, q)
    below = np.cumsum(theirs)
    total = 0.0
    for j in range(len(mine)):
        allowed = supported - first - start - j
        if allowed < 0:
            break
        if allowed >= len(theirs):
            total += mine[j] * below[-1]
        else:
            total += mine[j] * (below[allowed] - (1 - own) * theirs[allowed])
    return min(total + 2 * LEFT_OUT, 1.0)


@njit(nogil=True, cache=True)
def upper_tail_of(supported, people, n, p, q, own):  # type: ignore[no-untyped-def]
    """Pr[C > supported] + own Pr[C = supported]."""
    return lower_tail_of(n - supported, people, n, 1 - p, 1 - q, own)


@njit(nogil=True, cache=True)
def first_people(supported, n, p, q, tail, own, upper, guess, step):  # type: ignore[no-untyped-def]
    """The least number of people with which the upper tail is above `tail`, or the lower one is not; the end if there is none.

    Both tails move one way with the number of people, because p > q.
    """
    end = n if upper else n + 1
    first = np.empty(len(supported), np.int64)
    for i in range(len(supported)):
        below, above, stride = 0, end, step
        middle = min(max(guess[i], 0), max(end - 1, 0))
        while below < above:
            if upper:
                holds = upper_tail_of(supported[i], middle, n, p, q, own) > tail
            else:
                holds = lower_tail_of(supported[i], middle, n, p, q, own) <= tail
            if holds:
                above = middle
            else:
                below = middle + 1
            # Strides around the guess until it is passed, then halves.
            near = middle - stride if holds else middle + stride
            stride *= 4
            middle = near if below <= near < above else (below + above) // 2
        first[i] = below
    return first


@njit(nogil=True, cache=True)
def _beyond(chance, successes, n, tail, own, upper):  # type: ignore[no-untyped-def]
    """By how much a tail passes the bound; it rises with the chance."""
    if upper:
        return tail - lower_tail_of(successes, n, n, chance, 0.0, own)
    return upper_tail_of(successes, n, n, chance, 0.0, own) - tail


@njit(nogil=True, cache=True)
def binomial_ends(successes, n, tail, own, upper, least, most):  # type: ignore[no-untyped-def]
    """The least chance whose upper tail is above `tail` (or the largest whose lower tail is), a little beyond.

    Straight lines between the two nearest known chances say where to look next; a side that stays counts half (Illinois).
    """
    ends = np.empty(len(successes))
    for i in range(len(successes)):
        below, above = least[i], most[i]
        enough = CHANCE_TOLERANCE * (above - below)
        first = _beyond(below, successes[i], n, tail, own, upper)
        last = _beyond(above, successes[i], n, tail, own, upper)
        for _ in range(MOST_STEPS):
            if above - below <= enough or first >= 0 or last <= 0:
                break
            middle = below - first * (above - below) / (last - first)
            middle = min(max(middle, below + enough / 2), above - enough / 2)
            value = _beyond(middle, successes[i], n, tail, own, upper)
            if value > 0:
                above, last, first = middle, value, first / 2
            else:
                below, first, last = middle, value, last / 2
        ends[i] = above if upper else below
    return ends
