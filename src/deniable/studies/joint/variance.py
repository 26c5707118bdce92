"""The variance of the estimated count of ones, exactly (Theorem 4), beside plain randomized response."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable.core import Pair
from deniable.errors import InvalidParameter
from deniable.studies.joint.arguments import check_ones, check_users


def variance_joint(pair: Pair, n: int, ones: int, *, leftover: bool = False) -> Fraction:
    """pq/(p-q)**2 (n + rho ((2 ones - n)**2 - n) / (n-1)), for a pairing drawn at random.

    Two users are paired with probability 1/(n-1); with an odd n, whose leftover answers alone, 1/n.

    >>> float(variance_joint(Pair.exactly("4/5", "-1/4"), 2, 2))
    0.6666666666666666
    """
    seats, count = check_users(n, leftover), check_ones(ones, n)
    check_informative(pair)
    return _spread(pair) * (n + pair.correlation * ((2 * count - n) ** 2 - n) / (seats - 1))


def variance_independent(pair: Pair, n: int) -> Fraction:
    """n pq/(p-q)**2: the same users with the same p, each alone."""
    check_informative(pair)
    return n * _spread(pair)


def _spread(pair: Pair) -> Fraction:
    return Fraction(pair.truthful * pair.lying, (pair.truthful - pair.lying) ** 2)


def variance_randomized_response(epsilon: float, n: int) -> float:
    """n E/(E-1)**2: plain randomized response at this epsilon; 0 when epsilon is infinite.

    >>> round(variance_randomized_response(1, 10_000), 3)
    9206.736
    """
    return 0.0 if epsilon > 700 else n / (4 * math.sinh(epsilon / 2) ** 2)


def check_informative(pair: Pair) -> None:
    """Refuse tables whose reports say nothing or the opposite."""
    if pair.truthful <= pair.lying:
        raise InvalidParameter("p, the probability of telling the truth, must be above 1/2 for bits")


def no_gain_width(n: int) -> float:
    """The share of all n1/n around 1/2 where a negative correlation does not help: 1/sqrt(n)."""
    return 1 / math.sqrt(n)
