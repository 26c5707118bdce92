"""The mean of a number, with an interval for these users or for the population."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from deniable.batch import Accumulator, Floats, Reports
from deniable.core import NearestCodes, NumericMechanism
from deniable.errors import NotSupported
from deniable.estimators.debias import NEGLIGIBLE, Debiasing, Moments, debiasing, first_moments
from deniable.estimators.distribution_estimate import Ends
from deniable.estimators.estimate import Estimate, SmallSample, Target, check_target, half_width
from deniable.estimators.recent_shapes import shape, shape_of
from deniable.estimators.shape_fit import Method, Shape
from deniable.estimators.source import Source, accumulated
from deniable.estimators.vectors import vector_mean

SPREAD_FROM = 30
"""Below so many reports nothing is estimated about their spread: its known bounds are used."""
NORMAL_FROM = 20_000
"""From so many reports on, normal intervals hold at the ends of the domain too."""
HOEFFDING = 0.75
CHEBYSHEV = 2.29
"""Factors that make a normal interval of 95 % as wide as Hoeffding's (by reach) and Chebyshev's (by spread)."""


@dataclass(frozen=True)
class BoundedMean:
    """Intervals of a mean that hold for every number of reports: the narrower of Hoeffding's and Chebyshev's."""

    value: float
    reach: float
    spread: float
    bias: float
    n: int
    limits: tuple[float, float]

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends, within the domain."""
        beyond = 1 - level
        half = (
            min(self.reach * math.sqrt(math.log(2 / beyond) / 2), self.spread / math.sqrt(beyond)) / math.sqrt(self.n) + self.bias
        )
        low, high = np.clip([self.value - half, self.value + half], *self.limits)
        return np.asarray(low), np.asarray(high)


@dataclass(frozen=True, eq=False)
class _Rounded:
    """Normal intervals, wider by what devices may have rounded: a value that is put into a cell is read as the cell's middle."""

    value: float
    standard_error: float
    half: float
    limits: tuple[float, float]

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends, within the domain."""
        reach = half_width(level) * self.standard_error + self.half
        low, high = np.clip([self.value - reach, self.value + reach], *self.limits)
        return np.asarray(low), np.asarray(high)


def mean(source: Source, *, target: Target = "these users", method: Method | None = None) -> Estimate:
    """The mean of the values behind the reports, in the domain's units.

    Where the mean report is a straight line in the value (unbiased mechanisms, moving windows such as sw,
    sw-c and pm-c, added noise), that line is inverted: unbiased, from the counts. Other mechanisms, whose
    windows slide at the ends of the domain, cannot tell values near an end apart: there the mean is that
    of the estimated distribution, which smoothing bends; its interval holds all the same (`plausible`). `method`
    ("penalized", "ems" or "em") asks for that way.
    The interval for "these users" holds the noise of the reports only, as far as the reports show it; the
    one for the "population" also holds which users answered. Below 20,000 reports it is worked out from the law of the
    reports (`plausible`), which holds at the ends of the domain and for few reports too; from there on it is the normal one,
    wider by half a cell where devices put values into cells: whole numbers may all lie at one side of theirs.
    Below 30 reports the variance is an upper bound. Of vectors it is the mean vector (`VectorMean`).

    >>> from deniable.core import make_mechanism
    >>> estimate = mean(make_mechanism("hm", epsilon=4).randomize_many([0.25] * 10_000))
    >>> abs(float(estimate.value) - 0.25) < 0.02
    True
    """
    check_target(target)
    if not (isinstance(source, Reports) and len(source)):  # where a mean is a line, reports need not be counted
        source = accumulated(source)
    mechanism = source.mechanism
    if isinstance(mechanism, NearestCodes):
        return vector_mean(accumulated(source), target)
    if not isinstance(mechanism, NumericMechanism):
        raise NotSupported(
            f"{mechanism.name} does not report numbers on an interval; estimate directions or frequencies (shares) instead"
        )
    rule = debiasing(mechanism) if method is None else None
    if rule is None:
        return shape(source, method=method or "penalized", target=target).mean()
    powers, domain = first_moments(source, rule), mechanism.domain
    width, n = float(domain.width), powers.n
    spread = math.sqrt(rule.most_noise + (0.25 if target == "population" else 0.0))
    if n < SPREAD_FROM:
        variance = min(HOEFFDING * rule.reach, CHEBYSHEV * spread) ** 2 / n
    else:
        variance = (users_noise(powers, rule) if target == "these users" else _spread(powers)) / n
    bounded = ", bounded: few reports" if n < SPREAD_FROM else ""
    value = float(domain.low) + width * (powers.first + 0.5)
    limits = float(domain.low), float(domain.high)
    noise = width**2 * (variance + rule.bias**2)
    ends: SmallSample | None = None
    if n < NORMAL_FROM:
        asked = source if isinstance(source, Reports) else _shape(source, target)
        ends = Ends(partial(_shape_ends, asked, target), np.asarray(value))
    elif mechanism.channel.between is None:  # between two inputs a device rounds at random, which needs no allowance
        ends = _Rounded(value, math.sqrt(noise), width / (2 * mechanism.grid.steps), limits)
    return Estimate(
        value=np.asarray(value),
        variance=np.asarray(noise),
        n=n,
        target=target,
        method=f"unbiased mean of {mechanism.name}{_line(rule)}{_lattice(mechanism)}{bounded}",
        bounds=limits,
        sure=ends,
        small_sample=BoundedMean(value, width * rule.reach, width * spread, width * rule.bias, n, limits),
    )


def _shape(sums: Accumulator, target: Target) -> Shape:
    return Shape(sums.mechanism, sums.sums, sums.n, target)


def _shape_ends(asked: Shape | Reports, target: Target, level: float) -> tuple[Floats, Floats]:
    """The ends by the distribution: nothing is counted and fitted before an interval is asked for."""
    return shape_of(_shape(accumulated(asked), target) if isinstance(asked, Reports) else asked).mean_ends(level)


def users_noise(powers: Moments, rule: Debiasing) -> float:
    """The average over these users of the variance of their reports.

    It is the mean of y**2 minus the mean of x**2; the latter is recovered from the reports where they show
    it. Where they do not (two or three different reports), the spread of the reports is an upper bound.
    """
    seen = _spread(powers)
    if rule.square is None:
        return min(seen, rule.most_noise)
    known = powers.second - (users_square(powers, rule) - rule.rounding)
    noise = known if rule.rounding <= NEGLIGIBLE else min(known, seen)
    return min(max(noise, rule.least_noise), rule.most_noise)


def users_square(powers: Moments, rule: Debiasing) -> float:
    """The mean of (x - 1/2)**2 over the values, unbiased."""
    assert rule.square is not None
    a, b, c = rule.square
    # Around 1/2: E[(y - 1/2)**2] = a + b/2 + c/4 - 1/4 + (b + c - 1) u + c u**2, u = x - 1/2, as E y = x.
    return (powers.second - (a + b / 2 + c / 4 - 0.25) - (b + c - 1) * powers.first) / c


def _spread(powers: Moments) -> float:
    """The variance of the reports."""
    return max(powers.second - powers.first**2, 0.0) * powers.n / max(powers.n - 1, 1)


def _line(rule: Debiasing) -> str:
    return "" if (rule.alpha, rule.beta) == (0.0, 1.0) else ", straight line inverted"


def _lattice(mechanism: NumericMechanism) -> str:
    steps = mechanism.grid.steps
    return f", values on a lattice of {steps} steps" if steps < 1 << 12 else ""
