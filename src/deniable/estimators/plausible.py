"""How small and how large a sum of shares can be: intervals that assume nothing about the shape of the distribution.

A question is a sum a'p of the shares p of points. For every vector w of one number per group of reports, whatever p is,

    a'p <= w'pA + max over x of (a - Aw)_x,

and w'f estimates w'pA without bias, with a spread that follows from the channel. So w'f + z * spread + max (a - Aw) is an upper
end that holds for all distributions; -a gives the lower end (Donoho 1994; strict bounds: Burrus 1965, Stark 1992). A good w
comes from the most that a'p can be among the distributions that are as likely as a pilot distribution up to z**2 (`aim`). To
choose w by the very reports it is then used on would be to chase their noise: the reports are split into two halves by
coins, each half chooses for the other, and both answers are averaged.

The spread is that of the pilot or of the distribution at the end, whichever is larger, as in Wilson's interval of a share;
for "these users" only the noise counts. It is corrected for skewness (Cornish and Fisher), which few reports need.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deniable.batch import Floats, Integers
from deniable.estimators.aiming import aimed, noise_of
from deniable.estimators.estimate import Target
from deniable.estimators.most_likely import most_likely

USUAL = 1.96
"""Standard errors that estimators are chosen for. One choice for all levels: a higher one has the wider interval."""
CURVATURE_SHARED_FROM = 20_000
"""From so many reports on, one matrix of second derivatives serves all questions."""
MOST_EM = 3000
LONGER = 1.5
FEW_REPORTS = 1.5
"""Ends of n reports are drawn so many nths farther away: their spread is not known exactly."""
FEW_GROUPS = 8
CHUNKS = 20
"""A pilot is divided into so many stretches of equal share, of which the distribution at an end is mostly made."""


@dataclass(frozen=True, eq=False)
class Aim:
    """An estimator that is linear in the frequencies, and the distribution it was made against."""

    linear: Floats
    shares: Floats


def pilot_shares(table: Floats, counts: Floats) -> Floats:
    """Expectation maximization from an even start, stopped where the reports are as likely as they are under the truth."""
    occurs = counts > 0
    size, own = len(table), counts.sum()
    shares = np.full(size, 1 / size)
    if own == 0:
        return shares
    seen, chances = counts[occurs] / own, np.ascontiguousarray(table[:, occurs])
    best, at = most_likely(chances, seen, own)
    enough = best - max(at - 1, 1) / (2 * own)
    likely, stride = shares @ chances, 1.0
    reached = float(seen @ np.log(likely))
    for _ in range(MOST_EM):
        if reached >= enough:
            break
        # Steps are lengthened as long as the reports become more likely by them.
        further = shares * (chances @ (seen / likely)) ** stride
        further /= further.sum()
        likely_there = further @ chances
        there = float(seen @ np.log(likely_there))
        if there <= reached and stride > 1:
            stride = 1.0
            continue
        shares, likely, reached = further, likely_there, there
        stride *= LONGER
    return shares


def halves(counts: Floats) -> tuple[Floats, Floats]:
    """The counts of two groups of people, chosen by coins that the counts fix: the same reports give the same answer."""
    whole = counts.astype(np.int64)
    digest = np.frombuffer(hashlib.shake_128(whole.tobytes()).digest(8 * len(whole)), np.uint64)
    first = stats.binom.ppf((digest.astype(np.float64) + 0.5) / 2.0**64, whole, 0.5)
    return np.asarray(first), np.asarray(whole - first)


@dataclass(frozen=True, eq=False)
class Pilot:
    """What one half of the reports says, to choose estimators by that are used on the other half."""

    table: Floats
    shares: Floats
    n: float
    """Of all reports, which the estimators are for."""
    target: Target

    @cached_property
    def _stretches(self) -> tuple[Integers, Floats, Floats]:
        """Stretches of the pilot, each a distribution of its own: that of every point, its part of it, and what each holds."""
        number = np.minimum((np.cumsum(self.shares) - self.shares / 2) * CHUNKS, CHUNKS - 1e-9).astype(np.int64)
        # A stretch with next to nobody in it joins the one before.
        kept = np.bincount(number, self.shares) > 1e-9
        number = np.maximum(np.cumsum(kept) - 1, 0)[number]
        held = np.bincount(number, self.shares)
        return number, self.shares / held[number], held / held.sum()

    @cached_property
    def _stretch_chances(self) -> Floats:
        number, part_of, _ = self._stretches
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        return np.asarray(np.add.reduceat(part_of[:, None] * self.table, starts, axis=0))

    @cached_property
    def _points(self) -> Floats:
        """The points' chances, then the stretches'."""
        return np.concatenate([self.table, self._stretch_chances])

    def widened(self, table: Floats, where: Integers) -> Pilot:
        """The same pilot on more points, its own being at these places of them."""
        number, part_of, held = self._stretches
        shares, parts = np.zeros(len(table)), np.zeros(len(table))
        shares[where], parts[where] = self.shares, part_of
        wider = Pilot(table, shares, self.n, self.target)
        before = np.maximum(np.searchsorted(where, np.arange(len(table)), side="right") - 1, 0)
        # What more points without a share leave as it is need not be worked out again.
        wider.__dict__.update(
            _stretches=(number[before], parts, held),
            _stretch_chances=self._stretch_chances,
            expected=self.expected,
            _tilts=self._tilts,
        )
        return wider

    @cached_property
    def expected(self) -> Floats:
        """The groups' chances under the pilot."""
        return np.asarray(self.shares @ self.table)

    @cached_property
    def _rows(self) -> tuple[threading.Lock, Floats, NDArray[np.bool_]]:
        """Second derivatives at the pilot, a row for every point; worked out as they are needed, by one thread at a time."""
        size = len(self._points)
        return threading.Lock(), np.empty((size, size)), np.zeros(size, np.bool_)

    @cached_property
    def _tilts(self) -> dict[str, float]:
        """How far the last question had to go: where the next one begins to look."""
        return {}

    @property
    def _given(self) -> bool:
        """Are the users' values given, and do the reports show how much of their spread is noise? Few outputs do not."""
        return self.target == "these users" and self.table.shape[1] > FEW_GROUPS

    def aim(self, weights: Floats, reach: float) -> Aim | None:
        """The estimator for the upper end of weights'p; None where nothing can be said."""
        top, spread = float(weights.max()), float(weights.max() - weights.min())
        if spread <= 0 or top - float(weights @ self.shares) <= 1e-12 * spread:
            return None
        number, part_of, held = self._stretches
        laid = self._points, self.shares, number, part_of, self.expected
        asked = weights, reach, self.n, self._given, self.n >= CURVATURE_SHARED_FROM
        start = len(self.table) + np.arange(len(held)), held
        last = self._tilts.get("last", 0.0)
        alone, *rows = self._rows
        with alone:
            linear, shares, tilt, best = aimed(*laid, *asked, *start, last, *rows)
            if last > 0 and not best:
                # The last question was another one altogether.
                linear, shares, tilt, best = aimed(*laid, *asked, *start, 0.0, *rows)
        if tilt > 0 and best:
            self._tilts["last"] = tilt
        return Aim(linear, shares)

    def slack(self, weights: Floats, linear: Floats) -> float:
        """How far weights'p may lie above what the estimator expects, whatever the distribution is."""
        return float((weights - self.table @ linear).max())

    def noise(self, aim: Aim) -> tuple[float, float]:
        """The variance and the third central moment of the estimator for one report: of the end or the pilot."""
        spread, skew = noise_of(self._points, self.shares, aim.shares, self._given, aim.linear)
        return float(spread), float(skew)


class Guide(Protocol):
    """What chooses estimators, and says how far they may be off: a pilot, or one that assumes something about the shape."""

    @property
    def n(self) -> float:
        """Of all reports."""
        ...

    def aim(self, weights: Floats, reach: float) -> Aim | None:
        """The estimator for the upper end of a sum; None where nothing can be said."""
        ...

    def slack(self, weights: Floats, linear: Floats) -> float:
        """How far the sum may lie above what the estimator expects."""
        ...

    def noise(self, aim: Aim) -> tuple[float, float]:
        """The variance and the third central moment of the estimator for one report."""
        ...


def upper_end(value: float, second: float, third: float, n: float, reach: float) -> float:
    """The end above a sum over n reports with this value, variance and third central moment, `reach` standard errors away."""
    skewness = third / second**1.5 if second > 0 else 0.0
    # The estimate may be too low: its lower tail counts. A tail that looks short is not trusted.
    far = reach + (reach**2 - 1) * min(max(-skewness, 0.0), 2.0) / 6
    return value + far * (1 + FEW_REPORTS / n) * math.sqrt(second)


@dataclass(frozen=True, eq=False)
class Plausible:
    """What reports say of distributions on points; every pilot comes with the counts it chooses estimators for."""

    parts: Sequence[tuple[Guide, Floats]]

    @staticmethod
    def of(table: Floats, counts: Floats, target: Target) -> Plausible:
        """From a table of chances, a row per point and a column per group of reports, and the groups' counts."""
        first, second = halves(counts)
        pairs = [(mine, other) for mine, other in ((first, second), (second, first)) if other.sum() > 0]
        n = float(counts.sum())
        return Plausible([(Pilot(table, pilot_shares(table, mine), n, target), other) for mine, other in pairs])

    def about(self, target: Target) -> Plausible:
        """The same for the other target; pilots do not depend on whose values are asked for."""
        return Plausible([(replace(pilot, target=target), counts) for pilot, counts in self.parts if isinstance(pilot, Pilot)])

    @cached_property
    def _known(self) -> dict[bytes, tuple[float, float, float]]:
        return {}

    def _upper(self, weights: Floats) -> tuple[float, float, float]:
        """The sum of the estimates for an upper end, its variance and its third central moment; the same for all levels."""
        key = weights.tobytes()
        if key in self._known:
            return self._known[key]
        top, value, second, third = float(weights.max()), 0.0, 0.0, 0.0
        for pilot, counts in self.parts:
            aim = pilot.aim(weights, USUAL)
            if aim is None:
                value += float(counts.sum()) * top
                continue
            value += float(counts @ aim.linear) + float(counts.sum()) * pilot.slack(weights, aim.linear)
            spread, skew = pilot.noise(aim)
            second += float(counts.sum()) * spread
            third += float(counts.sum()) * skew
        self._known[key] = value, second, third
        return self._known[key]

    def largest(self, weights: Floats, reach: float) -> float:
        """The upper end for the sum of weights times shares, `reach` standard errors away."""
        n = self.parts[0][0].n
        value, second, third = self._upper(weights)
        return min(upper_end(value, second, third, n, reach) / n, float(weights.max()))

    def interval(self, low_weights: Floats, high_weights: Floats, reach: float) -> tuple[float, float]:
        """The least that a sum of the low weights and the most that a sum of the high weights may be."""
        return -self.largest(-low_weights, reach), self.largest(high_weights, reach)
