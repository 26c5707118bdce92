"""A set system nobody here knows: once it says its overlap, counts, their covariance and exact intervals follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import pytest

from deniable.batch import accumulator_for
from deniable.core import Categories, Mechanism, Report, SetSystem, TwoLevel
from deniable.errors import NotSupported
from deniable.estimators import shares, support, support_counts, support_law

K = 5


@dataclass(frozen=True)
class AllButOne(SetSystem):
    """S_x holds every value but x."""

    size: int

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.size

    @property
    def members(self) -> int:
        return self.size - 1

    def contains(self, index: int, output: int) -> bool:
        return index != output

    def inside(self, index: int, j: int) -> int:
        return (index + 1 + j) % self.size

    def outside(self, index: int, j: int) -> int:
        return index

    def overlap(self) -> Fraction | None:
        return Fraction(self.size - 2)

    def triple_overlap(self) -> Fraction:
        return Fraction(self.size - 3)

    def compiled(self) -> dict[str, Any]:
        return {"set": "all-but-one", "size": self.size}


class Silent(AllButOne):
    """The same, but it does not say what two sets share."""

    def overlap(self) -> None:
        return None


@dataclass(frozen=True, kw_only=True, repr=False)
class Avoiding(Mechanism):
    """Any value but the true one, more often than not."""

    domain: Categories = Categories(K)
    name: ClassVar[str] = "avoiding"

    def build(self) -> TwoLevel:
        return TwoLevel.at(AllButOne(self.domain.size), self.privacy)

    def decode(self, output: int) -> int | str:
        return self.domain.decode(output)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(epsilon=2)


MECHANISM = Avoiding(epsilon=2)
SEEN = [0] * 5 + [1] * 9 + [2] * 21 + [3] * 19 + [4] * 26
REPORTS = [Report(MECHANISM.fingerprint, output) for output in SEEN]


def supported(value: int, x: int) -> Fraction:
    """How likely a report of x supports the value, from the weights."""
    channel = MECHANISM.channel
    return Fraction(sum(channel.weight(x, y) for y in range(K) if y != value), channel.total)


def test_p_and_q_are_those_of_the_weights() -> None:
    law = support(MECHANISM)
    assert {supported(value, value) for value in range(K)} == {law.p}
    assert {supported(value, x) for value in range(K) for x in range(K) if x != value} == {law.q}


def test_counts_and_exact_intervals_follow() -> None:
    sums = accumulator_for(MECHANISM).add(REPORTS)
    counts = support_counts(sums)
    assert counts.tolist() == [len(SEEN) - SEEN.count(value) for value in range(K)]
    estimate = shares(sums)
    law = support(MECHANISM)
    assert estimate.value == pytest.approx((counts / len(SEEN) - float(law.q)) / float(law.p - law.q))
    assert estimate.small_sample is not None
    low, high = estimate.small_sample.interval(0.95)
    assert ((low <= np.clip(estimate.value, 0, 1)) & (np.clip(estimate.value, 0, 1) <= high)).all()


def test_the_covariance_is_that_of_the_weights() -> None:
    people = np.array([3.0, 0.0, 5.0, 1.0, 2.0])
    expected = np.zeros((K, K))
    channel = MECHANISM.channel
    for x, count in enumerate(people):
        law = np.array([channel.weight(x, y) / channel.total for y in range(K)])
        member = 1.0 - np.eye(K)  # row v: which outputs S_v holds
        mean = member @ law
        expected += count * ((member * law) @ member.T - np.outer(mean, mean))
    assert support_law(MECHANISM).covariance(people) == pytest.approx(expected)


def test_sets_that_do_not_say_their_overlap_are_refused() -> None:
    class Other(Avoiding):
        def build(self) -> TwoLevel:
            return TwoLevel.at(Silent(self.domain.size), self.privacy)

    with pytest.raises(NotSupported, match="no p and q"):
        support(Other(epsilon=2))
