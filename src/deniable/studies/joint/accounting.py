"""The privacy of a pair's table, all numbers together: alone, with a secret pairing, with a known one."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from deniable.core import Pair, log_float
from deniable.studies.joint.arguments import check_colluders, check_users
from deniable.studies.joint.positive_correlation import positive_correlation_ratio_bounds
from deniable.studies.joint.secret_pairing import Bounds, printed_ratio, secret_pairing_ratio_bounds


@dataclass(frozen=True)
class Accounting:
    """What each adversary learns about one honest user, as epsilons. Read them together.

    `m` counts everyone whose indicator the adversary knows: colluders, and users whose true value is known.
    """

    n: int
    m: int
    epsilon_marginal: float
    """Against someone who knows nobody's indicator: ln(p/q)."""
    epsilon_secret_pairing: float
    """Against m colluders who do not know who is paired with whom; the worst case over what they hold. Never too small."""
    epsilon_secret_pairing_at_least: float
    """Not above the true number for a secret pairing: the two agree for bits and categories, and can differ beyond."""
    epsilon_known_pairing: float
    """Against someone who knows the partner and the partner's indicator."""
    exposed_fraction: float
    """The expected share of honest users whose answer a colluding partner knows for certain."""
    weakened_fraction: float
    """The expected share of honest users for whom a colluding partner's odds pass the marginal ones."""
    epsilon_printed: float
    """What Theorem 3 prints for m colluders. Not a bound for m >= 2 and a negative correlation."""

    def to_dict(self) -> dict[str, Any]:
        """A JSON form; infinite numbers stay infinite."""
        return asdict(self)


def account(pair: Pair, n: int, m: int, *, leftover: bool = False, wrong_answers: int = 1) -> Accounting:
    """Every privacy number of a table for n users of whom m collude.

    `wrong_answers` is k - 1 for k categories.

    >>> account(Pair.exactly("4/5", "-1/4"), 10_000, 500).epsilon_known_pairing
    inf
    """
    seats = check_users(n, leftover)
    check_colluders(m, n)
    partner_colludes = Fraction(m, seats - 1)
    exposed, weakened = _exposure(pair, wrong_answers)
    secret = secret_ratio_bounds(pair, seats, m, wrong_answers) or (None, None)
    return Accounting(
        n=n,
        m=m,
        epsilon_marginal=log(marginal_ratio(pair, wrong_answers)),
        epsilon_secret_pairing=log(secret[1]),
        epsilon_secret_pairing_at_least=log(secret[0]),
        epsilon_known_pairing=log(known_pairing_ratio(pair, wrong_answers)),
        exposed_fraction=float(partner_colludes * exposed),
        weakened_fraction=float(partner_colludes * weakened),
        epsilon_printed=log(printed_ratio(pair, seats, m)) + math.log(wrong_answers),
    )


def marginal_ratio(pair: Pair, wrong_answers: int = 1) -> Fraction:
    """p over the probability of one wrong answer (or the other way round)."""
    odds = Fraction(pair.truthful * wrong_answers, pair.lying)
    return max(odds, 1 / odds)


def known_pairing_ratio(pair: Pair, wrong_answers: int = 1) -> Fraction | None:
    """The largest ratio given the partner's indicator; None when it is unbounded."""
    worst = Fraction(1)
    for truth, lie in map(pair.given, (True, False)):
        if truth == 0 or lie == 0:
            return None
        odds = Fraction(truth * wrong_answers, lie)
        worst = max(worst, odds, 1 / odds)
    return worst


def secret_pairing_ratio(pair: Pair, seats: int, m: int, wrong_answers: int = 1) -> Fraction | None:
    """The largest ratio over all the colluders can hold, some 2**-100 above the exact number; None when it is unbounded."""
    bounds = secret_ratio_bounds(pair, seats, m, wrong_answers)
    return None if bounds is None else bounds[1]


def secret_ratio_bounds(pair: Pair, seats: int, m: int, wrong_answers: int = 1) -> Bounds | None:
    """Rationals around the largest ratio, for any number of users and any correlation; None when it is unbounded."""
    bounds = positive_correlation_ratio_bounds if pair.correlation > 0 else secret_pairing_ratio_bounds
    return bounds(pair, seats, m, wrong_answers)


def _exposure(pair: Pair, wrong_answers: int) -> tuple[Fraction, Fraction]:
    """How likely the partner's indicator settles this user's, and how likely it gives more than the marginal odds."""
    exposed = weakened = Fraction(0)
    usual = marginal_ratio(pair, wrong_answers)
    for partner_truthful, chance in ((True, pair.truth), (False, pair.lie)):
        truth, lie = pair.given(partner_truthful)
        exposed += chance * (truth == 0 or lie == 0)
        odds = None if truth == 0 or lie == 0 else Fraction(truth * wrong_answers, lie)
        weakened += chance * (odds is None or max(odds, 1 / odds) > usual)
    return exposed, weakened


def log(ratio: Fraction | None) -> float:
    """ln(ratio) in doubles; infinite for an unbounded one."""
    return math.inf if ratio is None else log_float(ratio)
