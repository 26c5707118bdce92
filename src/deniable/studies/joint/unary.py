"""Joint answers inside optimized unary encoding (OUE): two users answer every bit of their reports together.

In OUE a bit is truthful with probability 1/2 where it is the user's own, and t = E/(E+1) where it is not, so one
binary table cannot serve both. Each bit of a pair draws indicators from a table with truth probability t;
a user keeps the truth of the own bit only with a private coin of probability 1/(2t). Nobody has to know
whose bit is whose, all four marginals are OUE's, and the covariances of the reports follow from rho t (1-t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Keystream, KeystreamCoins, SystemKeystream, whole_numbers
from deniable.core import Coins, EpsilonLike, Pair, as_index
from deniable.errors import InvalidParameter
from deniable.studies.joint.accounting import Accounting, log
from deniable.studies.joint.arguments import check_colluders, check_ones, check_users
from deniable.studies.joint.parameters import published_pair
from deniable.studies.joint.sampling import draw_indicators
from deniable.studies.joint.secret_pairing import colluding_partner_bounds

MOST_OTHER_BITS = 64


@dataclass(frozen=True)
class UnaryPair:
    """Two users with one of k values each; `pair` is the table of one bit that is nobody's own.

    >>> joint = UnaryPair.published(100, 1)
    >>> joint.account(1000, 10).epsilon_marginal <= 1
    True
    """

    k: int
    pair: Pair

    def __post_init__(self) -> None:
        count = as_index(self.k)
        if count is None or not 2 <= count <= 1 << 16:
            raise InvalidParameter(f"k must be a whole number of values, 2 to {1 << 16}")
        if self.pair.truthful <= self.pair.lying:
            raise InvalidParameter("the bits of a unary report must be truthful more often than not")

    @classmethod
    def published(cls, k: int, epsilon: EpsilonLike) -> UnaryPair:
        """OUE at this epsilon with the strongest negative correlation: a known pairing protects nothing."""
        return cls(k, published_pair(epsilon))

    @property
    def keep(self) -> Fraction:
        """1/(2t): how often the truth of an own bit is kept."""
        return Fraction(self.pair.total, 2 * self.pair.truthful)

    def draw(self, first: int, second: int, coins: Coins) -> tuple[int, int]:
        """Both reports as integers whose binary digit v is the bit of value v."""
        reports = [0, 0]
        for bit in range(self.k):
            for user, (value, truthful) in enumerate(zip((first, second), self.pair.indicators(coins), strict=True)):
                kept = coins.below(2 * self.pair.truthful) < self.pair.total
                shown = truthful and kept if value == bit else not truthful
                reports[user] |= int(shown) << bit
        return reports[0], reports[1]

    def counts(self, values: Any, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """How often each bit is 1 when neighbours 0 and 1, 2 and 3, … answer together; an even number of users."""
        held = whole_numbers(values, "the values", self.k)
        check_users(len(held))
        stream = SystemKeystream() if keystream is None else keystream
        coins = KeystreamCoins(stream)
        kept = np.array([coins.below(2 * self.pair.truthful) < self.pair.total for _ in held])
        ones = np.empty(self.k, np.int64)
        for bit in range(self.k):
            truthful = np.empty(len(held), np.uint8)
            truthful[0::2], truthful[1::2] = draw_indicators(self.pair, len(held) // 2, stream)
            own = held == bit
            ones[bit] = np.count_nonzero(truthful[own] & kept[own]) + np.count_nonzero(truthful[~own] == 0)
        return ones

    def variance(self, n: int, count: int) -> float:
        """The variance of (I - n q) / (1/2 - q) for a value that `count` of n users hold.

        n_v/4 + (n - n_v) q (1-q) + rho (S**2 - Q) / (n-1), over (1/2 - q)**2, with S = n_v a - (n - n_v) b,
        Q = n_v a**2 + (n - n_v) b**2, a**2 = q/(4t), b**2 = q t.
        """
        check_users(n)
        held = check_ones(count, n, "count")
        t, q, rho = float(self.pair.truth), float(self.pair.lie), float(self.pair.correlation)
        a, b, rest = math.sqrt(q / t) / 2, math.sqrt(q * t), n - held
        together = rho * ((held * a - rest * b) ** 2 - held * a * a - rest * b * b) / (n - 1)
        return (held / 4 + rest * q * t + together) / (0.5 - q) ** 2

    def account(self, n: int, m: int) -> Accounting:
        """The privacy numbers. With k bits, the reports themselves tell who is paired with whom: likelihoods
        multiply over the bits. So a secret pairing is counted as a known one, which is always an upper bound;
        `epsilon_secret_pairing_at_least` is what one set of indicators and one report really give. For one colluder
        and k <= 66 both are the exact number.
        """
        seats = check_users(n)
        check_colluders(m, n)
        known = self._ratio((self.pair.given(True), self.pair.given(False)))
        marginal, at_least = self._ratio(((self.pair.truthful, self.pair.lying),)), self.secret_ratio_at_least(seats, m)
        exact = m == 0 or (m == 1 and self.k - 2 <= MOST_OTHER_BITS)
        partner, certain = Fraction(m, seats - 1), self.pair.lie * self.keep if self.pair.neither == 0 else Fraction(0)
        any_lie = 1 - float(self.pair.truth) ** self.k
        return Accounting(
            n=n,
            m=m,
            epsilon_marginal=log(marginal),
            epsilon_secret_pairing=log(at_least if exact else known),
            epsilon_secret_pairing_at_least=log(at_least),
            epsilon_known_pairing=log(known),
            exposed_fraction=float(partner * certain),
            weakened_fraction=float(partner) * any_lie if self.pair.correlation else 0.0,
            epsilon_printed=math.nan,
        )

    def secret_ratio_at_least(self, n: int, m: int) -> Fraction | None:
        """A ratio that m colluders who do not know the pairing can meet: a lower bound of the largest; None when unbounded.

        All of them hold the same indicators, or only one of them is listened to. The other bits of the report
        speak for a colluding partner as loudly as they can; that is the whole truth for one colluder and k <= 66.
        """
        worst = self._ratio(((self.pair.truthful, self.pair.lying),))
        crowds = {1, m} if self.pair.correlation <= 0 else {1}
        others, either = min(self.k - 2, MOST_OTHER_BITS), (True, False)
        for listened, mine, not_mine, rest in product(crowds if m else (), either, either, either):
            # Correlations <= 0: bits left out would only keep the colluders further apart.
            meeting = self._meeting(mine) * self._meeting(not_mine) * self._meeting(rest) ** others
            met = colluding_partner_bounds(n, listened, meeting)
            if met is None:
                continue  # the colluders cannot all hold these indicators
            truths = [Fraction(truth, truth + lie) for truth, lie in (self.pair.given(kind) for kind in (mine, not_mine, rest))]
            usual = [self.pair.truth] * 3
            loud = max(truths[2] / usual[2], (1 - truths[2]) / (1 - usual[2])) ** others
            known, unknown = met[0] * loud, 1 - met[0]
            for shown in product((0, 1), repeat=2):
                top, bottom = (
                    unknown * self._chance(usual[:2], shown, own) + known * self._chance(truths[:2], shown, own) for own in (0, 1)
                )
                if bottom == 0 < top:
                    return None
                worst = None if worst is None or bottom == 0 else max(worst, top / bottom)
        return worst

    def _meeting(self, truthful: bool) -> Fraction:
        """How likely two colluders who hold this indicator in one bit are paired, relative to chance."""
        both, alone = (self.pair.both, self.pair.truthful) if truthful else (self.pair.neither, self.pair.lying)
        return Fraction(both * self.pair.total, alone**2)

    def _chance(self, truths: list[Fraction], shown: tuple[int, ...], own: int) -> Fraction:
        """The probability of two bits, one of which (`own`) is the user's, from the chances of the truth in each."""
        ones = [truth * self.keep if place == own else 1 - truth for place, truth in enumerate(truths)]
        return math.prod((one if bit else 1 - one for one, bit in zip(ones, shown, strict=True)), start=Fraction(1))

    def _ratio(self, cases: tuple[tuple[int, int], ...]) -> Fraction | None:
        """Two values differ in two bits: the worst ratio of one times the worst of the other, over the cases of T."""
        up = down = Fraction(0)
        for truth, lie in cases:
            truthful = Fraction(truth, truth + lie)
            mine = truthful * self.keep, 1 - truthful * self.keep  # the own bit shows 1, shows 0
            not_mine = 1 - truthful, truthful
            for own, other in zip(mine, not_mine, strict=True):
                if own == 0 or other == 0:
                    return None
                up, down = max(up, own / other), max(down, other / own)
        return up * down
