"""Utility-optimised RAPPOR: bits for sensitive categories, the plain category for the others (Murakami and Kawamoto, 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

from deniable.core.channels.table import Table, level_rows
from deniable.core.domains.categories import Categories
from deniable.core.exact.exponential import exp_bounds
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.categorical._sensitive import SensitiveMechanism
from deniable.core.mechanisms.categorical._unary import truthful_weight
from deniable.errors import InvalidParameter

SCALE = 1 << 40
TOTAL_BITS = 100
MOST_SENSITIVE = 10
MOST_WEIGHTS = 1 << 20
SHRINKS = tuple(Fraction(1, 1 << bits) for bits in (60, 50, 40, 30, 20))


@dataclass(frozen=True, kw_only=True, repr=False)
class UtilityOptimizedRappor(SensitiveMechanism):
    """One noisy bit for every sensitive category; any other category is revealed with some probability.

    Law: with t = `truth` and E = e**epsilon the bit of the true sensitive category is 1 with probability t, any other with
    d = t / ((1 - t) E + t). A category that is not sensitive is named with probability 1 - ((1 - t) E + t) / E beside the bits, and
    left out otherwise. Output: the bits as a number, plus 2**s times the place of the category that is named, counted from 1.
    `truth` is e**(epsilon/2) / (e**(epsilon/2) + 1) when left out, as published; 1/2 makes the bits those of OUE.
    Guarantee: P(y | x) <= e**epsilon P(y | x') for every sensitive x and any x'. NOT epsilon-LDP for all pairs.
    Cost: one draw; the table lists every output, so at most 10 categories may be sensitive.
    Source: Murakami and Kawamoto, "Utility-optimized local differential privacy mechanisms for distribution estimation", 2019.

    >>> UtilityOptimizedRappor(domain=Categories(4), epsilon=1, sensitive=[0, 1]).certificate().holds
    True
    """

    truth: Number | None = None
    name: ClassVar[str] = "urap"
    source: ClassVar[str] = "Murakami, Kawamoto 2019"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sensitive) > MOST_SENSITIVE or self._outputs * self.domain.size > MOST_WEIGHTS:
            raise InvalidParameter(
                f"sensitive: every output is listed, so at most {MOST_SENSITIVE} categories, and fewer of very many; use urr"
            )
        if self.truth is not None:
            share = as_fraction(self.truth)
            if share is None or not 0 < share < 1 or (share * SCALE).denominator != 1:
                raise InvalidParameter("truth must lie between 0 and 1 and be a multiple of 2**-40, for example 0.5")
            object.__setattr__(self, "truth", share)

    @property
    def _outputs(self) -> int:
        return (1 << len(self.sensitive)) * (1 + len(self.others))

    def build(self) -> Table:
        """The products of all bits' chances, brought to one total; a hair is taken off epsilon where rounding needs it."""
        for shrink in SHRINKS:
            table = self._table(self.privacy.exact * (1 - shrink))
            if self.promise.holds(table):
                return table
        raise InvalidParameter("epsilon is too large or too small for the weights of urap")

    def _table(self, exponent: Fraction) -> Table:
        # Rounded toward privacy: a smaller e**epsilon, other bits and silence likelier.
        raised = exp_bounds(exponent)[0]
        own = truthful_weight(SCALE, exponent / 2) if self.truth is None else int(Fraction(self.truth) * SCALE)
        truth = Fraction(own, SCALE)
        spread = (1 - truth) * raised + truth
        other, silent = ceil(truth / spread * SCALE), ceil(spread / raised * SCALE)
        rows = []
        for x in range(self.domain.size):
            place = self.sensitive.index(x) if x in self.sensitive else None
            bits = [self._bits(pattern, place, own, other) for pattern in range(1 << len(self.sensitive))]
            row = [weight * (SCALE if place is not None else silent) for weight in bits]
            for value in self.others:
                row += [weight * (SCALE - silent) for weight in bits] if value == x else [0] * len(bits)
            rows.append(row)
        return level_rows(rows, 1 << TOTAL_BITS)

    def _bits(self, pattern: int, place: int | None, own: int, other: int) -> int:
        weight = 1
        for bit in range(len(self.sensitive)):
            chance = own if bit == place else other
            weight *= chance if pattern >> bit & 1 else SCALE - chance
        return weight

    def decode(self, output: int) -> list[int | str]:
        """The categories that the report names: sensitive ones whose bit is 1, and the other one that is shown."""
        self.channel.check(0, output)
        named, pattern = divmod(output, 1 << len(self.sensitive))
        values = [x for bit, x in enumerate(self.sensitive) if pattern >> bit & 1]
        return [self.domain.decode(x) for x in [*values, *([self.others[named - 1]] if named else [])]]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """One sensitive category of three, two of five with names and fair bits, four of ten."""
        yield cls(domain=Categories(3), epsilon=1, sensitive=[0])
        yield cls(domain=Categories(["a", "b", "c", "d", "e"]), epsilon=0.5, sensitive=[1, 3], truth="1/2")
        yield cls(domain=Categories(10), epsilon=3, sensitive=[0, 2, 4, 6])
