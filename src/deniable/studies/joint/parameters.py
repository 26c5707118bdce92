"""From a privacy level to the table of a pair: bounded (the default) or as published."""

from __future__ import annotations

import math

from deniable.core import WORD, Epsilon, EpsilonLike, Pair, two_level_weights
from deniable.errors import InvalidParameter


def bounded_pair(epsilon: EpsilonLike, collusion: EpsilonLike) -> Pair:
    """The strongest negative correlation that keeps `collusion` against whoever knows the partner's indicator.

    p = E/(1+E) and rho = -(e**(collusion - epsilon) - 1) / (e**collusion + 1), rounded toward privacy: both
    (both + one) / (one + neither) <= e**epsilon and one / neither <= e**collusion hold between integers.

    >>> from fractions import Fraction
    >>> table = bounded_pair(1, 2)
    >>> Epsilon(1).allows(Fraction(table.truthful, table.lying)), Epsilon(2).allows(Fraction(table.one, table.neither))
    (True, True)
    >>> round(float(table.correlation), 6)
    -0.204824
    """
    alone, colluding = Epsilon(epsilon), Epsilon(collusion)
    if colluding < alone:
        raise InvalidParameter(
            f"epsilon_collusion must be at least epsilon = {alone}: a colluding partner never learns less than a stranger"
        )
    if colluding == alone:
        low, high = two_level_weights(1, 2, alone)
        return Pair.independent(high, low)
    total, lying = _lying(alone)
    neither = math.ceil(lying / (1 + colluding.bounds()[0]))
    return Pair(total - 2 * lying + neither, lying - neither, neither)


def published_pair(epsilon: EpsilonLike) -> Pair:
    """The published heuristic p = E/(1+E), rho = 1 - 1/p: never do both lie.

    A partner who lied knows that this user told the truth: `epsilon_known_pairing` is infinite.

    >>> published_pair(1).neither
    0
    """
    total, lying = _lying(Epsilon(epsilon))
    return Pair(total - 2 * lying, lying, 0)


def _lying(epsilon: Epsilon) -> tuple[int, int]:
    """The total and the weight of lying: the least with truthful / lying <= e**epsilon."""
    total = 1 << WORD
    lying = math.ceil(total / (1 + epsilon.bounds()[0]))
    if 2 * lying >= total:
        raise InvalidParameter("epsilon is too small for a table of 64 bits")
    return total, lying


def bounded_correlation(epsilon: float, collusion: float) -> float:
    """rho of the bounded table before rounding; collusion may be infinite.

    >>> round(bounded_correlation(1, math.inf), 6)
    -0.367879
    """
    if math.isinf(collusion):
        return -math.exp(-epsilon)
    return -math.expm1(collusion - epsilon) / (math.exp(collusion) + 1)
