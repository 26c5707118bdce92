"""Two users who answer together: one table for who of them tells the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.core.channels.base import Channel
from deniable.core.exact.numbers import Number, as_fraction, show_fraction
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

WORD = 64
"""Rounded tables add up to 2**64: one random word draws a pair, and so do two words added by two parties."""


@dataclass(frozen=True)
class Pair(Channel):
    """Integer weights of the truth indicators (T1, T2) of two users with one bit each.

    `both` tell the truth, only the first or only the second does (`one` each), or `neither`. Each user
    alone tells the truth with probability p = (both + one) / total; the indicators have correlation rho.
    As a channel, input and output are 2 * first bit + second bit. `max_ratio` is that of the pair as a
    whole; the privacy of one user is the subject of deniable.studies.joint.

    >>> table = Pair.exactly("4/5", "-1/4")   # example 3 of the published chapter
    >>> (table.both, table.one, table.neither), table.truth, table.correlation
    ((3, 1, 0), Fraction(4, 5), Fraction(-1, 4))
    """

    both: int
    one: int
    neither: int

    inputs = 4
    outputs = 4

    def __post_init__(self) -> None:
        if min(self.both, self.one, self.neither) < 0:
            raise InvalidParameter("the weights of a pair cannot be negative")
        if self.truthful == 0 or self.lying == 0:
            raise InvalidParameter("each user of a pair must sometimes tell the truth and sometimes lie")

    @classmethod
    def exactly(cls, truth: Number, correlation: Number) -> Pair:
        """The table of rational p and rho, without any rounding: p**2 + rho p q, (1 - rho) p q twice, q**2 + rho p q."""
        cells = pair_chances(truth, correlation)
        scale = math.lcm(*(cell.denominator for cell in cells))
        both, one, neither = (int(cell * scale) for cell in cells)
        common = math.gcd(both, one, neither)
        return cls(both // common, one // common, neither // common)

    @classmethod
    def rounded(cls, truth: Number, correlation: Number) -> Pair:
        """The same with weights that add up to 2**64; rounded so that p and the size of rho never grow."""
        chances = pair_chances(truth, correlation)
        total, lie = 1 << WORD, chances[1] + chances[2]
        lying = math.ceil(lie * total)
        share = chances[2] / lie * lying
        neither = math.ceil(share) if chances[2] < lie * lie else math.floor(share)
        return cls(total - 2 * lying + neither, lying - neither, neither)

    @classmethod
    def independent(cls, truthful: int, lying: int) -> Pair:
        """Two users who have nothing to do with each other: plain randomized response."""
        return cls(truthful * truthful, truthful * lying, lying * lying)

    @property
    def total(self) -> int:
        return self.both + 2 * self.one + self.neither

    @property
    def truthful(self) -> int:
        """The weight of one user telling the truth."""
        return self.both + self.one

    @property
    def lying(self) -> int:
        """The weight of one user lying."""
        return self.one + self.neither

    @property
    def truth(self) -> Fraction:
        """p: how likely one user tells the truth."""
        return Fraction(self.truthful, self.total)

    @property
    def lie(self) -> Fraction:
        """q = 1 - p."""
        return Fraction(self.lying, self.total)

    @property
    def correlation(self) -> Fraction:
        """rho: the correlation of T1 and T2, exactly."""
        return Fraction(self.both * self.neither - self.one * self.one, self.truthful * self.lying)

    @property
    def thresholds(self) -> tuple[int, int, int]:
        """R1, R2, R3: a uniform integer R below the total gives T1 = [R < R2], T2 = [R < R1] + [R < R3] - [R < R2]."""
        return self.both, self.both + self.one, self.both + 2 * self.one

    def given(self, partner_truthful: bool) -> tuple[int, int]:
        """Weights of one user's truth and lie when the partner's indicator is known."""
        return (self.both, self.one) if partner_truthful else (self.one, self.neither)

    def indicators(self, coins: Coins) -> tuple[int, int]:
        """Draw (T1, T2): one uniform integer below the total."""
        drawn = coins.below(self.total)
        both, first, second = self.thresholds
        return int(drawn < first), int(drawn < both or first <= drawn < second)

    def draw(self, index: int, coins: Coins) -> int:
        """Both reports; each bit is turned over where its user lies."""
        first, second = self.indicators(coins)
        return index ^ (2 * (1 - first) + (1 - second))

    def weight(self, index: int, output: int) -> int:
        """By how many of the two bits differ."""
        return (self.both, self.one, self.one, self.neither)[index ^ output]

    def max_ratio(self) -> Fraction | None:
        """The largest over the smallest weight: every output meets all four."""
        least = min(self.both, self.one, self.neither)
        return None if least == 0 else Fraction(max(self.both, self.one, self.neither), least)

    def compiled(self) -> dict[str, Any]:
        return {"kind": "pair", "both": self.both, "one": self.one, "neither": self.neither}


def pair_chances(truth: Number, correlation: Number) -> tuple[Fraction, Fraction, Fraction]:
    """Probabilities of both truthful, of one given user lying, and of both lying; refused when they do not exist."""
    p, rho = as_fraction(truth), as_fraction(correlation)
    if p is None or not 0 < p < 1:
        raise InvalidParameter("p, the probability of telling the truth, must lie between 0 and 1, both excluded")
    low = correlation_floor(p)
    if rho is None or not low <= rho <= 1:
        raise InvalidParameter(
            f"rho, the correlation of a pair at p={show_fraction(p)}, must lie between {float(low):.6g} and 1: "
            "outside, a probability would be negative"
        )
    q = 1 - p
    return p * p + rho * p * q, (1 - rho) * p * q, q * q + rho * p * q


def correlation_floor(truth: Fraction) -> Fraction:
    """The least correlation two indicators of this probability can have: 1 - 1/p when p >= 1/2."""
    return -min(truth / (1 - truth), (1 - truth) / truth)
