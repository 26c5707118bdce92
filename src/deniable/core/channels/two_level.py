"""Two-level channels: the one idea behind almost every optimal mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deniable.core.channels.base import Channel, Sums
from deniable.core.channels.sets import Layers, SetSystem
from deniable.core.exact.epsilon import Epsilon
from deniable.core.exact.weights import two_level_weights
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.core.channels.padded import Padding


@dataclass(frozen=True)
class TwoLevel(Channel):
    """Outputs in S_x weigh `high`, the others `low`.

    A draw is one uniform integer below `total` and one division. The privacy is exactly ln(high/low).

    >>> from deniable.core import Singleton
    >>> channel = TwoLevel(Singleton(3), low=1, high=2)
    >>> list(channel.row(1)), channel.total, channel.max_ratio()
    ([1, 2, 1], 4, Fraction(2, 1))
    """

    sets: SetSystem
    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high:
            raise InvalidParameter("the weights must satisfy 0 < low <= high")

    @classmethod
    def at(cls, sets: SetSystem, epsilon: Epsilon) -> TwoLevel:
        """The channel on these sets with the largest high weight epsilon allows."""
        low, high = two_level_weights(sets.members, sets.members + sets.others, epsilon)
        return cls(sets, low, high)

    @property
    def inputs(self) -> int:
        """As many as the set system has."""
        return self.sets.inputs

    @property
    def outputs(self) -> int:
        """As many as the set system has."""
        return self.sets.outputs

    @cached_property
    def favoured(self) -> int:
        """The weight of all favoured outputs together."""
        return self.sets.members * self.high

    @cached_property
    def total(self) -> int:
        """The same for every input, because all S_x are equally large."""
        return self.favoured + self.sets.others * self.low

    def draw(self, index: int, coins: Coins) -> int:
        """One integer below the total decides both the level and the element."""
        drawn = coins.below(self.total)
        if drawn < self.favoured:
            return self.sets.inside(index, drawn // self.high)
        return self.sets.outside(index, (drawn - self.favoured) // self.low)

    def weight(self, index: int, output: int) -> int:
        """`high` inside S_x, `low` outside, 0 for numbers that are no output."""
        if not self.sets.possible(output):
            return 0
        return self.high if self.sets.contains(index, output) else self.low

    def possible(self, output: int) -> bool:
        return self.sets.possible(output)

    @property
    def sums(self) -> Sums:
        return self.sets.sums

    @property
    def unary(self) -> bool:
        return self.sets.unary

    @property
    def in_bytes(self) -> bool:
        return self.sets.in_bytes

    @property
    def ones(self) -> int | None:
        return self.sets.ones

    @property
    def padded(self) -> Padding | None:
        return self.sets.padded

    def naming(self, held: int, named: int) -> Fraction | None:
        counts = self.sets.naming(held, named)
        return None if counts is None else Fraction(counts[0] * self.high + counts[1] * self.low, self.total)

    @property
    def wraps(self) -> bool:
        window = self.sets.window
        return window is not None and window.first < 0

    @property
    def two_level(self) -> TwoLevel:
        return self

    @property
    def effort(self) -> int:
        return self.sets.effort

    @property
    def buckets(self) -> int | None:
        return self.sets.hashed_into

    @property
    def occurring(self) -> int:
        return self.sets.members + self.sets.others

    def layers(self) -> Layers | None:
        window = self.sets.window
        return None if window is None else Layers(self.low, ((window, self.high - self.low),))

    def supports(self, index: int, output: int) -> bool:
        return self.sets.contains(index, output)

    def support(self) -> tuple[Fraction, Fraction] | None:
        shared, members = self.sets.overlap(), self.sets.members
        if shared is None:
            return None
        other = (shared * self.high + (members - shared) * self.low) / self.total
        return Fraction(members * self.high, self.total), other

    def joint_support(self) -> tuple[Fraction, Fraction]:
        two, three = self.sets.overlap(), self.sets.triple_overlap()
        if two is None:
            return super().joint_support()
        return two * self.high / self.total, (three * self.high + (two - three) * self.low) / self.total

    def max_ratio(self) -> Fraction:
        """high / low: some output is favoured by one input and not by another."""
        return Fraction(self.high, self.low)

    def compiled(self) -> dict[str, Any]:
        """The two weights and the set system."""
        return {"kind": "two-level", "low": self.low, "high": self.high, **self.sets.compiled()}
