"""What a report that names pairs of a key and a number says about one key: its moments, and quotients of linear sums of it.

A report names `chosen` of all places. With e**epsilon between sets that meet the held places and those that do not, its law is
that of `chosen` places drawn without replacement, `hit` times, less `hit` - 1 times the same without the held places. A sum of
weights over places that are drawn without replacement has known moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Accumulator, Floats
from deniable.errors import NotSupported
from deniable.estimators.estimate import half_width
from deniable.estimators.score_intervals import FEW_REPORTS, MOST_SKEWNESS

TRIED = 801
"""Values of a quotient that are tried; an interval ends one step beyond the last that is possible."""


class Moments(NamedTuple):
    """Of what one report adds to an unbiased sum: mean, variance, third central moment."""

    mean: Floats
    variance: Floats
    third: Floats


@dataclass(frozen=True, eq=False)
class PairLaw:
    """How often every pair was named, a row for each key, and the chances behind it."""

    counts: NDArray[np.int64]
    n: int
    p: float
    q: float
    places: int
    held: int
    chosen: int

    @classmethod
    def of(cls, sums: Accumulator) -> PairLaw:
        """From the sums, and the integers of the channel."""
        channel = sums.mechanism.channel
        padded, chosen = channel.padded, channel.ones
        own, other = channel.naming(1, 1), channel.naming(0, 1)
        if padded is None or padded.levels == 1 or chosen is None or own is None or other is None:
            raise NotSupported(
                f"reports of {sums.mechanism.name} do not name numbers, so their distribution is not known; "
                "pair-set reports do, for the same domain with few cells"
            )
        pairs = padded.items * padded.levels
        counts = sums.sums[:pairs].reshape(padded.items, padded.levels)
        return cls(counts, sums.n, float(own), float(other), pairs + padded.at_most, padded.at_most, chosen)

    @cached_property
    def pairs(self) -> Floats:
        """The share of people with every pair, unbiased."""
        return np.asarray((self.counts / self.n - self.q) / (self.p - self.q))

    @cached_property
    def shares(self) -> Floats:
        """The share of people with every key, unbiased."""
        return np.asarray(self.pairs.sum(axis=1))

    def about(self, marks: Floats, tried: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Variance and third central moment of the sum of mark - t, for every t that is tried, where t is the true mean.

        `share` is how many people have the key; everyone who has it has the mark 0 or 1.
        """
        variance, third = np.zeros(()), np.zeros(())
        people = self._people(tuple(sorted(marks.tolist())), tuple(tried.tolist()))
        # The people add up to 0 on average, so moments about their own means are moved to 0.
        for part, one in zip((1 - share, share * tried, share * (1 - tried)), people, strict=True):
            variance = variance + part * (one.variance + one.mean**2)
            third = third + part * (one.third + 3 * one.variance * one.mean + one.mean**3)
        return variance, third

    def _people(self, marks: tuple[float, ...], tried: tuple[float, ...]) -> list[Moments]:
        """Of people without the key, with the highest mark and with the lowest. All numbers of a key have the same."""
        if (marks, tried) not in self._moments:
            weights = np.array(marks) - np.array(tried)[:, None]
            self._moments[marks, tried] = [self.moments(weights, own) for own in (None, len(marks) - 1, 0)]
        return self._moments[marks, tried]

    @cached_property
    def _moments(self) -> dict[tuple[tuple[float, ...], tuple[float, ...]], list[Moments]]:
        return {}

    def moments(self, weights: Floats, own: int | None) -> Moments:
        """Of the sum of `weights` (along the last axis) over the named pairs of a key, less what chance adds, over p - q.

        The person has the pair of the place `own`, or does not have the key.
        """
        hit = self.p * self.places / self.chosen
        rest = weights if own is None else np.delete(weights, own, axis=-1)
        drawn = _drawn(weights, self.places, self.chosen), _drawn(rest, self.places - self.held, self.chosen)
        middle = hit * drawn[0].mean - (hit - 1) * drawn[1].mean
        variance, third = np.zeros_like(middle), np.zeros_like(middle)
        for part, one in zip((hit, 1 - hit), drawn, strict=True):
            off = one.mean - middle
            variance += part * (one.variance + off**2)
            third += part * (one.third + 3 * one.variance * off + off**3)
        gap = self.p - self.q
        return Moments((middle - self.q * weights.sum(axis=-1)) / gap, variance / gap**2, third / gap**3)


def _drawn(weights: Floats, size: int, chosen: int) -> Moments:
    """The sum over `chosen` of `size` places, drawn without replacement; all other places weigh nothing."""
    middle = weights.sum(axis=-1) / size
    second = (weights**2).sum(axis=-1) - size * middle**2
    third = (weights**3).sum(axis=-1) - 3 * middle * (weights**2).sum(axis=-1) + 2 * size * middle**3
    spread = chosen * (size - chosen) / (size * (size - 1))
    return Moments(chosen * middle, spread * second, spread * (size - 2 * chosen) / (size - 2) * third)


@dataclass(frozen=True, eq=False)
class PairQuotients:
    """Means over those who have a key of marks from 0 to 1 that its numbers have: the number itself, or 1 for a single one.

    For each row of `marks` and each key, all means t under which the sum of mark - t is no farther from 0 than chance allows
    (Fieller, 1954). The spread is that of a population in which everyone with the key has the mark 0 or 1, which is the widest.
    """

    law: PairLaw
    marks: Floats

    @cached_property
    def value(self) -> Floats:
        """The quotient where it lies in the 95 % interval, else the interval's middle: a row for each key."""
        low, high = self.interval(0.95)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (self.law.pairs @ self.marks.T) / self.law.shares[:, None]
        usable = (self.law.shares[:, None] > 0) & (ratio >= low) & (ratio <= high)
        return np.asarray(np.where(usable, ratio, (low + high) / 2))

    @cached_property
    def _known(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """The outermost possible means, a row for each key."""
        if level not in self._known:
            ends = [self._ends(row, half_width(level)) for row in self.marks]
            self._known[level] = np.stack([low for low, _ in ends], axis=1), np.stack([high for _, high in ends], axis=1)
        return self._known[level]

    def _ends(self, marks: Floats, reach: float) -> tuple[Floats, Floats]:
        tried = np.linspace(0, 1, TRIED)
        possible = self._possible(marks, tried, reach)
        possible[~possible.any(axis=1)] = True  # nothing explains what was seen: then nothing is ruled out
        first, last = possible.argmax(axis=1), TRIED - 1 - possible[:, ::-1].argmax(axis=1)
        return tried[np.maximum(first - 1, 0)], tried[np.minimum(last + 1, TRIED - 1)]

    def _possible(self, marks: Floats, tried: Floats, reach: float) -> NDArray[np.bool_]:
        law, n = self.law, self.law.n
        variance, third = law.about(marks, tried, np.clip(law.shares, 0, 1)[:, None])
        spread = np.sqrt(np.maximum(variance, 1e-300))
        seen = (law.pairs @ marks)[:, None] - tried * law.shares[:, None]
        toward = np.clip(np.sign(seen) * third / spread**3 / np.sqrt(n), 0, MOST_SKEWNESS)
        far = reach + (reach**2 - 1) * toward / 6
        return np.asarray(np.abs(seen) <= far * spread / np.sqrt(n) * (1 + FEW_REPORTS / n))
