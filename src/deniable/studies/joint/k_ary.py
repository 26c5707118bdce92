"""Joint k-ary randomized response: a pair's table decides who lies, a liar picks one of the k - 1 other answers.

The published table has p**2 + rho p q for two truths, pq - rho pq/(k-1) for one lie and q**2 + rho pq/(k-1)**2
for two, per pair of answers, with p + (k-1) q = 1. The marginals are right, but the correlation of the truth
indicators is rho / (k-1), not rho; the table exists for max(-p/q, -(k-1)**2 q/p) <= rho <= k-1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Keystream, SystemKeystream, unframed, uniform_below, whole_numbers
from deniable.core import WORD, Epsilon, EpsilonLike, Number, Pair, as_fraction, as_index, correlation_floor
from deniable.errors import InvalidParameter
from deniable.estimators import Estimate, ScoreIntervals, ScoreQuestion
from deniable.studies.joint.accounting import Accounting, account
from deniable.studies.joint.arguments import check_ones, check_users
from deniable.studies.joint.sampling import draw_indicators


@dataclass(frozen=True)
class KaryPair:
    """A pair of users with one of k values each.

    >>> pair = KaryPair.bounded(4, 1, 2)
    >>> account_for = pair.account(1000, 10)
    >>> account_for.epsilon_marginal <= 1, account_for.epsilon_known_pairing <= 2
    (True, True)
    """

    k: int
    pair: Pair

    def __post_init__(self) -> None:
        check_values(self.k)

    @classmethod
    def at(cls, k: int, epsilon: EpsilonLike, rho: Number) -> KaryPair:
        """The published table with this rho, p = E/(E+k-1); the indicators' correlation is rho/(k-1)."""
        p = _truth(check_values(k), Epsilon(epsilon))
        wanted = as_fraction(rho)
        low, high = feasible_rho(k, p)
        if wanted is None or not low <= wanted <= high:
            raise InvalidParameter(
                f"rho must lie between {float(low):.6g} and {float(high):.6g} for k={k}: outside, a probability would be negative"
            )
        return cls(k, Pair.rounded(p, wanted / (k - 1)))

    @classmethod
    def bounded(cls, k: int, epsilon: EpsilonLike, collusion: EpsilonLike) -> KaryPair:
        """The strongest negative correlation that keeps `collusion` against whoever knows the partner's indicator."""
        alone, colluding = Epsilon(epsilon), Epsilon(collusion)
        if colluding < alone:
            raise InvalidParameter(f"epsilon_collusion must be at least epsilon = {alone}")
        total, odds, others = 1 << WORD, colluding.bounds()[0], check_values(k) - 1
        lying = math.ceil((1 - _truth(k, alone)) * total)
        truthful = total - lying
        # Given a lie: one (k-1) <= odds * neither. Given the truth: one <= odds (k-1) both, both = truthful - lying + neither.
        after_lie = lying * others / (odds + others)
        after_truth = (lying - odds * others * (truthful - lying)) / (1 + odds * others)
        neither = math.ceil(max(after_lie, after_truth, Fraction(0)))
        independent = Fraction(lying * lying, total)
        if neither >= independent:
            return cls(k, Pair.exactly(Fraction(truthful, total), 0))
        return cls(k, Pair(truthful - lying + neither, lying - neither, neither))

    @property
    def truth(self) -> Fraction:
        """p: the probability of the true value."""
        return self.pair.truth

    @property
    def other(self) -> Fraction:
        """q: the probability of each other value."""
        return self.pair.lie / (self.k - 1)

    @property
    def rho(self) -> Fraction:
        """The published parameter: k - 1 times the correlation."""
        return self.pair.correlation * (self.k - 1)

    def account(self, n: int, m: int, *, leftover: bool = False) -> Accounting:
        """All privacy numbers; a lie is spread over k - 1 answers."""
        return account(self.pair, n, m, leftover=leftover, wrong_answers=self.k - 1)

    def variance(self, n: int, count: int, *, leftover: bool = False) -> Fraction:
        """The variance of the estimated count of a value that `count` of n users hold."""
        seats, held = check_users(n, leftover), check_ones(count, n, "count")
        p, q, others = self.truth, self.other, self.k - 1
        rest = n - held
        signed, squared = held - Fraction(rest, others), held + Fraction(rest, others**2)
        together = self.rho * p * q * (signed**2 - squared) / (seats - 1)
        return (held * p * (1 - p) + rest * q * (1 - q) + together) / (p - q) ** 2

    def answer(self, values: Any, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """Reports of neighbours 0 and 1, 2 and 3, …; pair the users at random first."""
        held = np.ascontiguousarray(whole_numbers(values, "the values", self.k), np.int64)
        stream = SystemKeystream() if keystream is None else keystream
        truthful = np.empty(len(held) + len(held) % 2, np.uint8)
        truthful[0::2], truthful[1::2] = draw_indicators(self.pair, len(truthful) // 2, stream)
        shift = 1 + uniform_below(self.k - 1, len(held), stream)
        return np.asarray(np.where(truthful[: len(held)] == 1, held, (held + shift) % self.k))

    def estimate(self, counts: Any, *, leftover: bool = False) -> Estimate:
        """Unbiased counts (I - n q) / (p - q) from how often each value was reported; variances at the estimates."""
        reported = np.asarray(unframed(counts), np.int64)
        if reported.shape != (self.k,) or reported.min() < 0:
            raise InvalidParameter("counts must have one non-negative whole number per value")
        n = int(reported.sum())
        p, q = float(self.truth), float(self.other)
        unbiased = (reported - n * q) / (p - q)
        held = [min(max(round(value), 0), n) for value in unbiased.tolist()]
        return Estimate(
            value=np.asarray(unbiased, np.float64),
            variance=np.array([float(self.variance(n, count, leftover=leftover)) for count in held]),
            n=n,
            target="these users",
            method="joint k-ary randomized response, unbiased",
            labels=tuple(range(self.k)),
            total=float(n),
            bounds=(0.0, float(n)),
            sure=self._intervals(unbiased / n, n, leftover) if n else None,
        )

    def _intervals(self, value: NDArray[np.float64], n: int, leftover: bool) -> ScoreIntervals:
        p, q = float(self.truth), float(self.other)

        def moments(shares: NDArray[np.float64]) -> tuple[float, float]:
            held = min(max(round(float(shares[0]) * n), 0), n)
            # The third moment is that of independent answers.
            third = (held * p * (1 - p) * (1 - 2 * p) + (n - held) * q * (1 - q) * (1 - 2 * q)) / (p - q) ** 3 / n**3
            return float(self.variance(n, held, leftover=leftover)) / n**2, third

        shares = np.clip(value, 0.0, 1.0).tolist()
        one, step = np.array([1.0, 0.0]), 1 / (n * (p - q))
        questions = zip(value.tolist(), shares, strict=True)
        return ScoreIntervals(
            tuple(ScoreQuestion(seen, one, np.array([own, 1 - own]), moments, n, step) for seen, own in questions), float(n)
        )


def check_values(k: object) -> int:
    """At least two values, at most 2**20."""
    count = as_index(k)
    if count is None or not 2 <= count <= 1 << 20:
        raise InvalidParameter(f"k must be a whole number of values, 2 to {1 << 20}")
    return count


def _truth(k: int, epsilon: Epsilon) -> Fraction:
    lower = epsilon.bounds()[0]
    return lower / (lower + k - 1)


def feasible_rho(k: int, truth: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the largest rho for which all probabilities exist.

    >>> feasible_rho(2, Fraction(4, 5))
    (Fraction(-1, 4), Fraction(1, 1))
    """
    return (k - 1) * correlation_floor(truth), Fraction(k - 1)
