"""The best table for a known number of colluders and a guess of the number of ones.

Write f = 1 + rho p / q for how likely two liars meet, relative to chance, and s(f) for the probability that
an honest user's partner is among m colluders who all lied. The privacy constraint "epsilon with a secret
pairing is at most epsilon" then reads

    p / q <= E - (1 - f) s(f) (E + 1),

so only f is left to choose, between 0 (the strongest correlation) and 1 (none). The printed Theorem 3 has
m/(n-1) in the place of s(f).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from scipy.optimize import minimize_scalar

from deniable.core import Epsilon, EpsilonLike, Pair, two_level_weights
from deniable.errors import NotSupported
from deniable.studies.joint.accounting import log, secret_pairing_ratio
from deniable.studies.joint.arguments import check_colluders, check_ones, check_users
from deniable.studies.joint.secret_pairing import colluding_partner_bounds
from deniable.studies.joint.variance import variance_joint

GRID = 33
FINE = 1 << 40
ROUNDING_TRIES = 12


@dataclass(frozen=True)
class Optimum:
    """A table and what it reaches; `printed` is what the printed constraint would have chosen."""

    pair: Pair
    variance: float
    likelihood: float
    """f: 0 means that two users never both lie, 1 that they have nothing to do with each other."""
    printed: Pair
    printed_variance: float
    printed_epsilon: float
    """What `printed` really has with a secret pairing: above epsilon for m >= 2."""


def optimum(epsilon: EpsilonLike, n: int, m: int, ones: int) -> Optimum:
    """Minimise Theorem 4's variance subject to epsilon_secret_pairing(n, m) <= epsilon, over correlations <= 0.

    A number of ones within sqrt(n)/2 of n/2 gains nothing from a negative correlation; plain randomized
    response is the answer there.

    >>> best = optimum(1, 10_000, 500, 100)
    >>> Epsilon(1).allows(secret_pairing_ratio(best.pair, 10_000, 500)), best.likelihood
    (True, 0.0)
    """
    level = Epsilon(epsilon)
    check_users(n)
    check_colluders(m, n)
    check_ones(ones, n)
    likelihood = best_likelihood(level, n, m, ones)
    pair = _rounded(level, n, m, likelihood)
    by_print = best_likelihood(level, n, m, ones, printed=True)
    printed = _table(level, by_print, Fraction(m, n - 1), shrink=Fraction(0))
    return Optimum(
        pair=pair,
        variance=float(variance_joint(pair, n, ones)),
        likelihood=float(likelihood),
        printed=printed,
        printed_variance=float(variance_joint(printed, n, ones)),
        printed_epsilon=log(secret_pairing_ratio(printed, n, m)),
    )


def best_likelihood(level: Epsilon, n: int, m: int, ones: int, *, printed: bool = False) -> Fraction:
    """The f of least variance: both ends, a grid, and a search between the best grid point's neighbours."""

    def objective(f: float) -> float:
        likelihood = Fraction(round(min(max(f, 0.0), 1.0) * FINE), FINE)
        share = Fraction(m, n - 1) if printed else _share(n, m, likelihood)
        return _variance(level, n, ones, likelihood, share)

    return Fraction(round(_least(objective) * FINE), FINE)


def _least(objective: Callable[[float], float]) -> float:
    points = [i / (GRID - 1) for i in range(GRID)]
    values = [objective(point) for point in points]
    best = min(range(GRID), key=values.__getitem__)
    inner = minimize_scalar(
        objective, bounds=(points[max(best - 1, 0)], points[min(best + 1, GRID - 1)]), method="bounded", options={"xatol": 1e-9}
    )
    # The search never tries the ends themselves: they count as better when nothing inside is clearly below them.
    return float(inner.x) if inner.fun < values[best] * (1 - 1e-12) else points[best]


def _share(n: int, m: int, likelihood: Fraction) -> Fraction | None:
    bounds = colluding_partner_bounds(n, m, likelihood)
    return None if bounds is None else bounds[1]


def _odds(level: Epsilon, likelihood: Fraction, share: Fraction) -> Fraction:
    upper = level.bounds()[0]
    return upper - (1 - likelihood) * share * (upper + 1)


def _variance(level: Epsilon, n: int, ones: int, likelihood: Fraction, share: Fraction | None) -> float:
    """Theorem 4 at the largest p the constraint allows; infinite when there is none above 1/2."""
    odds = None if share is None else float(_odds(level, likelihood, share))
    if odds is None or odds <= 1:
        return math.inf
    rho = -(1 - float(likelihood)) / odds
    return odds / (odds - 1) ** 2 * (n + rho * ((2 * ones - n) ** 2 - n) / (n - 1))


def _table(level: Epsilon, likelihood: Fraction, share: Fraction, shrink: Fraction) -> Pair:
    if likelihood == 1:
        low, high = two_level_weights(1, 2, level)
        return Pair.independent(high, low)
    odds = _odds(level, likelihood, share) * (1 - shrink)
    truth = odds / (1 + odds)
    return Pair.rounded(truth, -(1 - likelihood) / odds)


def _rounded(level: Epsilon, n: int, m: int, likelihood: Fraction) -> Pair:
    """The integer table; p gives way by a hair until the exact constraint holds."""
    share = _share(n, m, likelihood)
    assert share is not None
    for attempt in range(ROUNDING_TRIES):
        pair = _table(level, likelihood, share, Fraction(0) if attempt == 0 else Fraction(1, 1 << (60 - 4 * attempt)))
        ratio = secret_pairing_ratio(pair, n, m)
        if ratio is not None and level.allows(ratio):
            return pair
    raise NotSupported("no table of 64 bits meets this privacy level; use plain randomized response")
