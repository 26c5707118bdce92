"""How small and how large a sum of shares can be while the reports stay plausible: intervals without smoothing.

Shares p >= 0 that add up to 1 are plausible when Q(p) = p'Hp - 2b'p (n times the weighted squares of observed minus expected
frequencies) is at most z**2 above its minimum: the profile likelihood of one number, with all signs kept. Where reports
cannot tell cells apart the ends lie far from one another, which is the truth. The ends follow p(t), the minimum of
Q/2 - t h'p, from t = 0 on: between the points where a share reaches 0 or leaves it, p(t) is linear in t and Q is quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import nnls

from deniable.studies.arrays import Flags, Floats, Integers

TINY = 1e-12
RIDGE = 0.01
"""Of one report's average square, added to each: cells that reports cannot tell apart have a solution, and Q hardly changes."""
STEPS = 4
"""Points at which the support may change, as a multiple of the number of shares."""
CHANGES_BEFORE_INVERTING = 32
"""Changes after which the inverse is worked out anew."""
MOST_MISS = 1e-3
"""By how much, of what is allowed, the end of a path may miss the limit before it is worked out again, more slowly."""


@dataclass(frozen=True, eq=False)
class StrictBounds:
    """Plausible values of sums h'p, for H = `squares` and b = `scores`, both divided by the number of reports."""

    squares: Floats
    scores: Floats
    n: int
    inflation: float = 1.0
    """How much larger than sampling noise the squares are, where the model is not quite the truth."""

    @cached_property
    def _firm(self) -> Floats:
        ridge = min(RIDGE / self.n, 1e-6) * np.trace(self.squares) / len(self.squares)
        return np.asarray(self.squares + ridge * np.eye(len(self.squares)))

    @cached_property
    def best(self) -> Floats:
        """The most plausible shares."""
        values, vectors = np.linalg.eigh(self._firm)
        kept = values > TINY * values[-1]
        roots = np.sqrt(values[kept])
        # The total is one more equation, with a weight far above all others.
        heavy = 1e3 * roots[-1]
        rows = np.vstack([(vectors[:, kept] * roots).T, np.full((1, len(values)), heavy)])
        found, _ = nnls(rows, np.append(vectors[:, kept].T @ self.scores / roots, heavy), maxiter=50 * len(values))
        return np.asarray(found / found.sum())

    @cached_property
    def _start(self) -> tuple[Integers, Floats]:
        """The shares above 0, and the inverse of their equations with the total's as the last."""
        ones: Integers = np.flatnonzero(self.best > TINY).astype(np.int64)
        return ones, self._solved(ones)

    def _solved(self, ones: Integers) -> Floats:
        size = len(ones)
        found = np.zeros((size + 1, size + 1))
        found[:size, :size] = self._firm[np.ix_(ones, ones)]
        found[:size, size] = found[size, :size] = 1.0
        return np.asarray(np.linalg.inv(found), np.float64)

    def interval(self, weights: Floats, reach: float) -> tuple[float, float]:
        """The least and the largest plausible value of the sum of weights times shares, `reach` standard errors wide."""
        return -self._largest(-weights, reach), self._largest(weights, reach)

    def _largest(self, weights: Floats, reach: float) -> float:
        found = self._end(weights, reach, CHANGES_BEFORE_INVERTING)
        if found is None:
            found = self._end(weights, reach, 1)
        # Where even that is lost to rounding, everything counts as plausible.
        return float(weights.max()) if found is None else found

    def _possible(self, at: Integers, shares: Floats, limit: float) -> bool:
        """Are these shares what the path promises: none below 0, and no farther off than allowed?"""
        reached = float(shares @ self._firm[np.ix_(at, at)] @ shares) - 2 * float(self.scores[at] @ shares)
        room = MOST_MISS * self.inflation / self.n
        return bool(shares.min() > -1e-7 and abs(float(shares.sum()) - 1) < 1e-6 and reached <= limit + room)

    def _end(self, weights: Floats, reach: float, fresh: int) -> float | None:
        """The sum at the end of the path, or None when rounding has led astray."""
        ones, inverse = self._start
        chosen: list[int] = ones.tolist()
        inverse = inverse.copy()
        limit: float | None = None
        now, changed = 0.0, -1
        for change in range(STEPS * len(weights)):
            at = np.array(chosen)
            still = inverse @ np.append(self.scores[at], 1.0)
            moving = inverse @ np.append(weights[at], 0.0)
            # On the support H p + nu = b + t h, so that p'Hp and b'p need no further products.
            lowest = -float(self.scores[at] @ still[:-1]) - float(still[-1])
            speed = float(weights[at] @ moving[:-1])
            if limit is None:
                limit = lowest + reach**2 * self.inflation / self.n
            rest = np.ones(len(weights), np.bool_)
            rest[at] = False
            off = np.flatnonzero(rest)
            across = self._firm[np.ix_(off, at)]
            slack = across @ still[:-1] + still[-1] - self.scores[off]
            slackening = across @ moving[:-1] + moving[-1] - weights[off]
            # A share that is alone is 1, whatever rounding says.
            leaving = _steps_to_zero(still[:-1], moving[:-1], now, (at == changed) | (len(at) == 1))
            joining = _steps_to_zero(slack, slackening, now, off == changed)
            leaves, joins = float(leaving.min(initial=np.inf)), float(joining.min(initial=np.inf))
            then = min(leaves, joins)
            end = np.sqrt(max((limit - lowest) / speed, 0.0)) if speed > TINY * TINY else np.inf
            if end <= then:
                # Without an end nothing moves any more: all plausible mass is where it counts most.
                shares = still[:-1] + (now if end == np.inf else max(end, now)) * moving[:-1]
                return float(weights[at] @ shares) if self._possible(at, shares, limit) else None
            now = then
            if leaves <= joins:
                place = int(np.argmin(leaving))
                changed = chosen.pop(place)
                inverse = _inverse_without(inverse, place)
            else:
                changed = int(off[int(np.argmin(joining))])
                inverse = _inverse_with(inverse, np.append(self._firm[at, changed], 1.0), float(self._firm[changed, changed]))
                chosen.append(changed)
            if change % fresh == fresh - 1 or not np.isfinite(inverse).all():
                inverse = self._solved(np.array(chosen))
        return None


def _steps_to_zero(value: Floats, change: Floats, now: float, excepted: Flags) -> Floats:
    """When value + t * change reaches 0, from `now` on; what has just changed is on its way up."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where((change < 0) & ~excepted, -value / change, np.inf)
    return np.asarray(np.maximum(found, now))


def _inverse_without(inverse: Floats, place: int) -> Floats:
    """The inverse after an equation and its unknown are taken out."""
    kept = np.delete(np.arange(len(inverse)), place)
    column = inverse[kept, place]
    return np.asarray(inverse[np.ix_(kept, kept)] - np.outer(column, column) / inverse[place, place])


def _inverse_with(inverse: Floats, column: Floats, corner: float) -> Floats:
    """The inverse after an equation and its unknown are put in, before the last."""
    turned = inverse @ column
    rest = corner - float(column @ turned)
    size = len(inverse)
    found = np.empty((size + 1, size + 1))
    order = np.append(np.arange(size - 1), size)
    with np.errstate(divide="ignore", invalid="ignore"):
        found[np.ix_(order, order)] = inverse + np.outer(turned, turned) / rest
        found[order, size - 1] = found[size - 1, order] = -turned / rest
        found[size - 1, size - 1] = np.divide(1.0, rest)
    return found
