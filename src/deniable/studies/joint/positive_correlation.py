"""What colluders learn when nobody knows the pairing and users rather lie, or tell the truth, together.

With a positive correlation two colluders with the same indicator are likely to be each other's partner, and then
they say nothing about an honest user. The most telling indicators are "all the same", or, where two of a kind
nearly always meet, "all the same but one": the odd one sits with somebody honest, and keeps one of the others from
being paired. proofs/joint-randomized-response.md has what is proved and what was searched. For "all but one" condition
on the odd one's partner: without these two it is a crowd of n - 2 whose known indicators are all the same,

    with an honest user   weight h (1 + (f-1) s'),   then m-1 known users of n-2
    with a colluder       weight (m-1) (1 - rho),    then m-2 known users of n-2

where h = n - m, f is the likelihood of two of a kind being paired, relative to chance, and s' is an honest user's
share of colluding partners in the second crowd.
"""

from __future__ import annotations

from fractions import Fraction

from deniable.core import Pair
from deniable.studies.joint.secret_pairing import Bounds, colluding_partner_bounds


def positive_correlation_ratio_bounds(pair: Pair, n: int, m: int, wrong_answers: int = 1) -> Bounds | None:
    """Bounds of the largest likelihood ratio of an answer, for correlations >= 0; None when it is unbounded.

    >>> low, high = positive_correlation_ratio_bounds(Pair.exactly("4/5", "1"), 4, 2)
    >>> low <= 12 <= high < 12 + Fraction(1, 2**80)
    True
    """
    lowest = highest = Fraction(1)
    for truthful in (True, False):
        for odd_one in (False, True) if m >= 2 else (False,):
            bounds = truth_bounds(pair, n, m, truthful, odd_one=odd_one)
            # Of the indicator the colluders share, the honest user's own is the likelier one.
            low, high = bounds if truthful else (1 - bounds[1], 1 - bounds[0])
            if high == 1:
                return None
            scale = Fraction(wrong_answers) if truthful else Fraction(1, wrong_answers)
            lowest, highest = max(lowest, low / (1 - low) * scale), max(highest, high / (1 - high) * scale)
    return lowest, highest


def truth_bounds(pair: Pair, n: int, m: int, truthful: bool, *, odd_one: bool) -> Bounds:
    """Bounds of the chance that an honest user tells the truth when all colluders have this indicator, or all but one."""
    known, other = (Fraction(given[0], sum(given)) - pair.truth for given in map(pair.given, (truthful, not truthful)))
    same, odd = _shares(pair, n, m, truthful) if odd_one else (_share(pair, n, m, truthful), (Fraction(0), Fraction(0)))
    terms = [_times(same, known), _times(odd, other)]
    return pair.truth + sum(term[0] for term in terms), min(pair.truth + sum(term[1] for term in terms), Fraction(1))


def _share(pair: Pair, n: int, m: int, truthful: bool) -> Bounds:
    bounds = colluding_partner_bounds(n, m, _likelihood(pair, truthful))
    assert bounds is not None  # impossible indicators need a negative correlation
    return bounds


def _shares(pair: Pair, n: int, m: int, truthful: bool) -> tuple[Bounds, Bounds]:
    """An honest user's shares of partners: of the many colluders, and of the odd one."""
    honest, apart = n - m, (m - 1) * (1 - pair.correlation)
    second = _share(pair, n - 2, m - 2, truthful)
    first = _share(pair, n - 2, m - 1, truthful) if honest > 1 else (Fraction(0), Fraction(0))
    weights = [honest * (1 + share * (_likelihood(pair, truthful) - 1)) for share in second]
    low, high = (weight / (weight + apart) for weight in weights)
    others = Fraction(honest - 1, honest)
    same = low * others * first[0] + (1 - high) * second[0], high * others * first[1] + (1 - low) * second[1]
    return same, (low / honest, high / honest)


def _likelihood(pair: Pair, truthful: bool) -> Fraction:
    both, alone = (pair.both, pair.truthful) if truthful else (pair.neither, pair.lying)
    return Fraction(both * pair.total, alone**2)


def _times(bounds: Bounds, factor: Fraction) -> Bounds:
    low, high = bounds[0] * factor, bounds[1] * factor
    return (low, high) if factor >= 0 else (high, low)
