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

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends, within [0, n] or [0, 1]."""
        # Where there are many values, few different supports occur.
        different, where = np.unique(self.supported, return_inverse=True)
        low, high = self._people(different, (1 - level) / 2)
        return low[where] * self.scale, high[where] * self.scale

    def _people(self, supported: NDArray[np.int64], tail: float) -> tuple[Floats, Floats]:
        terms = 2 * _reach(np.array([float(self.n)]), self.p * (1 - self.p))[0] + 3
        if self.these_users and len(supported) * terms <= MOST_TERMS:
            return two_binomials(supported, self.n, self.p, self.q, tail)
        low, high = clopper_pearson(supported, self.n, tail)
        if self.these_users:
            # Hoeffding's comparison holds from one success beyond the mean.
            low, high = np.minimum(low, (supported - 1) / self.n), np.maximum(high, (supported + 1) / self.n)
        ends = [np.clip(self.n * (end - self.q) / (self.p - self.q), 0, self.n) for end in (low, high)]
        return ends[0], ends[1]


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


def two_binomials(supported: NDArray[np.int64], n: int, p: float, q: float, tail: float) -> tuple[Floats, Floats]:
    """The least and the largest number of people with the value under which neither tail falls below `tail`."""
    # Both tails move one way with the number of people, because p > q: bisection finds where they cross.
    low = _first(lambda people: upper_tail(supported, people, n, p, q) > tail, len(supported), n)
    beyond = _first(lambda people: lower_tail(supported, people, n, p, q) <= tail, len(supported), n + 1)
    # A support that no count explains leaves the nearest one.
    high = np.maximum(beyond - 1, 0)
    return np.minimum(low, high).astype(np.float64), np.maximum(low, high).astype(np.float64)


def _first(holds_at: Callable[[NDArray[np.int64]], NDArray[np.bool_]], size: int, end: int) -> NDArray[np.int64]:
    """The least number below `end` for which the rising condition holds, else `end`."""
    below, above = np.zeros(size, np.int64), np.full(size, end, np.int64)
    while (below < above).any():
        middle = (below + above) // 2
        holds = holds_at(np.minimum(middle, end - 1))
        open_ = below < above
        above = np.where(open_ & holds, middle, above)
        below = np.where(open_ & ~holds, middle + 1, below)
    return below


def upper_tail(supported: NDArray[np.int64], people: NDArray[np.int64], n: int, p: float, q: float) -> Floats:
    """Pr[C >= supported], for C the sum of Bin(people, p) and Bin(n - people, q)."""
    return lower_tail(n - supported, people, n, 1 - p, 1 - q)


def lower_tail(supported: NDArray[np.int64], people: NDArray[np.int64], n: int, p: float, q: float) -> Floats:
    """Pr[C <= supported], for C the sum of Bin(people, p) and Bin(n - people, q)."""
    own = people.astype(np.float64)
    reach = _reach(own, p * (1 - p))
    first = np.maximum(np.floor(own * p - reach), 0)
    terms = np.arange(int((2 * reach + 2).max()) + 1)
    j: Floats = np.asarray(first[:, None] + terms[None, :], np.float64)
    inside = j <= own[:, None]
    j = np.where(inside, j, 0.0)
    mass = np.where(inside, _binomial(j, own[:, None], p), 0.0)
    left = supported[:, None] - j
    others = (n - people)[:, None]
    below = special.bdtr(np.clip(left, 0, others), others, q)
    return np.asarray(np.minimum((mass * np.where(left < 0, 0.0, below)).sum(axis=1) + LEFT_OUT, 1.0))


def _reach(trials: Floats, spread: float) -> Floats:
    """Bernstein: beyond this far from its mean a binomial has at most LEFT_OUT of its mass."""
    bits = math.log(2 / LEFT_OUT)
    return np.asarray(bits / 3 + np.sqrt(bits**2 / 9 + 2 * trials * spread * bits))


def _binomial(j: Floats, trials: Floats, p: float) -> Floats:
    log = special.gammaln(trials + 1) - special.gammaln(j + 1) - special.gammaln(trials - j + 1)
    return np.asarray(np.exp(log + special.xlogy(j, p) + special.xlog1py(trials - j, -p)))
