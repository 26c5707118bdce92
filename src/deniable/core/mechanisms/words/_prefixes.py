"""What the searches for frequent words share: public groups, each asked about a prefix of another length."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.core.channels.chain import Mixture
from deniable.core.channels.sets import SetSystem
from deniable.core.channels.two_level import TwoLevel
from deniable.core.domains.base import Domain
from deniable.core.domains.words import Text, Whole
from deniable.core.exact.numbers import as_index
from deniable.core.mechanisms.base import Mechanism
from deniable.errors import InvalidParameter

MOST_STEP = 16


@dataclass(frozen=True, kw_only=True, repr=False)
class PrefixMechanism(Mechanism):
    """Users are split into groups, epsilon is not: a public coin draws the group, and its one question gets all of epsilon.

    Groups 0, 1, … ask for the first `levels[0]`, `levels[1]`, … bits; the last group asks for the whole word
    once more. Words are found with the former and their shares are estimated from the latter, which had
    no part in choosing them: so the estimates are unbiased, also of words that were found by luck.
    """

    domain: Text | Whole = Text(6)
    step_bits: int = 8

    family: ClassVar[str] = "words"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Text, Whole)
    estimating: ClassVar[int] = 1
    """How many times as many users as a level has estimate the shares of the words found."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_parameter("step_bits", self.step_bits, 1, MOST_STEP)

    @property
    def levels(self) -> tuple[int, ...]:
        """The lengths of prefixes: multiples of step_bits, and the whole word."""
        return (*range(self.step_bits, self.domain.bits, self.step_bits), self.domain.bits)

    if TYPE_CHECKING:  # what `build` gives

        @cached_property
        def channel(self) -> Mixture:
            """The channel, built once."""

    @abstractmethod
    def sets(self, kept: int) -> SetSystem:
        """The set system for prefixes of this length."""

    @cached_property
    def _groups(self) -> list[TwoLevel]:
        """The channels of all groups: one per length, and that of whole words again for those who estimate."""
        levels = [TwoLevel.at(self.sets(kept), self.privacy) for kept in self.levels]
        return [*levels, levels[-1]]

    def build(self) -> Mixture:
        """One two-level channel per group, chosen by a public coin."""
        return Mixture(self._groups, [1] * len(self.levels) + [self.estimating])

    def part(self, group: int) -> TwoLevel:
        """The channel of a group."""
        return self._groups[group]

    def decode(self, output: int) -> tuple[int, int]:
        """The group and the output of its channel: a single report stands for no word."""
        self.channel.check(0, output)
        return self.channel.part_of(output)


def whole_parameter(name: str, value: object, least: int, most: int) -> None:
    """Refuse a parameter that is not a whole number within its bounds."""
    whole = as_index(value)
    if whole is None or not least <= whole <= most:
        raise InvalidParameter(f"{name} must be a whole number from {least} to {most}")
