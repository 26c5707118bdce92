"""How many users hold a one, from joint reports, with the interval the correlation really gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats
from deniable.core import Pair, as_index
from deniable.errors import InvalidParameter
from deniable.estimators import Estimate, ScoreIntervals, ScoreQuestion
from deniable.studies.joint.arguments import check_users
from deniable.studies.joint.variance import check_informative, variance_joint


@dataclass(frozen=True)
class _BothWays:
    """The interval of the ones, and that of the zeros, which mirrors it."""

    ones: ScoreIntervals
    n: int

    def interval(self, level: float) -> tuple[Floats, Floats]:
        low, high = self.ones.interval(level)
        return np.array([self.n - high[0], low[0]]), np.array([self.n - low[0], high[0]])


def estimate_ones(pair: Pair, reported_ones: int, n: int, *, leftover: bool = False) -> Estimate:
    """(I - n q) / (p - q): unbiased for the users who answered, whatever the pairing.

    The variance is Theorem 4's at the estimate (rounded into 0 … n), because it depends on the truth.

    >>> estimate = estimate_ones(Pair.exactly("4/5", "-1/4"), 400, 1000)
    >>> round(float(estimate.value[1]), 6), round(float(estimate.standard_error[1]), 2)
    (333.333333, 20.79)
    """
    check_users(n, leftover)
    check_informative(pair)
    reported = as_index(reported_ones)
    if reported is None or not 0 <= reported <= n:
        raise InvalidParameter("reported_ones must be a whole number from 0 to n")
    ones = float((reported - n * pair.lie) / (pair.truth - pair.lie))
    spread = float(variance_joint(pair, n, min(max(round(ones), 0), n), leftover=leftover))
    truth, gap = float(pair.truth), float(pair.truth - pair.lie)

    def moments(shares: Floats) -> tuple[float, float]:
        held = min(max(round(float(shares[0]) * n), 0), n)
        # The third moment is that of independent answers.
        third = (n - 2 * held) * truth * (1 - truth) / gap**2 / n**3
        return float(variance_joint(pair, n, held, leftover=leftover)) / n**2, third

    share = min(max(ones / n, 0.0), 1.0)
    question = ScoreQuestion(ones / n, np.array([1.0, 0.0]), np.array([share, 1 - share]), moments, n, 1 / (n * gap))
    return Estimate(
        value=np.array([n - ones, ones]),
        covariance=spread * np.array([[1.0, -1.0], [-1.0, 1.0]]),
        n=n,
        target="these users",
        method="joint randomized response, unbiased",
        labels=(0, 1),
        total=float(n),
        bounds=(0.0, float(n)),
        sure=_BothWays(ScoreIntervals((question,), float(n)), n),
    )
