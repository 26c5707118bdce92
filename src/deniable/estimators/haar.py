"""Haar wavelets over ordered categories: ranges, prefixes and quantiles from differences between neighbouring blocks.

Everyone reports one bit. A level of a binary tree and a row of a Hadamard matrix are drawn at random and public. The bit says
whether the value lies in the left or right child of its node, changed where the row is -1 at that node, and goes through randomized
response with the whole epsilon (Cormode, Kulkarni and Srivastava, 2019). No contrast is told by two levels, so the estimates agree
by themselves, and every coefficient has the same noise, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.batch import Floats, Integers, Keystream, Reports, SystemKeystream, randomize_many, uniform_below
from deniable.core import Categories, EpsilonLike, Mechanism, RandomizedResponse
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.law.support import support
from deniable.estimators.linear_law import on_unit_scale
from deniable.estimators.projections import simplex
from deniable.estimators.score_intervals import Moments, ScoreIntervals, ScoreQuestion, averaged
from deniable.estimators.walsh_hadamard import walsh_hadamard

MOST_LEVELS = 20


@dataclass(frozen=True)
class HaarHistogram:
    """Differences between the halves of blocks, one bit per report; categories are a power of two.

    Guarantee: epsilon-LDP, that of randomized response: level and row do not depend on the value.
    `shares` are the levels' parts of the people, the widest blocks first; the published ones are equal.

    >>> haar = HaarHistogram(Categories(16), epsilon=1)
    >>> haar.levels, haar.mechanisms[0].certificate().holds
    (4, True)
    """

    domain: Categories
    epsilon: EpsilonLike
    shares: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Categories) or self.domain.size < 2 or self.domain.size & (self.domain.size - 1):
            raise InvalidParameter("domain must be Categories whose number is a power of two; add categories that nobody has")
        if self.levels > MOST_LEVELS:
            raise InvalidParameter(f"domain may have at most 2**{MOST_LEVELS} categories")
        shares = (1,) * self.levels if self.shares is None else tuple(self.shares)
        if len(shares) != self.levels or any(isinstance(one, bool) or not isinstance(one, int) or one < 1 for one in shares):
            raise InvalidParameter(f"shares must be a whole number, at least 1, for each of the {self.levels} levels")
        object.__setattr__(self, "shares", shares)

    @property
    def levels(self) -> int:
        """How often the categories are halved."""
        return self.domain.size.bit_length() - 1

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """The one mechanism that speaks."""
        return (RandomizedResponse(epsilon=self.epsilon),)

    @property
    def parts(self) -> Floats:
        """The levels' shares of the people, adding up to 1."""
        assert self.shares is not None
        return np.array(self.shares, np.float64) / sum(self.shares)

    @cached_property
    def scale(self) -> float:
        """(E + 1)/(E - 1): what a reported sign counts, from the integers of randomized response."""
        law = support(self.mechanisms[0])
        return 1 / float(law.p - law.q)

    def randomize_many(self, values: Any, keystream: Keystream | None = None) -> HaarReports:
        """One bit of everyone, with the public level and row that it answers. Values are numbers of categories."""
        stream = SystemKeystream() if keystream is None else keystream
        whole = np.asarray(values)
        outside = whole.ndim != 1 or whole.dtype.kind not in "iu"
        if outside or (len(whole) and not 0 <= int(whole.min()) <= int(whole.max()) < self.domain.size):
            raise OutOfDomain(f"the values must be whole numbers from 0 to {self.domain.size - 1}")
        assert self.shares is not None
        # Drawn apart from the values: both are public and say nothing.
        level = np.searchsorted(np.cumsum(self.shares), uniform_below(sum(self.shares), len(whole), stream), side="right")
        row = uniform_below(1 << (self.levels - 1), len(whole), stream).astype(np.int64) & ((1 << level) - 1)
        child = whole.astype(np.int64) >> (self.levels - 1 - level)
        bit = (child & 1) ^ (np.bitwise_count((child >> 1) & row) & 1)
        return HaarReports(level, row, randomize_many(self.mechanisms[0], bit.astype(np.int64), stream))

    def accumulate(self, reports: HaarReports) -> HaarSums:
        """The signs that were reported, for every level and row."""
        signs, people = [], []
        reported = 1 - 2 * np.asarray(reports.bits.outputs, np.int64)
        for level in range(self.levels):
            mine = reports.level == level
            signs.append(np.bincount(reports.row[mine], weights=reported[mine], minlength=1 << level).astype(np.int64))
            people.append(int(mine.sum()))
        return HaarSums(self, tuple(signs), tuple(people))


@dataclass(frozen=True, eq=False)
class HaarReports:
    """A public level and row for everyone, and their randomised bits."""

    level: Integers
    row: Integers
    bits: Reports


@dataclass(frozen=True, eq=False)
class HaarSums:
    """For every level the sums of signs, one for each row, and how many people were asked."""

    haar: HaarHistogram
    signs: tuple[Integers, ...]
    people: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of reports."""
        return sum(self.people)

    def merge(self, other: HaarSums) -> HaarSums:
        """The sums of both."""
        signs = tuple(mine + theirs for mine, theirs in zip(self.signs, other.signs, strict=True))
        return HaarSums(self.haar, signs, tuple(mine + theirs for mine, theirs in zip(self.people, other.people, strict=True)))

    @cached_property
    def differences(self) -> list[Floats]:
        """For every level and node: the share of its left child less that of its right one, unbiased."""
        if not all(self.people):
            raise InvalidParameter("there are no reports to estimate from at some level; collect more")
        return [
            self.haar.scale * walsh_hadamard(signs.astype(np.float64)) / people
            for signs, people in zip(self.signs, self.people, strict=True)
        ]

    @cached_property
    def leaves(self) -> Floats:
        """The share of every category, unbiased; they add up to 1."""
        shares = np.ones(1)
        for difference in self.differences:
            shares = (np.stack([shares + difference, shares - difference], axis=1) / 2).reshape(-1)
        return shares

    def answers(self, questions: Any, *, target: Target = "these users") -> Estimate:
        """Unbiased answers to linear questions, one a row, one number for every category, with intervals that hold."""
        check_target(target)
        matrix = np.asarray(questions, np.float64)
        likely = simplex(self.leaves, 1.0)
        coefficients = [haar_coefficients(matrix, level, self.haar.levels) for level in range(self.haar.levels)]
        variance = np.zeros((len(matrix), len(matrix)))
        for level, (pull, people) in enumerate(zip(coefficients, self.people, strict=True)):
            halves = likely.reshape(1 << level, 2, -1).sum(axis=2)
            mean = halves[:, 0] - halves[:, 1]
            variance += (self.haar.scale**2 * pull @ pull.T - np.outer(pull @ mean, pull @ mean)) / people
        if target == "these users":
            # Who was asked at which level counts; which users there are does not.
            variance -= (matrix * likely @ matrix.T - np.outer(matrix @ likely, matrix @ likely)) / self.n
        asked, span, least = on_unit_scale(matrix)
        sure = tuple(
            ScoreQuestion(float(row @ self.leaves), row, likely, self._moments(row, target), min(self.people)) for row in asked
        )
        return Estimate(
            value=matrix @ self.leaves,
            covariance=variance,
            n=self.n,
            target=target,
            method=f"unbiased answers to {len(matrix)} linear questions by Haar wavelets",
            labels=range(len(matrix)),
            sure=ScoreIntervals(sure, span, offset=least),
        )

    def _moments(self, question: Floats, target: Target) -> Moments:
        scale, every = self.haar.scale, []
        for level, people in enumerate(self.people):
            pull = haar_coefficients(question[None], level, self.haar.levels)[0]
            read = walsh_hadamard(pull)  # what a sign counts, for every row
            third = walsh_hadamard(read**3) / len(read)
            sign = np.tile(np.repeat([1.0, -1.0], len(question) >> (level + 1)), 1 << level)
            mean = sign * np.repeat(pull, len(question) >> level)
            raw = scale**2 * float(pull @ pull), scale**2 * sign * np.repeat(third, len(question) >> level)
            second = raw[0] - mean**2
            every.append(averaged(mean, second, raw[1] - 3 * mean * second - mean**3, people, 1.0))

        def moments(shares: Floats) -> tuple[float, float]:
            each = [law(shares) for law in every]
            second, third = sum(one for one, _ in each), sum(one for _, one in each)
            if target == "these users":
                middle = float(shares @ question)
                second -= float(shares @ (question - middle) ** 2) / self.n
                third -= float(shares @ (question - middle) ** 3) / self.n**2
            return second, third

        return moments


def haar_coefficients(questions: Floats, level: int, levels: int) -> Floats:
    """How much every node's difference between its halves moves a question: a row for each.

    >>> haar_coefficients(np.array([[1.0, 0, 0, 0]]), 1, 2).tolist()
    [[0.5, 0.0]]
    """
    halves = questions.reshape(len(questions), 1 << level, 2, -1)
    return np.asarray((halves[:, :, 0] - halves[:, :, 1]).sum(axis=2) / (1 << (levels - level)))
