"""What colluders learn when nobody knows who is paired with whom.

The colluders know their own truth indicators, but not their partners. Given the indicators, each way to
pair the users has a likelihood; a pairing where two lying colluders meet is less likely than chance when
the correlation is negative, so the colluders are rather paired with honest users than the published
bound assumes. For a correlation <= 0 the worst indicators are "all lied" (and, for the other direction,
"all told the truth"): proofs/joint-randomized-response.md. Then only k, the number of pairs of two
colluders, matters; its weights w(k) follow from one ratio,

    w(k+1) / w(k) = f (m-2k)(m-2k-1) / (2 (k+1) (h-m+2k+2)),    h = n - m,

where f is the likelihood of two colluders being paired, relative to chance. The honest users' share of
colluding partners is the mean of (m - 2k) / h. All of it is computed with integers and directed rounding:
the result is a pair of rationals around the true number, some 2**-100 apart.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from deniable.core import Pair

PRECISION = 160
NEGLIGIBLE = 1 << 24
Bounds = tuple[Fraction, Fraction]


def colluding_partner_bounds(n: int, m: int, likelihood: Fraction) -> Bounds | None:
    """Bounds of the probability that an honest user's partner is one of m colluders with equal indicators.

    `likelihood` is f above: 1 for independent indicators, 0 when two colluders can never meet. None when
    the indicators are impossible. n is even.

    >>> low, high = colluding_partner_bounds(10, 3, Fraction(1))
    >>> low <= Fraction(1, 3) <= high and high - low < Fraction(1, 2**90)
    True
    """
    honest = n - m
    if m == 0:
        return Fraction(0), Fraction(0)
    least, most = max(0, (m - honest) // 2), m // 2
    if likelihood == 0:
        return None if least > 0 else (Fraction(m, honest), Fraction(m, honest))
    top, bottom = likelihood.numerator, likelihood.denominator

    def ratio(k: int) -> tuple[int, int]:
        """w(k+1) / w(k), as numerator and denominator."""
        return top * (m - 2 * k) * (m - 2 * k - 1), bottom * 2 * (k + 1) * (honest - m + 2 * k + 2)

    mode = _first_falling(ratio, least, most)
    low_sum = high_sum = 1 << PRECISION
    low_met, high_met = low_sum * (m - 2 * mode), high_sum * (m - 2 * mode)
    for step in (1, -1):
        low, high, k = 1 << PRECISION, 1 << PRECISION, mode
        while least <= k + step <= most:
            rise, fall = ratio(k) if step == 1 else ratio(k - 1)[::-1]
            if high <= NEGLIGIBLE and rise < fall:
                # Ratios keep falling away from the mode, so the rest is below a geometric series.
                rest = high * rise // (fall - rise) + 1
                high_sum += rest
                high_met += rest * m
                break
            low, high, k = low * rise // fall, -(-high * rise // fall), k + step
            low_sum, high_sum = low_sum + low, high_sum + high
            low_met, high_met = low_met + low * (m - 2 * k), high_met + high * (m - 2 * k)
    return Fraction(low_met, high_sum * honest), min(Fraction(high_met, low_sum * honest), Fraction(1))


def _first_falling(ratio: Callable[[int], tuple[int, int]], least: int, most: int) -> int:
    """The k with the largest weight: the first whose successor is not larger (ratios fall as k grows)."""
    low, high = least, most
    while low < high:
        middle = (low + high) // 2
        rise, fall = ratio(middle)
        if rise > fall:
            low = middle + 1
        else:
            high = middle
    return low


def secret_pairing_ratio_bounds(pair: Pair, n: int, m: int, wrong_answers: int = 1) -> Bounds | None:
    """Bounds of the largest likelihood ratio of an answer, pairing unknown; None when it is unbounded.

    For correlations <= 0. `wrong_answers` is 1 for bits and k - 1 for k categories, where a liar picks one of
    them at random.
    """
    assert pair.correlation <= 0
    lied = colluding_partner_bounds(n, m, Fraction(pair.neither * pair.total, pair.lying**2))
    told = colluding_partner_bounds(n, m, Fraction(pair.both * pair.total, pair.truthful**2))
    if lied is None or told is None:
        return None
    most = [truth_odds(pair, share, False) for share in lied]
    least = [truth_odds(pair, share, True) for share in told]
    ratios = []
    for up, down in zip(most, least, strict=True):
        if up is None or not down:
            return None
        ratios.append(max(up * wrong_answers, 1 / (down * wrong_answers)))
    return ratios[0], ratios[1]


def truth_odds(pair: Pair, share: Fraction, partner_truthful: bool) -> Fraction | None:
    """Odds of truth for a user whose partner has a known indicator with probability `share`; None when infinite."""
    truth, lie = pair.given(partner_truthful)
    known = truth + lie
    top = (1 - share) * pair.truth + share * Fraction(truth, known)
    bottom = (1 - share) * pair.lie + share * Fraction(lie, known)
    return None if bottom == 0 else top / bottom


def printed_ratio(pair: Pair, n: int, m: int) -> Fraction | None:
    """The ratio Theorem 3 prints, (m p_max + (n-m-1) p) / (m p_min + (n-m-1) q). Not a bound for m >= 2 and rho < 0."""
    p, q, rho = pair.truth, pair.lie, pair.correlation
    high, low = max((1 - rho) * p, p + rho * q), min((1 - rho) * q, q + rho * p)
    bottom = m * low + (n - m - 1) * q
    return None if bottom == 0 else (m * high + (n - m - 1) * p) / bottom
