"""Secret pairing or grouping by looking at all indicators the colluders can have: for small n, any correlation.

For users seated at random in groups of g, let P(u, v) be the sum over seats of one group: each seat is taken
by somebody who told the truth (u), by somebody who lied (v), or by somebody unknown (1). Then the likelihood
of a truthful and b lying known users is [u^a v^b] P^(n/g) over the number of ways to choose their seats. The
odds of truth of one more user are the ratio of two such likelihoods. Everything is integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.channels.pair import Pair
from deniable.errors import NotSupported

MOST_USERS = 120


def secret_grouping_ratio(patterns: Sequence[Fraction], n: int, m: int, wrong_answers: int = 1) -> Fraction | None:
    """The largest likelihood ratio of an answer over everything m colluders can know; None when it is unbounded.

    `patterns[l]` is the probability of any one pattern with l liars in a group of len(patterns) - 1 users.

    >>> secret_grouping_ratio(pair_patterns(Pair.exactly("4/5", "-1/5")), 4, 2)   # the published bound says 9.714
    Fraction(52, 3)
    """
    if n > MOST_USERS:
        raise NotSupported(
            f"looking at all indicators takes at most {MOST_USERS} users; "
            "the number for a known pairing is an upper bound for more of them"
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


def _likelihoods(patterns: Sequence[Fraction], n: int, most: int) -> dict[tuple[int, int], int]:
    """Coefficients of P^(n/g) up to total degree `most`, scaled to integers."""
    size = len(patterns) - 1
    scale = math.lcm(*(Fraction(chance).denominator for chance in patterns))
    whole = [int(chance * scale) for chance in patterns]
    one_group = {}
    for told in range(size + 1):
        for lied in range(size + 1 - told):
            rest = size - told - lied
            chance = sum(math.comb(rest, more) * whole[lied + more] for more in range(rest + 1))
            one_group[told, lied] = math.comb(size, told) * math.comb(size - told, lied) * chance
    power = {(0, 0): 1}
    for _ in range(n // size):
        product: dict[tuple[int, int], int] = {}
        for (told, lied), weight in power.items():
            for (more_told, more_lied), factor in one_group.items():
                if factor and told + lied + more_told + more_lied <= most:
                    place = told + more_told, lied + more_lied
                    product[place] = product.get(place, 0) + weight * factor
        power = product
    return power


def pair_patterns(pair: Pair) -> list[Fraction]:
    """The patterns of a pair's table."""
    return [Fraction(weight, pair.total) for weight in (pair.both, pair.one, pair.neither)]
