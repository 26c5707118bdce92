"""Can honest users have sent these reports? Counts against everything the mechanism can produce."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from deniable.batch import Accumulator, BitCounts, Floats, SupportCounts
from deniable.errors import NotSupported
from deniable.estimators import dense, support_law
from deniable.privacy.auditing.reconstruction import MOST_WEIGHTS

ERROR = 1e-6
LEAST_EXPECTED = 25.0
ROUNDS = 4000


@dataclass(frozen=True)
class Plausibility:
    """The nearest possible population, and how unlikely the reports are even for that one (an upper bound)."""

    chance: float
    error: float
    reports: int
    method: str
    worst: int
    """The output or value that fits worst."""

    @property
    def implausible(self) -> bool:
        """Are the reports too unlikely for honest users with any values?"""
        return self.chance <= self.error

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if not self.implausible:
            return f"{self.reports:,} reports are possible from honest users ({self.method})"
        return f"IMPLAUSIBLE: no population explains {self.reports:,} reports ({self.method}); number {self.worst} fits worst"


def plausibility_test(sums: Accumulator, *, error: float = ERROR) -> Plausibility:
    """Test the sums of many reports against all mixtures of the mechanism's rows.

    With a count per output, the most likely population is fitted and the fit tested with as many degrees of freedom as
    outputs minus one: the truth fits no better than the fit does, so false alarms are at most about `error`. With
    a count per value (unary, hashes) every count must lie between what nobody and what everybody would give, and, for
    unary reports, all bits together have a known sum. Fakes that imitate honest users cannot be seen by anyone.
    """
    if sums.n < 100:
        raise NotSupported("plausibility needs at least 100 reports")
    if isinstance(sums, BitCounts | SupportCounts):
        return _support(sums, error)
    channel = sums.mechanism.channel
    if channel.inputs * channel.outputs > MOST_WEIGHTS or len(sums.sums) != channel.outputs:
        raise NotSupported("plausibility needs a channel whose weights can be written out; use fewer cells")
    counts = np.asarray(sums.sums, np.float64)
    rows = dense(channel, np.arange(channel.inputs))
    return _fit(counts, rows, error)


def _fit(counts: Floats, rows: Floats, error: float) -> Plausibility:
    n, reachable = counts.sum(), rows.max(axis=0) > 0
    if counts[~reachable].any():
        return Plausibility(0.0, error, int(n), "an output that never occurs", int(np.argmax(np.where(reachable, 0, counts))))
    expected = nearest_population(counts, rows) @ rows * n
    order = np.argsort(expected)
    pooled_expected, pooled_counts = _pooled(expected[order], counts[order])
    square = float(((pooled_counts - pooled_expected) ** 2 / pooled_expected).sum())
    chance = float(special.chdtrc(max(len(pooled_counts) - 1, 1), square))
    worst = int(np.argmax((counts - expected) ** 2 / np.maximum(expected, 1e-9)))
    return Plausibility(chance, error, int(n), "chi-square of the nearest population", worst)


def nearest_population(counts: Floats, rows: Floats) -> Floats:
    """The shares of inputs that make the counts most likely, by expectation maximization."""
    shares = np.full(len(rows), 1 / len(rows))
    observed = counts / counts.sum()
    for _ in range(ROUNDS):
        fitted = shares @ rows
        grown = shares * (rows @ np.where(observed > 0, observed / np.maximum(fitted, 1e-300), 0.0))
        grown /= grown.sum()
        if np.abs(grown - shares).max() < 1e-10:
            return np.asarray(grown)
        shares = grown
    return np.asarray(shares)


def _pooled(expected: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Neighbours in the order of expectation merged until each expects enough for the chi-square."""
    group = np.zeros(len(expected), np.int64)
    running, number = 0.0, 0
    for place, value in enumerate(expected):
        group[place] = number
        running += value
        if running >= LEAST_EXPECTED:
            running, number = 0.0, number + 1
    if running and number:
        group[group == number] = number - 1  # what is left joins the last full group
    return np.bincount(group, expected).astype(np.float64), np.bincount(group, counts).astype(np.float64)


def _support(sums: Accumulator, error: float) -> Plausibility:
    law, n = support_law(sums.mechanism), sums.n
    counts = np.asarray(sums.sums, np.float64)
    low = special.bdtr(counts, n, law.q)  # fewer than if nobody had the value
    high = np.where(counts > 0, special.bdtrc(np.maximum(counts - 1, 0), n, law.p), 1.0)  # more than if everybody had
    tails, worst = np.minimum(low, high), int(np.argmin(np.minimum(low, high)))
    # Hashed counts have q as an average over hash functions only; the slack is far below the noise of any real n.
    chance, method = float(2 * len(counts) * tails.min()), "every count between nobody and everybody"
    channel = sums.mechanism.channel
    if isinstance(sums, BitCounts):
        subset = channel.ones is not None
        total = _total_chance(counts, n, law.p, law.q, subset)
        if 2 * total < chance:
            chance, method = 2 * total, "the number of ones in all reports"
    return Plausibility(min(1.0, chance), error, n, method, worst)


def _total_chance(counts: Floats, n: int, p: float, q: float, subset: bool) -> float:
    """A Bernstein bound for the sum of all bits, whose mean and variance do not depend on who has what."""
    size = len(counts)
    excess = abs(float(counts.sum()) - n * (p + (size - 1) * q))
    if subset:  # every report has the same number of ones
        return 0.0 if excess > 0.5 else 1.0
    variance = n * (p * (1 - p) + (size - 1) * q * (1 - q))
    return min(1.0, 2 * math.exp(-(excess**2) / (2 * (variance + excess / 3))))
