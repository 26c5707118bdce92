"""Intervals for counts and shares that hold for any number of reports.

The support C(v) of a value is binomial when people are drawn from a population: Clopper and Pearson's interval
for its chance becomes one for the share. Given who the people are, C(v) is a sum of two binomials, of the
people with the value and of the others, and the interval holds every count whose law does not put C(v)
into one of its tails. Where that takes too long, the binomial with the same mean stands in: no sum of independent
coins spreads wider (Hoeffding, "On the distribution of the number of successes in independent trials", 1956).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
LEFT_OUT = 1e-12
"""How much of a binomial may be left out of a sum; it is added to the tail, so intervals only grow by it."""
MOST_TERMS = 1 << 17
"""Terms of one sum over all values: about a second for a whole interval."""


@dataclass(frozen=True)
class SupportInterval:
    """Intervals from support counts; `scale` is 1 for counts and 1/n for shares."""

    supported: NDArray[np.int64]
    n: int
    p: float
    q: float
    scale: float
    these_users: bool
    own: float = 1.0
    """Which part of the chance of the very support that was seen counts as a tail: 1 is exact, less is shorter."""

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends, within [0, n] or [0, 1]."""
        if level not in self._known:
            # Where there are many values, few different supports occur.
            different, where = np.unique(self.supported, return_inverse=True)
            low, high = self._people(different, (1 - level) / 2)
            self._known[level] = low[where] * self.scale, high[where] * self.scale
        low, high = self._known[level]
        return low.copy(), high.copy()

    @cached_property
    def _known(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def _people(self, supported: NDArray[np.int64], tail: float) -> tuple[Floats, Floats]:
        terms = 2 * _reach(np.array([float(self.n)]), self.p * (1 - self.p))[0] + 3
        if self.own < 1:
            return self._near(supported, tail, few=len(supported) * terms <= MOST_TERMS)
        if self.these_users and len(supported) * terms <= MOST_TERMS:
            return two_binomials(supported, self.n, self.p, self.q, tail)
        low, high = clopper_pearson(supported, self.n, tail)
        if self.these_users:
            # Hoeffding's comparison holds from one success beyond the mean.
            low, high = np.minimum(low, (supported - 1) / self.n), np.maximum(high, (supported + 1) / self.n)
        ends = [np.clip(self.n * (end - self.q) / (self.p - self.q), 0, self.n) for end in (low, high)]
        return ends[0], ends[1]

    def _near(self, supported: NDArray[np.int64], tail: float, *, few: bool) -> tuple[Floats, Floats]:
        """Tails that hold only a part of the support's own chance, or for many reports normal ones; never empty."""
        low, high = self._normal(supported, tail)
        if not few:
            return low, high
        if self.these_users:
            least, most = two_binomials(supported, self.n, self.p, self.q, tail, self.own)
        else:
            least, most = (self._share(end) for end in near_binomial(supported, self.n, tail, self.own))
        # A support beyond what any count explains: the normal ends, which then allow for it.
        least = np.where(supported > self.n * self.p, np.minimum(least, low), least)
        most = np.where(supported < self.n * self.q, np.maximum(most, high), most)
        return least, most

    def _share(self, chance: Floats) -> Floats:
        return np.asarray(np.clip(self.n * (chance - self.q) / (self.p - self.q), 0, self.n))

    def _normal(self, supported: NDArray[np.int64], tail: float) -> tuple[Floats, Floats]:
        """Wilson's interval: every count m with (C - mean(m))**2 <= (z**2 + excess) variance(m).

        `excess` is what that ratio is at the nearest possible count when C lies beyond all of them: counts are compared
        with the best possible one, so that an interval is never empty.
        """
        n, p, q = float(self.n), self.p, self.q
        c = supported.astype(np.float64)
        if self.these_users:
            spread, by_one, by_two = n * q * (1 - q), p * (1 - p) - q * (1 - q), 0.0
        else:
            # n r (1 - r) with r = q + (p - q) m / n.
            spread, by_one, by_two = n * q * (1 - q), (p - q) * (1 - 2 * q), -((p - q) ** 2) / n
        nearest = np.clip((c - n * q) / (p - q), 0, n)
        off = c - n * q - (p - q) * nearest
        reach = special.ndtri(1 - tail) ** 2 + off**2 / (spread + by_one * nearest + by_two * nearest**2)
        # (p - q)**2 m**2 - 2 (c - n q)(p - q) m + (c - n q)**2 = reach (spread + by_one m + by_two m**2)
        a = (p - q) ** 2 - reach * by_two
        b = (c - n * q) * (p - q) + reach * by_one / 2
        root = np.sqrt(np.maximum(b**2 - a * ((c - n * q) ** 2 - reach * spread), 0.0))
        return np.clip((b - root) / a, 0, n), np.clip((b + root) / a, 0, n)


def near_binomial(successes: NDArray[np.int64], n: int, tail: float, own: float) -> tuple[Floats, Floats]:
    """The chances of a binomial under which neither tail falls below `tail`, with a part of the successes' own chance in it."""
    c = successes.astype(np.float64)

    def upper_tail(chance: Floats) -> Floats:
        return np.asarray((1 - own) * special.bdtrc(c, n, chance) + own * special.bdtrc(c - 1, n, chance))

    def lower_tail(chance: Floats) -> Floats:
        below = np.where(c > 0, special.bdtr(np.maximum(c - 1, 0), n, chance), 0.0)
        return np.asarray((1 - own) * below + own * special.bdtr(c, n, chance))

    ends = []
    for left in (True, False):
        below, above = np.zeros(len(c)), np.ones(len(c))
        for _ in range(60):
            middle = (below + above) / 2
            # The upper tail grows with the chance, the lower one falls.
            beyond = upper_tail(middle) > tail if left else lower_tail(middle) <= tail
            below, above = np.where(beyond, below, middle), np.where(beyond, middle, above)
        ends.append(below if left else above)
    return np.where(c == 0, 0.0, ends[0]), np.where(c == n, 1.0, ends[1])


def clopper_pearson(successes: NDArray[np.int64], n: int, tail: float) -> tuple[Floats, Floats]:
    """The chances of a binomial that put neither tail beyond the successes below `tail`.

    >>> low, high = clopper_pearson(np.array([0, 5]), 10, 0.025)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871], [0.3085, 0.8129])
    """
    c = successes.astype(np.float64)
    with np.errstate(invalid="ignore"):
        low = np.where(c == 0, 0.0, special.betaincinv(np.maximum(c, 1), n - c + 1, tail))
        high = np.where(c == n, 1.0, special.betaincinv(c + 1, np.maximum(n - c, 1), 1 - tail))
    return low, high


def two_binomials(supported: NDArray[np.int64], n: int, p: float, q: float, tail: float, own: float = 1.0) -> tuple[Floats, Floats]:
    """The least and the largest number of people with the value under which neither tail falls below `tail`."""

    # Both tails move one way with the number of people, because p > q: bisection finds where they cross.
    def part(way: Callable[..., Floats], people: NDArray[np.int64], step: int) -> Floats:
        whole = way(supported, people, n, p, q)
        if own == 1:
            return whole
        inside = (supported + step >= 0) & (supported + step <= n)
        without = np.where(inside, way(np.clip(supported + step, 0, n), people, n, p, q), 0.0)
        return np.asarray(own * whole + (1 - own) * without)

    middle = (supported - n * q) / (p - q)
    error = math.sqrt(n * max(p * (1 - p), q * (1 - q))) / (p - q)
    reach, step = float(special.ndtri(1 - tail)) * error, max(int(error / 8), 1)
    low = _first(lambda people: part(upper_tail, people, 1) > tail, (middle - reach).astype(np.int64), step, n)
    beyond = _first(lambda people: part(lower_tail, people, -1) <= tail, (middle + reach).astype(np.int64), step, n + 1)
    # A support that no count explains leaves the nearest one.
    high = np.maximum(beyond - 1, 0)
    return np.minimum(low, high).astype(np.float64), np.maximum(low, high).astype(np.float64)


def _first(
    holds_at: Callable[[NDArray[np.int64]], NDArray[np.bool_]], guess: NDArray[np.int64], step: int, end: int
) -> NDArray[np.int64]:
    """The least number below `end` for which the rising condition holds, else `end`; looked for around a guess."""
    below, above = np.zeros(len(guess), np.int64), np.full(len(guess), end, np.int64)
    middle = np.clip(guess, 0, max(end - 1, 0))
    while (below < above).any():
        holds = holds_at(np.minimum(middle, end - 1))
        open_ = below < above
        above = np.where(open_ & holds, middle, above)
        below = np.where(open_ & ~holds, middle + 1, below)
        # Strides around the guess until it is passed, then halves.
        near = np.where(holds, middle - step, middle + step)
        step *= 4
        middle = np.where((near >= below) & (near < above), near, (below + above) // 2)
    return below


def upper_tail(supported: NDArray[np.int64], people: NDArray[np.int64], n: int, p: float, q: float) -> Floats:
    """Pr[C >= supported], for C the sum of Bin(people, p) and Bin(n - people, q)."""
    return lower_tail(n - supported, people, n, 1 - p, 1 - q)


def lower_tail(supported: NDArray[np.int64], people: NDArray[np.int64], n: int, p: float, q: float) -> Floats:
    """Pr[C <= supported], for C the sum of Bin(people, p) and Bin(n - people, q)."""
    first, mine = _bulk(people, n, p)
    start, theirs = _bulk(n - people, n, q)
    below = np.cumsum(theirs, axis=1)
    # How many of the others' successes are still allowed beside j of one's own.
    allowed = (supported - first - start)[:, None] - np.arange(mine.shape[1])
    chance = np.take_along_axis(below, np.clip(allowed, 0, below.shape[1] - 1), axis=1)
    return np.asarray(np.minimum((mine * np.where(allowed < 0, 0.0, chance)).sum(axis=1) + 2 * LEFT_OUT, 1.0))


def _bulk(trials: NDArray[np.int64], n: int, p: float) -> tuple[NDArray[np.int64], Floats]:
    """For every number of trials where the bulk of its binomial begins, and its chances from there on."""
    own = trials.astype(np.float64)
    reach = _reach(own, p * (1 - p))
    first = np.maximum(np.floor(own * p - reach), 0).astype(np.int64)
    j = first[:, None] + np.arange(min(int((2 * reach + 2).max()), n) + 1)
    inside = j <= trials[:, None]
    return first, np.where(inside, _binomial(np.where(inside, j, 0), trials[:, None], p, log_factorials(n)), 0.0)


@lru_cache(maxsize=8)
def log_factorials(n: int) -> Floats:
    """ln 0!, ln 1!, … ln n!"""
    return np.asarray(special.gammaln(np.arange(1.0, n + 2)))


def _reach(trials: Floats, spread: float) -> Floats:
    """Bernstein: beyond this far from its mean a binomial has at most LEFT_OUT of its mass."""
    bits = math.log(2 / LEFT_OUT)
    return np.asarray(bits / 3 + np.sqrt(bits**2 / 9 + 2 * trials * spread * bits))


def _binomial(j: NDArray[np.int64], trials: NDArray[np.int64], p: float, logs: Floats) -> Floats:
    return np.asarray(np.exp(logs[trials] - logs[j] - logs[trials - j] + special.xlogy(j, p) + special.xlog1py(trials - j, -p)))
