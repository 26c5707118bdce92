"""What a search for frequent words found, and how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.batch import Floats
from deniable.estimators.estimate import Estimate, SmallSample, Target


@dataclass(frozen=True)
class Level:
    """One step of the search: prefixes of `bits` bits."""

    bits: int
    reports: int
    """How many users were asked at this step."""
    tested: int
    """How many prefixes were looked at."""
    passed: int
    """How many of them reached the threshold."""
    kept: int
    """How many were followed further: the largest, when too many passed."""
    threshold: float
    """The share a prefix needed."""


@dataclass(frozen=True)
class Scaled:
    """Intervals of shares as intervals of counts."""

    shares: SmallSample
    n: float

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends of the intervals, as counts."""
        low, high = self.shares.interval(level)
        return self.n * low, self.n * high


@dataclass(frozen=True, eq=False)
class HeavyHitters:
    """Words in the order of the search, which looks for the most frequent, and the steps that led to them.

    `shares` was estimated from users who had no part in finding or ordering the words, so it is unbiased, and the interval
    of the first word holds as often as any other. Of words that are nearly as frequent, the first need not have the largest
    estimate. The
    probability that any of `words` is nobody's word is at most `false_positives`.
    """

    words: tuple[Any, ...]
    shares: Estimate
    levels: tuple[Level, ...]
    false_positives: float
    n: int

    @property
    def threshold(self) -> float:
        """The share a whole word needed at the last step that was reached."""
        return self.levels[-1].threshold

    @property
    def counts(self) -> Estimate:
        """How many of the n users have each word."""
        return Estimate(
            value=self.shares.value * self.n,
            variance=self.shares.variance * self.n**2,
            n=self.n,
            target=self.shares.target,
            method=self.shares.method.replace("shares", "counts"),
            labels=self.shares.labels,
            bounds=(0.0, float(self.n)),
            sure=None if self.shares.sure is None else Scaled(self.shares.sure, float(self.n)),
        )

    def table(self, level: float = 0.95) -> list[tuple[Any, float, float, float]]:
        """(word, share, lower end, upper end) for every word."""
        low, high = self.shares.interval(level)
        return list(zip(self.words, self.shares.value.tolist(), low.tolist(), high.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.words


def held_out_shares(
    name: str,
    n: int,
    value: Floats,
    variance: Floats,
    words: list[object],
    target: Target,
    small_sample: SmallSample | None = None,
    sure: SmallSample | None = None,
) -> Estimate:
    """Shares from the group that had no part in the search; a given n users vary less than a population, by f(1-f)/n."""
    if target == "these users":
        within = np.clip(value, 0, 1)
        variance = variance - within * (1 - within) / n
    return Estimate(
        value=value,
        variance=variance,
        n=n,
        target=target,
        method=f"unbiased shares of {name}, from users who had no part in the search",
        labels=words,
        bounds=(0.0, 1.0),
        small_sample=small_sample,
        sure=sure,
    )
