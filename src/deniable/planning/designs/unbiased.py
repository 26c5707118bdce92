"""The least worst-case variance of an unbiased mechanism on an interval.

An unbiased row has mean x, so a slope v may be added to the loss for free: its variance is at least, for every
level l and slope v, l + sum g c with c made from (y - x)**2 - v (y - x) instead of the loss. That is a square around
x + v/2, so the favoured outputs form a stretch around a centre that is not x itself. Otherwise the program is the
one of cutting_planes.py, and its multipliers prove a bound over all outputs on the whole line.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.core import (
    DesignedUnbiased,
    Epsilon,
    HybridMechanism,
    Interval,
    Mechanism,
    SuboptimalPiecewiseMechanism,
    ThreeOutputs,
    UnbiasedOGPM,
)
from deniable.estimators import closed_form, worst_case
from deniable.planning.designs.answer import Answer
from deniable.planning.designs.asymptotic import limit_of_worst
from deniable.planning.designs.cutting_planes import Cuts, Solution, solve
from deniable.planning.designs.interval import two_ends
from deniable.planning.designs.lower_bound import least_between, lowered, mean_cuts, power_terms
from deniable.planning.designs.rounding import NotPrivate, least_costly

TOTAL_BITS = 50
LIGHTEST = 1 << 12
OUTER = 96
BISECTIONS = 36


class Resolution(NamedTuple):
    """How fine the program and its mechanism are.

    `rows` + 1 inputs, between which the mechanism rounds at random (even); `inner` outputs from the middle to the reach
    of the one-bit mechanism, and on to `beyond` times that.
    """

    rows: int
    inner: int
    beyond: float

    @classmethod
    def of(cls, epsilon: Epsilon) -> Resolution:
        """Finer where variances are smaller; there the outputs also stay closer to the domain."""
        level = float(epsilon)
        if level <= 5:
            return cls(128, 120, 1.5)
        return cls(256, 120, 1.5) if level <= 7 else cls(256, 160, 1.2) if level <= 9 else cls(512, 160, 1.15)


def design_unbiased(domain: Interval, epsilon: Epsilon) -> Answer:
    """The unbiased mechanism of least worst-case variance."""
    begin = time.monotonic()
    e = math.exp(float(epsilon))
    reach = 0.5 / math.tanh(float(epsilon) / 2)
    rows, inside, beyond = Resolution.of(epsilon)
    step = reach / inside
    middle = round(inside * beyond)
    inner = step * np.arange(-middle, middle + 1)
    # No output lies farther out, but the program has to know: its multipliers must prove that none should.
    outer = inner[-1] * np.geomspace(1, 3 * farthest_centre(epsilon), OUTER + 1)[1:]
    x = np.arange(rows // 2 + 1) / rows
    cuts = UnbiasedCuts(x, 0.5 + np.concatenate([-outer[::-1], inner, outer]), epsilon, inside)
    solution = solve(cuts, cuts.start(), np.ones(1), e, tolerance=1e-4 if float(epsilon) > 1 else 1e-5)
    mechanism = _rounded(domain, epsilon, cuts.spread(solution.reference)[OUTER:-OUTER], step, rows)
    width = float(domain.width)
    published = UnbiasedOGPM(domain=domain, epsilon=epsilon)
    known = [kind(domain=domain, epsilon=epsilon) for kind in (HybridMechanism, ThreeOutputs, SuboptimalPiecewiseMechanism)]
    candidates: list[tuple[Mechanism, float]] = [(mechanism, largest_variance(mechanism) * width**2)]
    candidates += [(each, worst_case(each, "squared").error) for each in known]
    best, cost, method = least_costly(candidates, "unbiased reference density by linear program")
    return Answer(
        mechanism=best,
        worst_case=cost,
        lower_bound=max(_bound(solution, e), two_ends(e)) * width**2,
        published={"name": published.name, "worst_case": closed_form(published, "worst_variance")},
        seconds=time.monotonic() - begin,
        method=method,
        objective="worst-case variance, unbiased",
        certified=solution.finished,
        predicted=limit_of_worst(2).predict(float(epsilon), width**2),
    )


def farthest_centre(epsilon: Epsilon) -> float:
    """How far out, in reaches of the outputs, a centre may lie: the price of a mean that no row can have."""
    return max(4.0, 5 / float(epsilon))


class UnbiasedCuts:
    """For every input, the centre and the level of its best cut; tags hold x and the centre."""

    def __init__(self, x: Floats, y: Floats, epsilon: Epsilon, inside: int) -> None:
        self.x, self.y, self.e, self.inside = x, y, math.exp(float(epsilon)), inside
        self.span = farthest_centre(epsilon) * float(y[-1 - OUTER])
        size = y.size
        self.orbits = np.minimum(np.arange(size), size - 1 - np.arange(size))
        self.fold = np.zeros((size, size // 2 + 1))
        self.fold[np.arange(size), self.orbits] = 1.0

    def spread(self, reference: Floats) -> Floats:
        """The reference of every output."""
        return reference[self.orbits]

    def start(self) -> Floats:
        """Almost everything at the one-bit mechanism's two numbers."""
        reference = np.full(self.fold.shape[1], 1e-6)
        reference[self.y.size // 2 - self.inside] += 1 / (1 + self.e)
        return reference

    def __call__(self, reference: Floats) -> tuple[Cuts, Floats]:
        """The best cut and the variance of every input."""
        g = self.spread(reference)
        low, high = np.full(self.x.size, -self.span), np.full(self.x.size, self.span)
        for _ in range(BISECTIONS):
            centre = (low + high) / 2
            below = self._stretch(centre, g)[1] < self.x
            low, high = np.where(below, centre, low), np.where(below, high, centre)
        centre = (low + high) / 2
        squares = self._stretch(centre, g)[0]
        levels = squares - (centre - self.x) ** 2
        above = (self.y - centre[:, None]) ** 2 - squares[:, None]
        rows = np.where(above > 0, above, self.e * above) @ self.fold
        tags = np.stack([self.x, centre], axis=1)
        return Cuts(np.zeros(self.x.size, np.int64), levels, rows, tags), levels + rows @ reference

    def _stretch(self, centre: Floats, g: Floats) -> tuple[Floats, Floats]:
        """The square of the farthest favoured distance, and the mean of the row, for stretches around centres."""
        squares = (self.y - centre[:, None]) ** 2
        order = np.argsort(squares, axis=1)
        mass = (self.e - 1) * g[order]
        budget = 1 - g.sum()
        before = np.cumsum(mass, axis=1) - mass
        taken = np.clip(budget - before, 0.0, mass)
        mean = g @ self.y + (taken * self.y[order]).sum(axis=1)
        # A reference that cannot fill a row falls short on either side; relative to what it has, its mean still orders centres.
        mean = mean / np.maximum(g.sum() + taken.sum(axis=1), 1e-300)
        place = np.minimum((before + mass < budget).sum(axis=1), g.size - 1)
        rank = np.arange(place.size)
        return squares[rank, order[rank, place]], mean


def _bound(solution: Solution, e: float) -> float:
    """What the multipliers prove, over all outputs on the line."""
    weights = solution.multipliers
    kept = weights > 1e-10 * max(weights.max(), 1e-300)
    if not kept.any():
        return 0.0
    x, which = np.unique(solution.cuts.tags[kept, 0], return_inverse=True)
    (centre, levels), together = mean_cuts(which, weights[kept], solution.cuts.tags[kept, 1], solution.cuts.levels[kept])
    x, centre = np.concatenate([x, 1 - x]), np.concatenate([centre, 1 - centre])
    levels, weights = np.tile(levels, 2), np.tile(together, 2)
    share = weights / weights.sum()

    def least(shifted: Floats) -> float:
        squares = shifted + (centre - x) ** 2
        reach = np.where(squares > 0, np.sqrt(np.maximum(squares, 0.0)), -1.0)
        inside = np.maximum(reach, 0.0)
        ends = np.concatenate([centre - inside, centre + inside])
        # Beyond the last end every cut is a plain square, and their sum grows.
        marks = np.unique(np.concatenate([ends, np.linspace(ends.min(), ends.max(), 1025)]))
        marks = marks[marks >= 0.5 - 1e-12] if marks.max() > 0.5 else marks
        marks = np.concatenate([[0.5], marks])
        return least_between(np.unique(marks), lambda y, middle: power_terms(2, e, centre, squares, reach, share, y, middle), False)

    return lowered(levels, weights, least)


def _rounded(domain: Interval, epsilon: Epsilon, reference: Floats, step: float, rows: int) -> DesignedUnbiased:
    """Integers: every output keeps some weight, so that means can be made exact one unit at a time."""
    total = 1 << TOTAL_BITS
    weights = [max(round(float(weight) * total), LIGHTEST) for weight in reference]
    weights = [(a + b) // 2 for a, b in zip(weights, reversed(weights), strict=True)]
    farthest = 2 * _farthest(weights, epsilon, total) // rows
    slope = min(math.floor(Fraction(total, rows) / Fraction(step)), farthest)
    mechanism = DesignedUnbiased(domain=domain, epsilon=epsilon, rows=rows, weights=weights, total=total, slope=slope)
    if not mechanism.certificate().holds:
        raise NotPrivate("a designed mechanism's largest ratio exceeds e**epsilon")
    return mechanism


def _farthest(weights: list[int], epsilon: Epsilon, total: int) -> int:
    """The largest first moment a row can have around the middle: what is left goes to the last outputs."""
    budget, moment = total - sum(weights), 0
    for j in reversed(range(len(weights))):
        gain = min(epsilon.floor(weights[j]) - weights[j], budget)
        moment += gain * (j - len(weights) // 2)
        budget -= gain
    return moment


def largest_variance(mechanism: DesignedUnbiased) -> float:
    """The worst variance over all values of a domain of width 1: at a row, or between two where rounding adds to it."""
    table = mechanism.table
    start, step = float(mechanism.reading.start), float(mechanism.reading.step)
    y = start + step * np.arange(table.outputs)
    x = np.arange(table.inputs) / (table.inputs - 1)
    chances = np.array(table.rows, dtype=np.float64) / table.total
    variance = ((y - x[:, None]) ** 2 * chances).sum(axis=1)
    square = 1 / (table.inputs - 1) ** 2
    rise = np.diff(variance)
    way = np.clip(0.5 + rise / (2 * square), 0, 1)
    return float((variance[:-1] + way * rise + way * (1 - way) * square).max())
