"""Groups of three and more: exchangeable tables, told by how many of the group lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.core import Coins, Epsilon, EpsilonLike, as_index
from deniable.errors import InvalidParameter
from deniable.studies.joint.accounting import Accounting, log
from deniable.studies.joint.arguments import check_colluders, check_ones
from deniable.studies.joint.enumeration import most_colluders, secret_grouping_ratio

MOST_MEMBERS = 16
LIE_STEPS = 1 << 24
"""Lies are multiples of 2**-24, and so are mixtures: weights stay small enough to enumerate."""


@dataclass(frozen=True)
class Group:
    """`liars[l]` is the integer weight of exactly l liars; which of them lie is then uniformly random.

    >>> group = Group((1, 3, 0, 0))   # at most one of three lies
    >>> group.lie, group.correlation
    (Fraction(1, 4), Fraction(-1, 3))
    """

    liars: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 3 <= len(self.liars) <= MOST_MEMBERS + 1 or min(self.liars) < 0:
            raise InvalidParameter(f"a group has 2 to {MOST_MEMBERS} members and weights that are not negative")
        if self.total == 0 or not 0 < self.lie < 1:
            raise InvalidParameter("each member of a group must sometimes tell the truth and sometimes lie")

    @classmethod
    def mixed(cls, size: int, epsilon: EpsilonLike, strength: Fraction) -> Group:
        """Between independence (strength 0) and the least correlation there is (strength 1); p/q <= e**epsilon."""
        count = as_index(size)
        if count is None or not 2 <= count <= MOST_MEMBERS:
            raise InvalidParameter(f"size must be a whole number of members, 2 to {MOST_MEMBERS}")
        if not 0 <= strength <= 1:
            raise InvalidParameter("strength must lie between 0 and 1")
        lie = Fraction(math.ceil(LIE_STEPS / (1 + Epsilon(epsilon).bounds()[0])), LIE_STEPS)
        if 2 * lie >= 1:
            raise InvalidParameter("epsilon is too small for a group's table; use pairs")
        whole, part = divmod(count * lie, 1)
        law = [
            (1 - strength) * math.comb(count, number) * lie**number * (1 - lie) ** (count - number) for number in range(count + 1)
        ]
        # The least spread of the number of liars is the least correlation: only the two whole numbers around its mean.
        law[whole] += strength * (1 - part)
        if part:
            law[whole + 1] += strength * part
        scale = math.lcm(*(chance.denominator for chance in law))
        return cls(tuple(int(chance * scale) for chance in law))

    @classmethod
    def bounded(cls, size: int, epsilon: EpsilonLike, collusion: EpsilonLike) -> Group:
        """The strongest mixture that keeps `collusion` even when all other members are known."""
        alone, colluding = Epsilon(epsilon), Epsilon(collusion)
        if colluding < alone:
            raise InvalidParameter(f"epsilon_collusion must be at least epsilon = {alone}")
        low, high = 0, LIE_STEPS
        # Each ratio is monotone in the strength, so the allowed strengths are an interval that begins at 0.
        while low < high:
            middle = (low + high + 1) // 2
            ratio = cls.mixed(size, alone, Fraction(middle, LIE_STEPS)).known_ratio()
            low, high = (middle, high) if ratio is not None and colluding.allows(ratio) else (low, middle - 1)
        return cls.mixed(size, alone, Fraction(low, LIE_STEPS))

    @property
    def size(self) -> int:
        """g: how many members a group has."""
        return len(self.liars) - 1

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return sum(self.liars)

    @property
    def lie(self) -> Fraction:
        """q: how likely one member lies."""
        return Fraction(sum(number * weight for number, weight in enumerate(self.liars)), self.size * self.total)

    @property
    def truth(self) -> Fraction:
        """p = 1 - q."""
        return 1 - self.lie

    @property
    def correlation(self) -> Fraction:
        """rho of the indicators of any two members."""
        pairs = sum(number * (number - 1) * weight for number, weight in enumerate(self.liars))
        both = Fraction(pairs, self.size * (self.size - 1) * self.total)
        return (both - self.lie**2) / (self.lie * self.truth)

    def pattern(self, number: int) -> Fraction:
        """The probability of any one pattern with so many liars."""
        return Fraction(self.liars[number], self.total * math.comb(self.size, number))

    def indicators(self, coins: Coins) -> tuple[int, ...]:
        """Draw who tells the truth: first how many lie, then which."""
        drawn, number = coins.below(self.total), 0
        while drawn >= self.liars[number]:
            drawn -= self.liars[number]
            number += 1
        truthful = [1] * self.size
        places = list(range(self.size))
        for _ in range(number):
            truthful[places.pop(coins.below(len(places)))] = 0
        return tuple(truthful)

    def marginal_ratio(self) -> Fraction:
        """p/q: what one report alone tells about its user."""
        return self.truth / self.lie

    def known_ratio(self) -> Fraction | None:
        """The largest ratio when all other members' indicators are known; None when it is unbounded."""
        worst = Fraction(1)
        for number in range(self.size):
            truth, lie = self.pattern(number), self.pattern(number + 1)
            if truth == lie == 0:
                continue
            if truth == 0 or lie == 0:
                return None
            worst = max(worst, truth / lie, lie / truth)
        return worst

    def secret_ratio(self, n: int, m: int) -> Fraction | None:
        """The largest ratio when m of n users collude and do not know the grouping: exact, for at most 480/g colluders."""
        self._check_users(n)
        check_colluders(m, n)
        return secret_grouping_ratio([self.pattern(number) for number in range(self.size + 1)], n, m)

    def secret_bounds(self, n: int, m: int) -> tuple[Fraction | None, Fraction | None]:
        """The ratio for a secret grouping twice when it is known exactly; else a lower and an upper bound.

        Who knows more indicators can only learn more: fewer colluders give a lower bound, a known grouping an upper one.
        """
        low = self.secret_ratio(n, min(m, most_colluders(self.size)))
        return low, low if m <= most_colluders(self.size) else self.known_ratio()

    def account(self, n: int, m: int) -> Accounting:
        """All privacy numbers together; "known pairing" means that all other members are known.

        With more than 480/g colluders the number for a secret grouping is the one for a known grouping, an upper bound.
        """
        self._check_users(n)
        check_colluders(m, n)
        low, high = self.secret_bounds(n, m)
        exposed = weakened = Fraction(0)
        usual, others = self.marginal_ratio(), self.size - 1
        for known in range(1, others + 1):
            seated = Fraction(math.comb(m, known) * math.comb(n - 1 - m, others - known), math.comb(n - 1, others))
            for lied in range(known + 1):
                truth, lie = (self._seen(known, lied, mine) for mine in (0, 1))
                certain = (truth == 0) != (lie == 0)
                exposed += seated * (truth + lie) * certain
                weakened += seated * (truth + lie) * (certain or (truth > 0 and max(truth / lie, lie / truth) > usual))
        return Accounting(
            n=n,
            m=m,
            epsilon_marginal=log(usual),
            epsilon_secret_pairing=log(high),
            epsilon_secret_pairing_at_least=log(low),
            epsilon_known_pairing=log(self.known_ratio()),
            exposed_fraction=float(exposed),
            weakened_fraction=float(weakened),
            epsilon_printed=math.nan,
        )

    def _seen(self, known: int, lied: int, mine: int) -> Fraction:
        """The chance that `lied` of `known` other members lie and this one does (mine = 1) or does not (0)."""
        rest = self.size - 1 - known
        return math.comb(known, lied) * sum(
            (math.comb(rest, more) * self.pattern(lied + more + mine) for more in range(rest + 1)), Fraction(0)
        )

    def variance(self, n: int, ones: int) -> Fraction:
        """pq/(p-q)**2 (n + rho (g-1) ((2 ones - n)**2 - n) / (n-1))."""
        self._check_users(n)
        count = check_ones(ones, n)
        p, q = self.truth, self.lie
        if p <= q:
            raise InvalidParameter("p, the probability of telling the truth, must be above 1/2 for bits")
        shared = self.correlation * (self.size - 1) * ((2 * count - n) ** 2 - n) / (n - 1)
        return p * q / (p - q) ** 2 * (n + shared)

    def _check_users(self, n: object) -> None:
        users = as_index(n)
        if users is None or users < self.size or users % self.size:
            raise InvalidParameter(f"n must be a multiple of the group size {self.size}")


def least_correlation(size: int, lie: Fraction) -> Fraction:
    """The least correlation of any exchangeable table: (f (1-f) / (g p q) - 1) / (g-1), f the fraction part of g q.

    It is -q/p, as for pairs, while g q <= 1; the largest is always 1.

    >>> least_correlation(2, Fraction(1, 5)), least_correlation(4, Fraction(2, 5))
    (Fraction(-1, 4), Fraction(-1, 4))
    """
    part = size * lie % 1
    return (part * (1 - part) / (size * lie * (1 - lie)) - 1) / (size - 1)
