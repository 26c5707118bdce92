"""What a sample says about ρ, the probability that a model keeps its answer: an estimate and an interval that holds.

Counted     every point was looked at: nothing is left to chance
Drawn       independent draws of the mechanism itself: Clopper and Pearson's interval
Weighted    independent draws in strata, weighted: Bernstein's inequality, tested at every possible ρ

All three hold for every number of draws and every model; none relies on a normal approximation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.estimators import clopper_pearson

VARIANCE_SHARE = 0.25
"""How much of the allowed error is spent on not knowing the variance."""
NEWTON = 6
STEPS = 45
"""Halvings of [0, 1] when an end of an interval is searched."""


@dataclass(frozen=True)
class Counted:
    """ρ itself, between two certified ends: no chance is involved."""

    value: float
    evaluations: int = 0
    lower: float = -1.0
    upper: float = 2.0
    method: str = "counted"

    @property
    def estimate(self) -> float:
        """The utility ρ, which was counted and not sampled."""
        return self.value

    def interval(self, error: float) -> tuple[float, float]:
        """The certified ends; both are ρ when every point was counted."""
        return (self.lower if self.lower >= 0 else self.value), (self.upper if self.upper <= 1 else self.value)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Independent draws of the mechanism, and at which of them the model kept its answer."""

    kept: NDArray[np.bool_]
    evaluations: int
    method = "drawn"

    @property
    def estimate(self) -> float:
        """The share of the draws; nan when there are none."""
        return float(self.kept.mean()) if self.kept.size else math.nan

    def interval(self, error: float) -> tuple[float, float]:
        """Clopper and Pearson's interval: misses ρ with probability at most `error`."""
        if not self.kept.size:
            return 0.0, 1.0
        low, high = clopper_pearson(np.array([int(self.kept.sum())]), self.kept.size, error / 2)
        return float(low[0]), float(high[0])


@dataclass(frozen=True)
class Weighted:
    """Sums over independent draws of weight w, kept or not (1 or 0), in pairs that share one law.

    `right` and `total` are the sums of w*kept and w, with expectations ρ and 1. `pairs` are the sums over
    pairs of a**2, a*b and b**2, where a and b are the differences of w*kept and of w within the pair. `largest`
    bounds every single weight.
    """

    right: float
    total: float
    pairs: tuple[float, float, float]
    largest: float
    evaluations: int
    method = "weighted"

    @property
    def estimate(self) -> float:
        """The share of the weight at which the model kept its answer."""
        return self.right / self.total if self.total > 0 else math.nan

    def interval(self, error: float) -> tuple[float, float]:
        """Every ρ that Bernstein's inequality does not rule out: misses the true one with probability at most `error`.

        If ρ were r, the terms w*(kept - r) would sum to 0 on average. Their variance is bounded from the
        pairs, with a quarter of the error; the rest goes to the sum.
        """
        spread = math.log(1 / (error * VARIANCE_SHARE))
        tail = math.log(2 / (error * (1 - VARIANCE_SHARE)))
        centre = min(max(self.estimate, 0.0), 1.0) if self.total > 0 else 0.5
        # Where the weights themselves vary so much that the bound grows faster than the sum, nothing can be said.
        if self.total <= 0 or math.sqrt(2 * tail * self._variance_of(self.pairs[2], spread)) >= self.total:
            return 0.0, 1.0
        ends = []
        for far in (0.0, 1.0):
            inside, outside = centre, far
            if self._possible(far, spread, tail):
                ends.append(far)
                continue
            for _ in range(STEPS):
                middle = (inside + outside) / 2
                inside, outside = (middle, outside) if self._possible(middle, spread, tail) else (inside, middle)
            ends.append(outside)
        return ends[0], ends[1]

    def reach(self, error: float) -> float:
        """About half the width of that interval."""
        spread, tail = math.log(1 / (error * VARIANCE_SHARE)), math.log(2 / (error * (1 - VARIANCE_SHARE)))
        return self._bound(self.estimate, spread, tail) / self.total

    def _possible(self, rho: float, spread: float, tail: float) -> bool:
        return abs(self.right - rho * self.total) <= self._bound(rho, spread, tail)

    def _bound(self, rho: float, spread: float, tail: float) -> float:
        squares, products, weights = self.pairs
        variance = self._variance_of(max(squares - 2 * rho * products + rho * rho * weights, 0.0), spread)
        return math.sqrt(2 * variance * tail) + self.largest * tail / 3

    def _variance_of(self, pairs: float, spread: float) -> float:
        """An upper bound of the variance: the sum over pairs is at least as concentrated as a Poisson number of `largest`**2."""
        unit = self.largest**2
        return unit * poisson_upper(pairs / unit, spread) if unit > 0 else 0.0


Evidence = Counted | Drawn | Weighted


def poisson_upper(seen: float, nats: float) -> float:
    """The largest mean m with m - seen + seen*ln(seen/m) <= nats: Chernoff's bound for independent terms in [0, 1].

    >>> round(poisson_upper(0, 3.0), 9)
    3.0
    """
    if seen == 0:
        return nats
    # The function is convex and rises beyond `seen`: Newton's steps from above never pass the root.
    mean = seen + math.sqrt(2 * seen * nats) + 2 * nats
    for _ in range(NEWTON):
        mean -= (mean - seen + seen * math.log(seen / mean) - nats) * mean / (mean - seen)
    return mean


def average(parts: Sequence[Evidence]) -> Evidence:
    """What samples at several records say about the mean of their ρ."""
    if not parts:
        raise InvalidParameter("an average needs at least one record")
    count = len(parts)
    evaluations = sum(part.evaluations for part in parts)
    drawn = [part for part in parts if isinstance(part, Drawn)]
    if drawn:
        if len(drawn) < count:
            raise InvalidParameter("records that were drawn cannot be averaged with records that were weighted")
        # As many draws of every record: the number kept then has the mean ρ per draw, and no sum of
        # independent coins spreads wider than the binomial with its mean (Hoeffding 1956).
        least = min(part.kept.size for part in drawn)
        return Pooled(np.concatenate([part.kept[:least] for part in drawn]), evaluations)
    if all(isinstance(part, Counted) for part in parts):
        ends = [part.interval(0.0) for part in parts]
        low, high = (math.fsum(end[i] for end in ends) / count for i in range(2))
        return Counted(math.fsum(part.estimate for part in parts) / count, evaluations, low, high, parts[0].method)
    sums = [
        (part.value, 1.0, (0.0, 0.0, 0.0), 0.0) if isinstance(part, Counted) else (part.right, part.total, part.pairs, part.largest)
        for part in parts
        if not isinstance(part, Drawn)
    ]
    squares = [math.fsum(pairs[i] for _, _, pairs, _ in sums) / count**2 for i in range(3)]
    return Weighted(
        math.fsum(right for right, _, _, _ in sums) / count,
        math.fsum(total for _, total, _, _ in sums) / count,
        (squares[0], squares[1], squares[2]),
        max(largest for _, _, _, largest in sums) / count,
        evaluations,
    )


class Pooled(Drawn):
    """Equally many draws of several records."""

    def interval(self, error: float) -> tuple[float, float]:
        """Clopper and Pearson's interval, widened to where Hoeffding's comparison holds: one draw beyond the mean."""
        low, high = super().interval(error)
        if not self.kept.size:
            return low, high
        kept, size = int(self.kept.sum()), self.kept.size
        return max(min(low, (kept - 1) / size), 0.0), min(max(high, (kept + 1) / size), 1.0)


def worst(parts: Sequence[Evidence], error: float) -> tuple[float, float, float]:
    """The least ρ of several records: estimate and an interval that misses it with probability at most `error`."""
    if not parts:
        raise InvalidParameter("a worst case needs at least one record")
    chance = [part for part in parts if not isinstance(part, Counted)]
    ends = [part.interval(error / max(len(chance), 1)) for part in parts]
    return min(part.estimate for part in parts), min(low for low, _ in ends), min(high for _, high in ends)
