"""Intervals for an average of unbiased reports whose law is known: every value under which what was seen is no surprise.

Each report is a number w with E[w | x] = a_x for a person with x, and known moments. The average of n reports estimates the
share a'p without bias. Under a distribution p its spread is known, so a value t belongs to the interval when the average is
no farther from t than `reach` standard errors *of a distribution whose share is t* (Rao's score test, as in Wilson's
interval): the estimated shares, tilted until a'p = t. That holds at the ends of what is possible, where a normal interval around
the estimate does not. Tails are corrected for skewness (Cornish and Fisher); one that looks short is not trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.batch import Floats
from deniable.estimators.estimate import half_width

MOST_STEPS = 60
END_TOLERANCE = 2e-3
"""How exactly an end is looked for, of its distance from the estimate; what is returned is the outer side."""
OWN = 0.25
"""Which part of a lattice's step an end moves out: between mid-p (0), which holds a little too seldom, and exact (0.5)."""
MOST_SKEWNESS = 2.0
FEW_REPORTS = 1.5
"""Ends of n reports are drawn so many nths farther away: the distribution that the spread is taken from is not known exactly."""

Moments = Callable[[Floats], tuple[float, float]]
"""The variance and the third central moment of the estimate, for the shares of the points."""


@dataclass(frozen=True, eq=False)
class ScoreQuestion:
    """One share: its estimate, which part of every point counts, the likely shares of the points, and the law of the estimate."""

    value: float
    counts: Floats
    """From 0 to 1: what a person at each point adds to the share."""
    likely: Floats
    moments: Moments
    n: float
    step: float = 0.0
    """How far apart two possible estimates are, where they lie on a lattice."""

    def tilted(self, share: float) -> Floats:
        """The likely shares with more or less of the points that count, so that the share is this one."""
        inside, outside = self._sides
        return np.asarray(share * inside + (1 - share) * outside)

    @cached_property
    def _sides(self) -> tuple[Floats, Floats]:
        """The likely shares among what counts, and among what does not; even ones where there is nobody."""
        sides = []
        for part in (self.counts, 1 - self.counts):
            own = self.likely * part
            even = part if part.sum() > 0 else np.ones_like(part)
            # As if one more person had been asked, spread evenly: nobody seen is not nobody there.
            own = own + even / even.sum() / (self.n + 1)
            sides.append(np.asarray(own / own.sum()))
        return sides[0], sides[1]

    def _far(self, share: float, reach: float, sign: float) -> float:
        """How far from the share an estimate may fall: below it (sign 1) for an upper end, above it for a lower one."""
        variance, third = self.moments(self.tilted(share))
        error = math.sqrt(max(variance, 0.0))
        skewness = -sign * third / error**3 if error > 0 else 0.0
        far = reach + (reach**2 - 1) * min(max(skewness, 0.0), MOST_SKEWNESS) / 6
        return far * error * (1 + FEW_REPORTS / self.n)

    def end(self, reach: float, sign: float) -> float:
        """The upper end (sign 1) or the lower one (sign -1), within [0, 1]."""
        nearest = min(max(self.value, 0.0), 1.0)
        # Beyond all that is possible: values are compared with the best possible one, so that no interval is empty.
        excess = abs(self.value - nearest)
        last = 1.0 if sign > 0 else 0.0

        def reached(share: float) -> float:
            """The farthest value whose estimate could be the one that was seen, were the spread that of this share."""
            return self.value + sign * (math.hypot(self._far(share, reach, sign), excess) + OWN * self.step)

        if sign * last <= sign * reached(last):
            return last
        inside, outside = nearest, last
        guess = (inside + outside) / 2
        for _ in range(MOST_STEPS):
            if abs(outside - inside) <= END_TOLERANCE * abs(outside - nearest) + 1e-9:
                break
            there = reached(guess)
            possible = sign * guess <= sign * there
            inside, outside = (guess, outside) if possible else (inside, guess)
            # The spread changes slowly with the share: look a little to the other side of where this one leads.
            guess = there + sign * (1 if possible else -1) * END_TOLERANCE / 3 * abs(there - nearest)
            if not min(inside, outside) < guess < max(inside, outside):
                guess = (inside + outside) / 2
        return outside


@dataclass(frozen=True, eq=False)
class ScoreIntervals:
    """Several such questions; `scale` is 1 for shares and n for counts, and `offset` what a share of 0 stands for."""

    questions: tuple[ScoreQuestion, ...]
    scale: float | Floats = 1.0
    lower: tuple[ScoreQuestion, ...] | None = None
    """What the lower ends are asked, where it is not the same: of a range only the bins that lie inside it."""
    offset: float | Floats = 0.0
    single: bool = False
    """Is it one number rather than a list of one?"""

    @cached_property
    def _known(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends of each."""
        if level not in self._known:
            reach = half_width(level)
            low = np.array([one.end(reach, -1.0) for one in (self.questions if self.lower is None else self.lower)])
            high = np.array([one.end(reach, 1.0) for one in self.questions])
            self._known[level] = self.offset + self.scale * low, self.offset + self.scale * high
        low, high = self._known[level]
        return (np.asarray(low[0]), np.asarray(high[0])) if self.single else (low.copy(), high.copy())


def averaged(mean: Floats, variance: Floats, third: Floats, n: float, sampled: float) -> Moments:
    """The moments of an average of n reports from those of one report of a person at each point.

    `sampled` says how much of the people's own spread counts: none of it for given users, all of it for users drawn from a
    population, and a part for a part of given users, picked at random.
    """

    def moments(shares: Floats) -> tuple[float, float]:
        middle = float(shares @ mean)
        off = mean - middle
        second = float(shares @ variance) + sampled * float(shares @ off**2)
        skew = float(shares @ third) + sampled * (float(shares @ off**3) + 3 * float(shares @ (off * variance)))
        return second / n, skew / n**2

    return moments


def of_supports(value: Floats, p: float, q: float, n: float, sampled: float, scale: float = 1.0) -> ScoreIntervals:
    """Intervals for shares by support: a person with the value is supported with the chance p, anyone else with q."""
    gap, own = p - q, np.array([1.0, 0.0])
    chance = np.array([p, q])
    variance = chance * (1 - chance) / gap**2
    moments = averaged(own, variance, variance * (1 - 2 * chance) / gap, n, sampled)
    questions = [
        ScoreQuestion(share, own, np.array([min(max(share, 0.0), 1.0), 1 - min(max(share, 0.0), 1.0)]), moments, n, 1 / (n * gap))
        for share in value.tolist()
    ]
    return ScoreIntervals(tuple(questions), scale)


def of_table(value: Floats, likely: Floats, inverse: Floats, law: Floats, n: float, sampled: float, scale: float) -> ScoreIntervals:
    """Intervals for shares by an inverted table: a row of `inverse` reads a share from the outputs, a row of `law` gives them."""
    first = law @ inverse.T
    second = law @ (inverse**2).T - first**2
    third = law @ (inverse**3).T - 3 * first * second - first**3
    questions = []
    for v, share in enumerate(value.tolist()):
        counts = np.zeros(len(law))
        counts[v] = 1.0
        questions.append(ScoreQuestion(share, counts, likely, averaged(first[:, v], second[:, v], third[:, v], n, sampled), n))
    return ScoreIntervals(tuple(questions), scale)
