"""Intervals for counts and shares that hold for any number of reports.

The support C(v) of a value is binomial when people are drawn from a population: Clopper and Pearson's interval
for its chance becomes one for the share. Given who the people are, C(v) is a sum of two binomials, of the
people with the value and of the others, and the interval holds every count whose law does not put C(v)
into one of its tails. Where that takes too long, the binomial with the same mean stands in: no sum of independent
coins spreads wider (Hoeffding, "On the distribution of the number of successes in independent trials", 1956).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from deniable.batch import Floats
from deniable.estimators.binomial_tails import binomial_ends, first_people, reach_of

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
        terms = 2 * reach_of(self.n, self.p * (1 - self.p)) + 3
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
    # With all of its own chance an end is Clopper and Pearson's, with none of it that of one success more or less.
    (low, high), (more, _), (_, fewer) = (clopper_pearson(np.clip(successes + step, 0, n), n, tail) for step in (0, 1, -1))
    low = binomial_ends(successes, n, tail, own, False, low, np.maximum(more, low))
    high = binomial_ends(successes, n, tail, own, True, np.minimum(fewer, high), high)
    return np.where(successes == 0, 0.0, low), np.where(successes == n, 1.0, high)


def clopper_pearson(successes: NDArray[np.int64], n: int, tail: float) -> tuple[Floats, Floats]:
    """The chances of a binomial that put neither tail beyond the successes below `tail`.

    >>> low, high = clopper_pearson(np.array([0, 5]), 10, 0.025)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871], [0.3085, 0.8129])
    """
    return chance_below(successes, n, tail), chance_above(successes, n, tail)


def chance_below(hits: ArrayLike, trials: ArrayLike, error: float) -> Floats:
    """Clopper and Pearson's lower end: the chance behind `hits` of `trials` is below this with probability at most `error`.

    >>> float(chance_below(0, 10, 0.01)), round(float(chance_below(10, 10, 0.01)), 4)
    (0.0, 0.631)
    """
    hits, trials = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    return np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), trials - hits + 1, error), 0.0)


def chance_above(hits: ArrayLike, trials: ArrayLike, error: float) -> Floats:
    """Their upper end: the chance exceeds this with probability at most `error`.

    >>> round(float(chance_above(0, 10, 0.01)), 4), float(chance_above(10, 10, 0.01))
    (0.369, 1.0)
    """
    hits, trials = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    return np.where(hits < trials, special.betainccinv(hits + 1, np.maximum(trials - hits, 1), error), 1.0)


def two_binomials(supported: NDArray[np.int64], n: int, p: float, q: float, tail: float, own: float = 1.0) -> tuple[Floats, Floats]:
    """The least and the largest number of people with the value under which neither tail falls below `tail`."""
    # The normal ends are near.
    ends = SupportInterval(supported, n, p, q, 1.0, True)._normal(supported, tail)
    step = max(int(math.sqrt(n * max(p * (1 - p), q * (1 - q))) / (p - q) / 64), 1)
    low = first_people(supported, n, p, q, tail, own, True, ends[0].astype(np.int64), step)
    beyond = first_people(supported, n, p, q, tail, own, False, ends[1].astype(np.int64), step)
    # A support that no count explains leaves the nearest one.
    high = np.maximum(beyond - 1, 0)
    return np.minimum(low, high).astype(np.float64), np.maximum(low, high).astype(np.float64)
