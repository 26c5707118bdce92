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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deniable.estimators.active_set import furthest
from deniable.estimators.estimate import Target
from deniable.estimators.most_likely import most_likely, squares_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
USUAL = 1.96
"""Standard errors that estimators are chosen for. One choice for all levels: a higher one has the wider interval."""
MOST_STEPS = 12
NEAR = 3e-2
"""Of the distance to the pilot's value: how far from the best estimator a chosen one may be; it is valid all the same."""
MANY = 20_000
"""From so many reports on, one matrix of second derivatives serves all questions."""
MOST_EM = 3000
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
    for _ in range(MOST_EM):
        likely = shares @ chances
        if float(seen @ np.log(likely)) >= enough:
            break
        shares = shares * (chances @ (seen / likely))
    return np.asarray(shares / shares.sum())


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
    def _chunks(self) -> Floats:
        """Stretches of the pilot, each a distribution of its own."""
        number = np.minimum((np.cumsum(self.shares) - self.shares / 2) * CHUNKS, CHUNKS - 1e-9).astype(np.int64)
        parts = np.zeros((CHUNKS, len(self.shares)))
        parts[number, np.arange(len(number))] = self.shares
        held = parts.sum(axis=1)
        return np.asarray(parts[held > 1e-9] / held[held > 1e-9, None])

    @cached_property
    def _points(self) -> Floats:
        """The points' chances, then the stretches'."""
        return np.ascontiguousarray(np.concatenate([self.table, self._chunks @ self.table]))

    @cached_property
    def _start(self) -> tuple[Integers, Floats]:
        masses = np.array([float(self.shares[chunk > 0].sum()) for chunk in self._chunks])
        return len(self.table) + np.arange(len(masses)), masses / masses.sum()

    @cached_property
    def expected(self) -> Floats:
        """The groups' chances under the pilot."""
        return np.asarray(self.shares @ self.table)

    @cached_property
    def _tilts(self) -> dict[str, float]:
        """How far the last question had to go: where the next one begins to look."""
        return {}

    @cached_property
    def _squares(self) -> Floats:
        return squares_of(self._points, self.expected, self.expected)

    @property
    def _given(self) -> bool:
        """Are the users' values given, and do the reports show how much of their spread is noise? Few outputs do not."""
        return self.target == "these users" and self.table.shape[1] > FEW_GROUPS

    def _noise_part(self, shares: Floats, likely: Floats) -> float:
        """Which part of the spread of a likelihood ratio is noise, when the users' values are given."""
        if not self._given:
            return 1.0
        ratio = np.log(likely / self.expected)
        parts = []
        for own, chances in ((shares, likely), (self.shares, self.expected)):
            whole = float(chances @ ratio**2) - float(chances @ ratio) ** 2
            noise = float(own @ (self.table @ ratio**2 - (self.table @ ratio) ** 2))
            if whole > 0:
                parts.append(min(noise / whole, 1.0))
        return max(parts, default=1.0)

    def _spread_out(self, at: Integers, shares: Floats) -> Floats:
        """Shares of points and of stretches as shares of points."""
        size = len(self.table)
        found = np.zeros(size)
        single = at < size
        np.add.at(found, at[single], shares[single])
        return np.asarray(found + shares[~single] @ self._chunks[at[~single] - size])

    def aim(self, weights: Floats, reach: float) -> Aim | None:
        """The estimator for the upper end of weights'p; None where nothing can be said."""
        points, expected = self._points, self.expected
        wide = np.concatenate([weights, self._chunks @ weights])
        middle, top = float(weights @ self.shares), float(weights.max())
        if top - float(weights.min()) <= 0 or top - middle <= 1e-12 * (top - float(weights.min())):
            return None
        start, tilt, part = self._start, self._tilts.get("last", 0.0) / (top - float(weights.min())), 1.0
        most = float(expected @ np.log(expected))
        likely, at, shares = expected, *start
        for step in range(MOST_STEPS):
            limit = part * reach**2 / self.n
            gain, here = points @ (expected / likely), float(expected @ np.log(likely))
            squares = self._squares if step == 0 or self.n >= MANY else squares_of(points, expected, likely)
            mine = squares[:, at] @ shares
            constant = float(shares @ mine[at]) + 2 - 2 * (here - most)
            _, at, shares, tilt = furthest(squares, gain + mine, constant, wide, limit, middle, at, shares, tilt)
            aim = shares @ points[at]
            part_way = 1.0
            while most - float(expected @ np.log(likely + part_way * (aim - likely))) > 2 * limit and part_way > 1e-3:
                part_way /= 2
            likely = likely + part_way * (aim - likely)
            if part_way < 1:
                at, shares = np.concatenate([at, start[0]]), np.concatenate([part_way * shares, (1 - part_way) * start[1]])
                at, shares = _merged(at, shares)
                likely = shares @ points[at]
            before, part = part, self._noise_part(self._spread_out(at, shares), likely)
            bound = float((wide + points @ (expected / likely) / tilt).max())
            bound -= (1 + most - part * reach**2 / self.n / 2 - float(expected @ np.log(likely))) / tilt
            value = float(wide[at] @ shares)
            width = max(min(bound, top) - middle, 1e-300)
            if abs(bound - value) <= NEAR * width and abs(part - before) <= 3 * NEAR * part:
                break
            if value >= top - NEAR * width:
                break
        if value < top - NEAR * width:
            self._tilts["last"] = tilt * (top - float(weights.min()))
        # A constant more or less changes nothing: frequencies add up to 1.
        return Aim(-(expected / likely - 1) / tilt, self._spread_out(at, shares))

    def noise(self, aim: Aim) -> tuple[float, float]:
        """The variance and the third central moment of the estimator for one report: of the end or the pilot."""
        w = aim.linear
        found = []
        for own in (aim.shares, self.shares):
            kept = own > 0
            rows = self.table[kept] if self._given else (own @ self.table)[None]
            shares = own[kept] if self._given else np.ones(1)
            mean = rows @ w
            second, third = rows @ w**2 - mean**2, rows @ w**3
            third = third - 3 * mean * second - mean**3
            found.append((max(float(shares @ second), 0.0), float(shares @ third)))
        return max(found)


@dataclass(frozen=True, eq=False)
class Plausible:
    """What reports say of distributions on points; every pilot comes with the counts it chooses estimators for."""

    parts: Sequence[tuple[Pilot, Floats]]

    @staticmethod
    def of(table: Floats, counts: Floats, target: Target) -> Plausible:
        """From a table of chances, a row per point and a column per group of reports, and the groups' counts."""
        first, second = halves(counts)
        pairs = [(mine, other) for mine, other in ((first, second), (second, first)) if other.sum() > 0]
        n = float(counts.sum())
        return Plausible([(Pilot(table, pilot_shares(table, mine), n, target), other) for mine, other in pairs])

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
            slack = float((weights - pilot.table @ aim.linear).max())
            value += float(counts @ aim.linear) + float(counts.sum()) * slack
            spread, skew = pilot.noise(aim)
            second += float(counts.sum()) * spread
            third += float(counts.sum()) * skew
        self._known[key] = value, second, third
        return self._known[key]

    def largest(self, weights: Floats, reach: float) -> float:
        """The upper end for the sum of weights times shares, `reach` standard errors away."""
        n = self.parts[0][0].n
        value, second, third = self._upper(weights)
        skewness = third / second**1.5 if second > 0 else 0.0
        # The estimate may be too low: its lower tail counts. A tail that looks short is not trusted.
        far = reach + (reach**2 - 1) * min(max(-skewness, 0.0), 2.0) / 6
        far *= 1 + FEW_REPORTS / n
        return min((value + far * math.sqrt(second)) / n, float(weights.max()))

    def interval(self, low_weights: Floats, high_weights: Floats, reach: float) -> tuple[float, float]:
        """The least that a sum of the low weights and the most that a sum of the high weights may be."""
        return -self.largest(-low_weights, reach), self.largest(high_weights, reach)


def _merged(at: Integers, shares: Floats) -> tuple[Integers, Floats]:
    """Every point once, and none without a share."""
    points, where = np.unique(at, return_inverse=True)
    summed = np.bincount(where, shares)
    kept = summed > 1e-12
    return points[kept], summed[kept] / summed[kept].sum()
