"""How many people have each key, and the mean and the distribution of the numbers that go with it.

A report shows some keys with a plus, the upper end of the interval, or a minus. A person who has the key shows it with
probability p, anyone else with q; of a person with the value v, from -1 to 1, pluses are g v more likely than minuses. So with A
pluses and B minuses out of n, f = ((A + B)/n - q) / (p - q) is the share of people who have the key, and s = (A - B)/(n g) the
mean over everyone of v, counted as 0 without the key; both are unbiased, and s / f estimates the mean over those who have it.
Reports that name pairs of a key and a number are read pair by pair: what is known about numbers is then their whole distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Accumulator, Floats
from deniable.core import KeyValue
from deniable.errors import NotSupported
from deniable.estimators.estimate import Estimate, Target, check_target, half_width
from deniable.estimators.frequency import OWN
from deniable.estimators.intervals import SupportInterval
from deniable.estimators.pair_law import TRIED, PairLaw, PairQuotients
from deniable.estimators.score_intervals import FEW_REPORTS, MOST_SKEWNESS, ScoreIntervals, ScoreQuestion, averaged
from deniable.estimators.source import Source, accumulated

MOST_NUMBERS = 256
"""Points of an interval whose shares are worked out one by one."""


def key_shares(source: Source, *, target: Target = "these users") -> Estimate:
    """The share of people who have each key, unbiased; people have several, so they add up to no total."""
    sums, domain = _pairs(source, target)
    if sums.mechanism.channel.signs() is None:
        return _shares_by_pairs(sums, domain, target)
    law, n = KeyLaw.of(sums), sums.n
    shown = law.pluses + law.minuses
    share = (shown / n - law.q) / (law.p - law.q)
    inside = np.clip(share, 0, 1)
    noise = (law.q * (1 - law.q) * (1 - inside) + law.p * (1 - law.p) * inside) / (law.p - law.q) ** 2
    exact = SupportInterval(shown, n, law.p, law.q, 1 / n, target == "these users")
    return Estimate(
        value=share,
        variance=noise / n if target == "these users" else (noise + inside * (1 - inside)) / max(n - 1, 1),
        n=n,
        target=target,
        method=f"unbiased shares of the keys of {sums.mechanism.name}",
        labels=domain.labels,
        bounds=(0.0, 1.0),
        small_sample=exact,
        sure=SupportInterval(shown, n, law.p, law.q, 1 / n, target == "these users", OWN),
    )


def key_means(source: Source, *, target: Target = "these users") -> Estimate:
    """The mean of the numbers that go with each key, over those who have it.

    The quotient of two unbiased estimates, cut to the interval. It has no finite standard error where hardly anybody has the
    key; its interval is then as wide as the domain's, and the value its middle. The standard error shown is the one that a
    normal interval of the same width would have. Intervals hold for people drawn from a population, hence for these users.

    >>> from deniable.core import Interval, KeyValue, make_mechanism
    >>> minutes = make_mechanism("pckv-grr", domain=KeyValue(["mail", "maps"], Interval(0, 60, cells=6), at_most=1), epsilon=2)
    >>> low, high = key_means(minutes.randomize_many([{"mail": 50}] * 2000)).interval(0.9999)
    >>> bool(low[0] <= 50 <= high[0]), (float(low[1]), float(high[1]))  # nobody has maps, so its mean may be anything
    (True, (0.0, 60.0))
    """
    sums, domain = _pairs(source, target)
    low, width = float(domain.values.low), float(domain.values.width)
    intervals: MeanIntervals | Conditional
    if sums.mechanism.channel.signs() is None:
        marks = np.linspace(0, 1, domain.grid.size)[None, :]
        intervals = Conditional(PairQuotients(PairLaw.of(sums), marks), low, width)
    else:
        intervals = MeanIntervals(KeyLaw.of(sums), low, width)
    return _conditional(sums, target, intervals, "means of the keys", domain.labels, (low, low + width))


def key_distributions(source: Source, *, target: Target = "these users") -> Estimate:
    """For each key, the share of every number among those who have the key; labels are pairs of a key and a number.

    Quotients of unbiased estimates, as the means are, and their intervals hold in the same way: for a key that hardly
    anybody has they reach from 0 to 1. Numbers are rounded to the points of the domain. Needs reports of pair-set.

    >>> from deniable.core import Interval, KeyValue, make_mechanism
    >>> stars = make_mechanism("pair-set", domain=KeyValue(["tea", "milk"], Interval(1, 3, cells=2), at_most=1), epsilon=3)
    >>> estimate = key_distributions(stars.randomize_many([{"tea": 3}, {"tea": 1}] * 2000))
    >>> low, high = estimate.interval(0.9999)
    >>> estimate.labels[2], bool(low[2] <= 1 / 2 <= high[2]), (float(low[5]), float(high[5]))
    (('tea', 3.0), True, (0.0, 1.0))
    """
    sums, domain = _pairs(source, target)
    if domain.grid.size > MOST_NUMBERS:
        raise NotSupported(f"a distribution is for at most {MOST_NUMBERS} numbers: give the domain's interval fewer cells")
    marks = np.eye(domain.grid.size)
    numbers = [float(domain.values.low) + float(domain.values.width) * step for step in np.linspace(0, 1, len(marks)).tolist()]
    labels = [(key, number) for key in domain.labels for number in numbers]
    intervals = Conditional(PairQuotients(PairLaw.of(sums), marks), 0.0, 1.0)
    return _conditional(sums, target, intervals, "shares of the numbers of each key", labels, (0.0, 1.0))


def _conditional(
    sums: Accumulator,
    target: Target,
    intervals: MeanIntervals | Conditional,
    what: str,
    labels: Sequence[Any],
    bounds: tuple[float, float],
) -> Estimate:
    """An estimate among those who have a key; its standard errors are those of normal intervals of the same width."""
    low, high = intervals.interval(0.95)
    return Estimate(
        value=intervals.value,
        variance=((high - low) / (2 * half_width(0.95))) ** 2,
        n=sums.n,
        target=target,
        method=f"{what} of {sums.mechanism.name}",
        labels=labels,
        bounds=bounds,
        sure=intervals,
    )


def _shares_by_pairs(sums: Accumulator, domain: KeyValue, target: Target) -> Estimate:
    """The share of every key is the sum of those of its pairs."""
    law, n = PairLaw.of(sums), sums.n
    every, own = np.ones(law.counts.shape[1]), np.array([1.0, 0.0])
    of_one = [law.moments(every, place) for place in (0, None)]  # whichever number goes with the key
    mean, variance, third = (np.array([float(one[part]) for one in of_one]) for part in range(3))
    moments = averaged(mean, variance, third, n, float(target == "population"))
    likely = np.clip(law.shares, 0, 1)
    # A sum of several counts, whose lattice is no guide to its tails: twice the step holds.
    step = 2 / (n * (law.p - law.q))
    asked = [
        ScoreQuestion(float(law.shares[key]), own, np.array([one, 1 - one]), moments, n, step) for key, one in enumerate(likely)
    ]
    return Estimate(
        value=law.shares,
        variance=np.array([moments(question.likely)[0] for question in asked]),
        n=n,
        target=target,
        method=f"unbiased shares of the keys of {sums.mechanism.name}",
        labels=domain.labels,
        bounds=(0.0, 1.0),
        sure=ScoreIntervals(tuple(asked)),
    )


def _pairs(source: Source, target: Target) -> tuple[Accumulator, KeyValue]:
    check_target(target)
    sums = accumulated(source)
    domain = sums.mechanism.domain
    if not isinstance(domain, KeyValue):
        raise NotSupported(f"{sums.mechanism.name} does not report keys with values; this is for the domain KeyValue")
    return sums, domain


@dataclass(frozen=True, eq=False)
class KeyLaw:
    """What was counted, and the chances behind it."""

    pluses: NDArray[np.int64]
    minuses: NDArray[np.int64]
    n: int
    p: float
    q: float
    slope: float
    """How much likelier a plus is than a minus, for the value 1."""

    @classmethod
    def of(cls, sums: Accumulator) -> KeyLaw:
        """From the sums, and the integers of the channel."""
        channel = sums.mechanism.channel
        signs, padded = channel.signs(), channel.padded
        if signs is None or padded is None:
            raise NotSupported(f"reports of {sums.mechanism.name} do not show keys with signs")
        agree, differ, other = signs
        most = padded.at_most
        counts = sums.sums[: 2 * padded.items].reshape(-1, 2)
        shown = (agree + differ + 2 * other * (most - 1)) / most
        return cls(counts[:, 0], counts[:, 1], sums.n, float(shown), float(2 * other), float((agree - differ) / most))


@dataclass(frozen=True, eq=False)
class Conditional:
    """Quotients of pairs on the scale of what they are about, key after key."""

    quotients: PairQuotients
    low: float
    width: float

    @property
    def value(self) -> Floats:
        """In one row."""
        return self.low + self.width * self.quotients.value.reshape(-1)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends of each."""
        low, high = self.quotients.interval(level)
        return self.low + self.width * low.reshape(-1), self.low + self.width * high.reshape(-1)


@dataclass(frozen=True, eq=False)
class MeanIntervals:
    """For every key, all means under which s - mean * f is no farther from 0 than chance allows (Fieller, 1954).

    The spread is that of a population with this mean, and tails are corrected for skewness.
    """

    law: KeyLaw
    low: float
    width: float

    @cached_property
    def shares(self) -> Floats:
        """f, unbiased."""
        return np.asarray(((self.law.pluses + self.law.minuses) / self.law.n - self.law.q) / (self.law.p - self.law.q))

    @cached_property
    def value(self) -> Floats:
        """s / f where it lies in the 95 % interval, else the interval's middle."""
        totals = (self.law.pluses - self.law.minuses) / self.law.n / self.law.slope
        low, high = self.interval(0.95)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.clip(self._scaled(totals / self.shares), self.low, self.low + self.width)
        usable = (self.shares > 0) & (ratio >= low) & (ratio <= high)
        return np.asarray(np.where(usable, ratio, (low + high) / 2))

    def _scaled(self, signed: Floats) -> Floats:
        return np.asarray(self.low + (signed + 1) / 2 * self.width)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """The outermost possible means."""
        reach = half_width(level)
        tried = np.linspace(-1, 1, TRIED)
        possible = self._possible(tried, reach)
        possible[~possible.any(axis=1)] = True  # nothing explains what was seen: then nothing is ruled out
        first, last = possible.argmax(axis=1), TRIED - 1 - possible[:, ::-1].argmax(axis=1)
        low, high = tried[np.maximum(first - 1, 0)], tried[np.minimum(last + 1, TRIED - 1)]
        return self._scaled(low), self._scaled(high)

    def _possible(self, means: Floats, reach: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        law, n = self.law, self.law.n
        gap, share = law.p - law.q, np.clip(self.shares, 0, 1)[:, None]
        shown = (1 - share) * law.q + share * law.p
        more = share * means * law.slope
        plus, minus = (shown + more) / 2, (shown - more) / 2
        # What a plus, a minus and nothing add to s - mean f.
        values = np.stack(
            [1 / law.slope - means * (1 - law.q) / gap, -1 / law.slope - means * (1 - law.q) / gap, means * law.q / gap]
        )
        chances = np.stack([plus, minus, 1 - plus - minus])
        seen = (law.pluses[:, None] * values[0] + law.minuses[:, None] * values[1]) / n
        seen = seen + (1 - (law.pluses + law.minuses)[:, None] / n) * values[2]
        middle = (chances * values[:, None, :]).sum(axis=0)
        off = values[:, None, :] - middle
        spread = np.sqrt(np.maximum((chances * off**2).sum(axis=0), 1e-300))
        skewness = (chances * off**3).sum(axis=0) / spread**3 / np.sqrt(n)
        toward = np.clip(np.sign(seen) * skewness, 0, MOST_SKEWNESS)
        far = reach + (reach**2 - 1) * toward / 6
        return np.asarray(np.abs(seen) <= far * spread / np.sqrt(n) * (1 + FEW_REPORTS / n))
