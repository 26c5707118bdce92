"""Subset selection: the report is a set of categories, which holds the true one more often than not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.core.channels.subsets import Subsets
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.categories import Categories
from deniable.core.exact.epsilon import Epsilon
from deniable.core.mechanisms.categorical_base import CategoricalMechanism
from deniable.errors import InvalidParameter

MOST_CATEGORIES = 1 << 16


@dataclass(frozen=True, kw_only=True, repr=False)
class SubsetSelection(CategoricalMechanism):
    """Answer with a set of w out of k categories, w close to k/(E+1), E = e**epsilon.

    Law: sets that hold the true category weigh `high`, the others `low`. Of the two sizes next to
    k/(E+1), w is the one with the least total variance over all categories.
    Guarantee: epsilon-LDP, exactly ln(high/low).
    Variance: the least possible in the worst case, asymptotically, at every epsilon.
    Cost: one draw of a k-bit integer, up to k bits on the wire. With w = 1 this is k-RR.
    Source: Ye and Barg, "Optimal schemes for discrete distribution estimation under locally differential
    privacy", 2018; Wang et al., "Mutual information optimally local private discrete distribution estimation", 2016.

    >>> SubsetSelection(domain=Categories(100), epsilon=1).chosen
    27
    """

    name: ClassVar[str] = "subset"
    source: ClassVar[str] = "Ye, Barg 2018; Wang et al. 2016"
    tasks: ClassVar[tuple[str, ...]] = ("frequency", "field")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.size > MOST_CATEGORIES:
            raise InvalidParameter(f"domain: a subset report takes at most {MOST_CATEGORIES} categories; use projective or olh")

    @cached_property
    def chosen(self) -> int:
        """How many categories a report names."""
        return best_subset_size(self.domain.size, self.privacy)

    def build(self) -> TwoLevel:
        """All subsets of the chosen size, those with the true category favoured."""
        return TwoLevel.at(Subsets(self.domain.size, self.chosen), self.privacy)

    def decode(self, output: int) -> list[int | str]:
        """The categories in the reported set."""
        self.channel.check(0, output)
        if output.bit_count() != self.chosen:
            raise InvalidParameter(f"a report of {self.name} names exactly {self.chosen} categories")
        return [self.domain.decode(value) for value in range(self.domain.size) if output >> value & 1]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two, a few and more categories."""
        yield cls(domain=Categories(2), epsilon=0.5)
        yield cls(domain=Categories(["a", "b", "c", "d", "e", "f"]), epsilon=0.5)
        yield cls(domain=Categories(60), epsilon=2)


def total_variance(size: int, chosen: int, odds: Fraction) -> Fraction:
    """The variances of all k estimated counts, summed, per user: the same whatever the users' data are."""
    mass = chosen * odds + size - chosen
    truth = chosen * odds / mass
    # The other chosen - truth places are shared evenly by the other categories.
    chance = (chosen - truth) / (size - 1)
    return size * chance * (1 - chance) / (truth - chance) ** 2 + (1 - truth - chance) / (truth - chance)


def best_subset_size(size: int, epsilon: Epsilon) -> int:
    """The subset size next to k/(E+1) with the least total variance; at least 1, fewer than k."""
    odds = epsilon.bounds()[0]
    ideal = size / (odds + 1)
    below = min(max(ideal.numerator // ideal.denominator, 1), size - 1)
    return min((below, min(below + 1, size - 1)), key=lambda chosen: total_variance(size, chosen, odds))
