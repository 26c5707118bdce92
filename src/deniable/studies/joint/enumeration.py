"""Secret pairing or grouping by looking at all indicators the colluders can have: for few colluders, any table.

For users seated at random in groups of g, let P(u, v) be the sum over seats of one group: each seat is taken
by somebody who told the truth (u), by somebody who lied (v), or by somebody unknown (1). Then the likelihood
of a truthful and b lying known users is [u^a v^b] P^(n/g) over the number of ways to choose their seats. The
odds of truth of one more user are the ratio of two such likelihoods. Everything is integers.

The coefficients c of P^N follow from P * D(P^N) = N * D(P) * P^N, where D multiplies a term by its degree: at degree d

    d P00 c(a, b) = sum over (i, j) != (0, 0) of (N e - d + e) P_ij c(a-i, b-j),    e = i + j,

so the work depends on m only. Kept are the integers c(a, b) d! P00**d / P00**N.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.errors import NotSupported

MOST_KNOWN = 480


def secret_grouping_ratio(patterns: Sequence[Fraction], n: int, m: int, wrong_answers: int = 1) -> Fraction | None:
    """The largest likelihood ratio of an answer over everything m colluders can know; None when it is unbounded.

    `patterns[l]` is the probability of any one pattern with l liars in a group of len(patterns) - 1 users.

    >>> pair = [Fraction(76, 125), Fraction(24, 125), Fraction(1, 125)]     # truth with 4/5, correlation -1/5
    >>> secret_grouping_ratio(pair, 4, 2)                                   # the published bound says 9.714
    Fraction(52, 3)
    """
    most = most_colluders(len(patterns) - 1)
    if m > most:
        raise NotSupported(
            f"looking at all indicators takes at most {most} colluders; "
            "the number for a known grouping is an upper bound for more of them"
        )
    likelihoods = _likelihoods(patterns, n, m + 1)
    worst = Fraction(1)
    for lied in range(m + 1):
        told = m - lied
        truth = likelihoods.get((told + 1, lied), 0) * (told + 1) * wrong_answers
        lie = likelihoods.get((told, lied + 1), 0) * (lied + 1)
        if truth == 0 and lie == 0:
            continue  # the colluders cannot have these indicators
        if truth == 0 or lie == 0:
            return None
        worst = max(worst, Fraction(truth, lie), Fraction(lie, truth))
    return worst


def most_colluders(size: int) -> int:
    """How many colluders can be looked at in a few seconds, for groups of this size and any number of users."""
    return MOST_KNOWN // size


def _likelihoods(patterns: Sequence[Fraction], n: int, most: int) -> dict[tuple[int, int], int]:
    """Coefficients of P^(n/g) up to total degree `most`, as integers; those of one degree have the same scale."""
    size = len(patterns) - 1
    scale = math.lcm(*(Fraction(chance).denominator for chance in patterns))
    whole = [int(chance * scale) for chance in patterns]
    one_group = {}
    for told in range(size + 1):
        for lied in range(size + 1 - told):
            rest = size - told - lied
            chance = sum(math.comb(rest, more) * whole[lied + more] for more in range(rest + 1))
            one_group[told, lied] = math.comb(size, told) * math.comb(size - told, lied) * chance
    none = one_group.pop((0, 0))
    terms = [(told, lied, weight * none ** (told + lied - 1)) for (told, lied), weight in one_group.items() if weight]
    groups, power = n // size, {(0, 0): 1}
    for degree in range(1, most + 1):
        # (d-1)! / (d-e)! for a term of degree e: what the factorial in the scale leaves over.
        left = [math.perm(degree - 1, taken - 1) if taken else 0 for taken in range(min(size, degree) + 1)]
        for told in range(degree + 1):
            total = 0
            for more_told, more_lied, weight in terms:
                taken, lied = more_told + more_lied, degree - told
                if more_told <= told and more_lied <= lied:
                    factor = (groups + 1) * taken - degree
                    total += factor * weight * left[taken] * power[told - more_told, lied - more_lied]
            power[told, degree - told] = total
    return power
