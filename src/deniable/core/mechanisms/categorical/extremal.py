"""Extremal mechanisms: answers that raise chosen sets of categories (Kairouz, Oh and Viswanath, 2014)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.channels.table import Table
from deniable.core.domains.base import Domain
from deniable.core.domains.categories import Categories
from deniable.core.exact.numbers import Number, as_fraction, as_index
from deniable.core.exact.weights import two_level_weights
from deniable.core.mechanisms.base import Mechanism
from deniable.errors import InvalidParameter

MOST_WEIGHTS = 1 << 20
IMBALANCE = Fraction(1, 10**6)


@dataclass(frozen=True, kw_only=True, repr=False)
class Extremal(Mechanism):
    """Each answer stands for a set of categories and is e**epsilon times as likely for those as for the others.

    Law: answer j weighs `low_j` for a category outside `patterns[j]` and `high_j = floor(low_j e**epsilon)`
    inside. `weights` are the relative `low_j`, equal when left out. Every category must lie in patterns of
    the same total weight, so that all rows sum to one total; where rounding leaves a row above the
    smallest sum, its raised entries are lowered by the difference, which stays between low and high.
    A partition with equal weights is randomized response between its blocks: singletons give k-RR, two
    blocks the binary mechanism. `deniable.planning.designs.extremal_design` finds the best patterns for a test.
    Guarantee: epsilon-LDP, exactly ln of the largest column ratio.
    Cost: one draw, log2(answers) bits on the wire; building takes categories times answers.
    Source: Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential privacy", 2014.

    >>> blocks = Extremal(domain=Categories(["a", "b", "c"]), epsilon=1, patterns=[[0], [1, 2]])
    >>> blocks.certificate().holds, blocks.decode(1)
    (True, ('b', 'c'))
    """

    domain: Categories = Categories(10)
    patterns: Sequence[Sequence[int]]
    weights: Sequence[Number] | None = None
    name: ClassVar[str] = "extremal"
    family: ClassVar[str] = "categorical"
    source: ClassVar[str] = "Kairouz, Oh, Viswanath 2014"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Categories,)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "patterns", _sets(self.patterns, self.domain.size))
        if self.weights is not None:
            object.__setattr__(self, "weights", _shares(self.weights, len(self.patterns)))
        raised = self._raised
        if max(raised) - min(raised) > IMBALANCE * max(raised):
            raise InvalidParameter(
                "patterns and weights must balance: the weights of the patterns that hold a category must add up "
                "to the same for every category"
            )

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The relative lower weights, exactly."""
        return (Fraction(1),) * len(self.patterns) if self.weights is None else tuple(Fraction(weight) for weight in self.weights)

    @cached_property
    def _raised(self) -> list[Fraction]:
        """For every category, the total weight of the patterns that hold it."""
        raised = [Fraction(0)] * self.domain.size
        for pattern, share in zip(self.patterns, self.shares, strict=True):
            for x in pattern:
                raised[x] += share
        return raised

    def build(self) -> Table:
        """Integer weights; every entry of column j lies between low_j and floor(low_j e**epsilon)."""
        unit, _ = two_level_weights(1, len(self.patterns), self.privacy)
        largest = max(self.shares)
        low = [max(round(share / largest * unit), 1) for share in self.shares]
        high = [self.privacy.floor(weight) for weight in low]
        rows = [list(low) for _ in range(self.domain.size)]
        for j, pattern in enumerate(self.patterns):
            for x in pattern:
                rows[x][j] = high[j]
        total = min(map(sum, rows))
        for row in rows:
            _lower(row, low, sum(row) - total)
        return Table(rows)

    def decode(self, output: int) -> tuple[int | str, ...]:
        """The categories that the answer stands for."""
        self.channel.check(0, output)
        return tuple(self.domain.decode(x) for x in self.patterns[output])

    def __repr__(self) -> str:
        if self.domain.size <= 8:
            return super().__repr__()
        return f"Extremal(domain={self.domain!r}, epsilon={self.privacy}, patterns=<{len(self.patterns)} sets>)"

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Two blocks, three blocks of names, overlapping sets, and uneven weights."""
        yield cls(domain=Categories(3), epsilon=1, patterns=[[0], [1, 2]])
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=2, patterns=[[0, 4], [1], [2, 3]])
        yield cls(domain=Categories(3), epsilon=0.5, patterns=[[0, 1], [0, 2], [1, 2]])
        yield cls(
            domain=Categories(4), epsilon=3, patterns=[[0], [1], [2, 3], [0, 1], [2], [3]], weights=[1, 1, 1, "1/3", "1/3", "1/3"]
        )


def _lower(row: list[int], low: list[int], excess: int) -> None:
    """Take `excess` off the raised entries, none below its column's low weight."""
    for j, floor in enumerate(low):
        taken = min(excess, row[j] - floor)
        row[j] -= taken
        excess -= taken
        if excess == 0:
            return


def _sets(patterns: Any, size: int) -> tuple[tuple[int, ...], ...]:
    rule = f"patterns must be a list of sets of categories, by their numbers 0 … {size - 1}"
    if isinstance(patterns, str) or not isinstance(patterns, Sequence) or len(patterns) < 2:
        raise InvalidParameter(f"{rule}, at least two")
    if len(patterns) * size > MOST_WEIGHTS:
        raise InvalidParameter(f"patterns: categories times patterns may be at most {MOST_WEIGHTS}")
    checked = []
    for pattern in patterns:
        if isinstance(pattern, str) or not isinstance(pattern, Sequence):
            raise InvalidParameter(rule)
        numbers = [as_index(x) for x in pattern]
        whole = sorted({x for x in numbers if x is not None and 0 <= x < size})
        if not whole or len(whole) != len(numbers) or len(whole) == size:
            raise InvalidParameter(f"{rule}, each once, neither none nor all of them")
        checked.append(tuple(whole))
    if len(set(checked)) != len(checked):
        raise InvalidParameter("patterns must differ from one another; add up the weights of equal ones")
    return tuple(checked)


def _shares(weights: Any, count: int) -> tuple[Fraction, ...]:
    if isinstance(weights, str) or not isinstance(weights, Sequence) or len(weights) != count:
        raise InvalidParameter(f"weights must have one positive number per pattern: {count}")
    exact = [as_fraction(weight) for weight in weights]
    positive = tuple(weight for weight in exact if weight is not None and weight > 0)
    if len(positive) != count or max(positive) > min(positive) * 10**9:
        raise InvalidParameter("weights must be positive numbers within a factor of 1e9 of one another")
    return positive
