"""Nearest code words: a vector as one word of a randomly rotated code book."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from deniable.core.channels.nearest_codes import (
    LEAST_WIDTH_BITS,
    MOST_CODE_BITS,
    MOST_WIDTH_BITS,
    NearestCodeSets,
)
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.ball import Ball
from deniable.core.domains.base import Domain
from deniable.core.exact.numbers import as_index
from deniable.core.mechanisms.base import Mechanism
from deniable.core.mechanisms.vectors._code_law import CodeLaw, best_nearest, code_law, limit_error
from deniable.errors import InvalidParameter

ENOUGH = 1.02
"""The fewest words are taken whose error is within 2 % of the limit for ever more words."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NearestCodes(Mechanism):
    """Answer with a word of a randomly rotated public code book, more often one of those nearest to the vector.

    Law: every seed of 16 bytes is equally likely and gives `codes` words on the sphere; the `nearest` ones nearest to the vector
    weigh `high`, the others `low`. Both numbers are chosen for the least error unless they are given; `codes` is a power of two.
    Guarantee: epsilon-LDP, exactly ln(high/low), whatever the rotation does.
    Error: the sent word over a public constant is unbiased for a uniform rotation; its squared distance from the vector tends
    to that of the best PrivUnit, radius**2 * dimension * min over q of ((qE + 1 - q)/((E - 1) phi(z_q)))**2, E = e**epsilon.
    Cost: one draw and 3 or more transforms in up to 8192 dimensions; 128 + log2(codes) bits on the wire.
    Source: Isik, Chen, Ozgur, Weissman and No, "Exact optimality of communication-privacy-utility tradeoffs in distributed mean
    estimation", 2023; Asi, Feldman and Talwar, "Optimal algorithms for mean estimation under local differential privacy", 2022.

    >>> mechanism = NearestCodes(domain=Ball(512), epsilon=4)
    >>> mechanism.codes, mechanism.nearest, mechanism.certificate().holds
    (128, 9, True)
    """

    domain: Ball
    codes: int | None = None
    nearest: int | None = None

    name: ClassVar[str] = "nearest-codes"
    family: ClassVar[str] = "vectors"
    source: ClassVar[str] = "Isik et al. 2023; Asi, Feldman, Talwar 2022"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Ball,)
    tasks: ClassVar[tuple[str, ...]] = ("vector",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.codes is None:
            object.__setattr__(self, "codes", self._fewest_codes())
        codes = as_index(self.codes)
        if codes is None or codes.bit_count() != 1 or not 2 <= codes <= 1 << MOST_CODE_BITS:
            raise InvalidParameter(f"codes must be a power of two from 2 to {1 << MOST_CODE_BITS}")
        if self.nearest is None:
            object.__setattr__(self, "nearest", best_nearest(self.width, codes, self._odds))
        nearest = as_index(self.nearest)
        if nearest is None or not 1 <= nearest <= codes // 2:
            raise InvalidParameter(f"nearest must be a whole number from 1 to {codes // 2}, half of the code words")

    @cached_property
    def width(self) -> int:
        """The dimension that is rotated: a power of two, at least as large as the vector's up to 8192."""
        bits = (self.domain.dimension - 1).bit_length()
        return 1 << min(max(bits, LEAST_WIDTH_BITS), MOST_WIDTH_BITS)

    @property
    def _odds(self) -> float:
        return math.exp(float(self.privacy))

    def _fewest_codes(self) -> int:
        enough = ENOUGH * limit_error(self._odds)[0] * self.width
        for bits in range(3, MOST_CODE_BITS):
            law = code_law(self.width, 1 << bits, best_nearest(self.width, 1 << bits, self._odds), self._odds)
            if law.error(self.width) <= enough:
                return 1 << bits
        return 1 << MOST_CODE_BITS

    if TYPE_CHECKING:  # what `build` gives

        @cached_property
        def channel(self) -> TwoLevel:
            """The channel, built once."""

    @cached_property
    def sets(self) -> NearestCodeSets:
        """The code book of every seed."""
        assert self.codes is not None
        assert self.nearest is not None
        return NearestCodeSets(self.domain.dimension, self.width.bit_length() - 1, self.codes.bit_length() - 1, self.nearest)

    def build(self) -> TwoLevel:
        """(seed, word) pairs, those with a near word favoured."""
        return TwoLevel.at(self.sets, self.privacy)

    @cached_property
    def law(self) -> CodeLaw:
        """The moments of the sent word, by the integers of the channel."""
        law = code_law(self.width, self.sets.codes, self.sets.nearest, self.channel.high / self.channel.low)
        return law.folded(self.width) if self.sets.folds else law

    @cached_property
    def scale(self) -> float:
        """What a word, as `direction` gives it, is multiplied by to be unbiased, in the domain's units."""
        return float(self.domain.reach / (self.law.mean * float(self.width) ** 1.5))

    def error(self) -> float:
        """The expected squared distance of one report from the vector, for vectors as long as the ball allows."""
        return self.domain.reach**2 * self.law.error(self.domain.dimension)

    def decode(self, output: int) -> list[float]:
        """The unbiased reading of one report."""
        self.channel.check(0, output)
        scale = self.scale
        return [scale * step for step in self.sets.direction(output)]

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A few dimensions and a few words, a bounded vector, and several rotations."""
        yield cls(domain=Ball(3), epsilon=1, codes=8)
        yield cls(domain=Ball(90, radius=2, norm=math.inf), epsilon=6, codes=512)
        yield cls(domain=Ball(40, radius=10), epsilon=4)
