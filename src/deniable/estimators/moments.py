"""How spread out the users' values are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats
from deniable.core import NumericMechanism
from deniable.errors import NotSupported
from deniable.estimators.debias import Debiasing, FourMoments, debiasing, moments
from deniable.estimators.distribution_estimate import Ends
from deniable.estimators.estimate import Estimate, SmallSample, Target, check_target, half_width
from deniable.estimators.means import NORMAL_FROM, users_square
from deniable.estimators.recent_shapes import shape, shape_of
from deniable.estimators.shape_fit import Method, Shape
from deniable.estimators.source import Source, accumulated


@dataclass(frozen=True, eq=False)
class _Rounded:
    """Normal intervals, wider by what devices may have rounded: values that move by half a cell move their spread by as much."""

    value: float
    standard_error: float
    half: float
    limits: tuple[float, float]

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Both ends, of what is possible."""
        reach = half_width(level) * self.standard_error
        low, high = np.sqrt(np.maximum([self.value - reach, self.value + reach], 0.0))
        ends = np.clip([max(low - self.half, 0.0) ** 2, (high + self.half) ** 2], *self.limits)
        return np.asarray(ends[0]), np.asarray(ends[1])


def variance(source: Source, *, target: Target = "these users", method: Method | None = None) -> Estimate:
    """The variance of the values behind the reports, in squared units of the domain.

    Unbiased, so it may come out negative, where the mean square of a report is a parabola in the value
    (pm, pm-sub, ogpm-u, hm, sw, laplace and their kin); else that of the estimated distribution. Reports
    with two or three different outputs do not show the spread of the values. For "these users" it is the
    mean squared distance from their own mean. Below 20,000 reports the interval is worked out from the law of the reports
    (`plausible`), which holds for every distribution; from there on it is the normal one.

    >>> from deniable.core import make_mechanism
    >>> estimate = variance(make_mechanism("pm", epsilon=4).randomize_many([0.1, 0.9] * 5000))
    >>> abs(float(estimate.value) - 0.16) < 0.03
    True
    """
    check_target(target)
    sums = accumulated(source)
    mechanism = sums.mechanism
    if not isinstance(mechanism, NumericMechanism):
        raise NotSupported(f"{mechanism.name} does not report numbers on an interval, so its values have no variance")
    rule = debiasing(mechanism) if method is None else None
    if rule is None:
        return shape(sums, method=method or "penalized", target=target).variance()
    if not rule.sees_squares:
        raise NotSupported(f"the reports of {mechanism.name} do not show how spread out the values are; use pm, hm or sw")
    powers, width = moments(sums, rule), float(mechanism.domain.width)
    value, noise = _spread(powers, rule, target)
    centre = float(mechanism.domain.low) + width * min(max(powers.first + 0.5, 0.0), 1.0)
    fitted = shape_of(Shape(mechanism, sums.sums, sums.n, target))
    bounds = (0.0, width**2 / 4)
    ends: SmallSample | None = None
    if sums.n < NORMAL_FROM:
        ends = Ends(lambda level: fitted.variance_ends(centre, level), np.asarray(width**2 * value))
    elif mechanism.channel.between is None:
        ends = _Rounded(width**2 * value, width**2 * math.sqrt(noise), width / (2 * mechanism.grid.steps), bounds)
    return Estimate(
        value=np.asarray(width**2 * value),
        variance=np.asarray(width**4 * noise),
        n=sums.n,
        target=target,
        method=f"unbiased variance from the squares of {mechanism.name}",
        bounds=bounds,
        sure=ends,
    )


def _spread(powers: FourMoments, rule: Debiasing, target: Target) -> tuple[float, float]:
    """The variance of positions and the variance of that estimate.

    The square of the mean is estimated by products of two different users' reports only: their noise is
    independent, so nothing has to be taken off.
    """
    n, square = powers.n, users_square(powers, rule)
    if n == 1:
        # One report says nothing about spread; a variance on [0, 1] lies between 0 and 1/4.
        return 0.0 if target == "these users" else 0.125, 0.0 if target == "these users" else 0.0625
    pairs = (n * powers.first**2 - powers.second) / (n - 1)
    value = square - pairs if target == "population" else (square - pairs) * (n - 1) / n
    # Delta method for g(y) = (y**2 - (b + c - 1) y)/c - 2 mean y, all around 1/2.
    assert rule.square is not None
    _, b, c = rule.square
    slope = -(b + c - 1) / c - 2 * powers.first
    quadratic = 1 / c
    mean = quadratic * powers.second + slope * powers.first
    mean_square = quadratic**2 * powers.fourth + 2 * quadratic * slope * powers.third + slope**2 * powers.second
    spread = max(mean_square - mean**2, 0.0)
    # Pairs of noisy reports: the second-order term, which matters for few reports.
    own = max(powers.second - powers.first**2, 0.0)
    return value, spread / n + 2 * own**2 / (n * (n - 1))
