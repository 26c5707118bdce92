"""Logistic regression from means, spreads and products: its score equations, for features that are jointly normal.

The fitted weights w and the intercept b make residuals vanish on average and be uncorrelated with every feature:
E[s(u)] = E[y] and Cov(x, s(u)) = Cov(x, y), where u = w . x + b and s is the logistic function. Where the features are jointly
normal, Cov(x, s(u)) = Cov(x) w E[s'(u)] (Stein), so w points where least squares points and only its length is left to find. For
other features this is an approximation: the better, the more nearly normal u is, and u is a sum of all features.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from deniable.batch import Floats

POINTS: Floats = np.asarray(norm.ppf((np.arange(400) + 0.5) / 400), dtype=np.float64)
STEEPEST = 12.0
"""The largest standard deviation of u: answers that the features decide all but completely have no finite fit."""


def fitted_slope(share: float, spread: float) -> tuple[float, float]:
    """For a class with this share, and least squares whose fitted values have this standard deviation: factor and middle.

    The logistic weights are `factor` times those of least squares, and u is `middle` where the features have their means.

    >>> factor, middle = fitted_slope(0.5, 0.02)
    >>> round(factor, 1), abs(middle) < 1e-6      # a slope of p in probability is about 4 p in log-odds
    (4.0, True)
    """
    low, high = 0.0, STEEPEST
    for _ in range(50):
        deviation = (low + high) / 2
        # E[Z s(m + d Z)], the spread of the fitted values, rises with d.
        if float((POINTS * expit(_middle(share, deviation) + deviation * POINTS)).mean()) < spread:
            low = deviation
        else:
            high = deviation
    deviation = (low + high) / 2
    return deviation / max(spread, 1e-12), _middle(share, deviation)


def widest_spread(share: float) -> float:
    """What the standard deviation of the fitted values approaches where normal features decide the class completely."""
    return float(norm.pdf(norm.ppf(share)))


def _middle(share: float, deviation: float) -> float:
    """The m with E[s(m + d Z)] = share."""
    low, high = -40.0 - 4 * deviation, 40.0 + 4 * deviation
    for _ in range(60):
        middle = (low + high) / 2
        if float(expit(middle + deviation * POINTS).mean()) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2
