"""The law of the two truth indicators as three thresholds below 2**64: what the circuit compares with."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.core import SYSTEM, Coins, Number, Pair, as_fraction
from deniable.errors import InvalidParameter

BITS = 64
TOTAL = 2**BITS


@dataclass(frozen=True)
class Thresholds:
    """Where a uniform R below 2**64 falls decides both indicators, over half-open intervals.

    R < first: both tell the truth; below second: only user 1; below third: only user 2; else both lie.
    Floors in all three: neither user tells the truth more often than p says.
    """

    first: int
    second: int
    third: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.second <= self.third <= TOTAL or not 0 < self.second < TOTAL:
            raise InvalidParameter("thresholds must rise from 0 to 2**64, and the second must leave both answers possible")

    @classmethod
    def of(cls, p: Number, rho: Number) -> Thresholds:
        """The thresholds of truth probability p and correlation rho.

        >>> Thresholds.of("4/5", "-1/4").first
        11068046444225730969
        """
        truth, correlation = as_fraction(p), as_fraction(rho)
        if truth is None or not Fraction(1, 2) <= truth < 1:
            raise InvalidParameter("p must lie in [1/2, 1)")
        if correlation is None or not 1 - 1 / truth <= correlation <= 1:
            raise InvalidParameter("rho must lie in [1 - 1/p, 1]")
        lie = 1 - truth
        both = (truth * truth + correlation * truth * lie) * TOTAL
        one = (1 - correlation) * truth * lie * TOTAL
        first, step = both.numerator // both.denominator, one.numerator // one.denominator
        return cls(first, first + step, first + 2 * step)

    @classmethod
    def of_table(cls, table: Pair) -> Thresholds:
        """The thresholds of a pair's table, whose weights must add up to 2**64."""
        if table.total != TOTAL:
            raise InvalidParameter("the weights of the table must add up to 2**64; see Pair.rounded and bounded_pair")
        return cls(*table.thresholds)

    @property
    def table(self) -> Pair:
        """The same law as a channel, if both users are alike."""
        both, one, other, neither = self.weights
        if one != other:
            raise InvalidParameter("thresholds must give both users the same chance of lying")
        return Pair(both, one, neither)

    @property
    def weights(self) -> tuple[int, int, int, int]:
        """Of 2**64: both true, only user 1, only user 2, neither."""
        return self.first, self.second - self.first, self.third - self.second, TOTAL - self.third

    @property
    def truth_weight(self) -> int:
        """Of 2**64: how often one user tells the truth. Equal for both when made by `of`."""
        return self.second

    @property
    def marginal_ratio(self) -> Fraction:
        """e**epsilon for whoever sees one report only."""
        return max(_ratio(mine, TOTAL - mine) for mine in (self.second, self.first + self.third - self.second))

    @property
    def known_pairing_ratio(self) -> Fraction | None:
        """e**epsilon for whoever also knows the partner's indicator; None when there is no bound."""
        both, one, two, none = self.weights
        cells = [(both, two), (one, none), (both, one), (two, none)]
        if any((high == 0) != (low == 0) for high, low in cells):
            return None
        return max(_ratio(high, low) for high, low in cells if high)

    def indicators(self, uniform: int) -> tuple[bool, bool]:
        """(T1, T2) in the clear; the garbled circuit computes the same."""
        second = uniform < self.second
        return second, bool((uniform < self.first) + (uniform < self.third) - second)

    def alone(self, coins: Coins = SYSTEM) -> bool:
        """Whether a user without a partner tells the truth: plain randomized response, the same marginal."""
        return coins.below(TOTAL) < self.truth_weight

    def to_bytes(self) -> bytes:
        """27 bytes, nine for each threshold."""
        return b"".join(value.to_bytes(9, "big") for value in (self.first, self.second, self.third))


def _ratio(one: int, other: int) -> Fraction:
    return Fraction(max(one, other), min(one, other))
