"""Several draws in a row, where each may depend on the reports before it, which are public."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from deniable.core.channels.base import Channel
from deniable.core.channels.product import digits, undigits
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

FEW_WEIGHTS = 1 << 16


@dataclass(frozen=True)
class Steps(Channel):
    """Input and output are mixed-radix numbers of `length` digits, first step first.

    A direction-distance step is seen from the report before it; every other channel stays as it is. The references are
    made from reports, so whoever sees the reports knows them: a step's ratio is all a step gives away.
    """

    step: Channel
    length: int

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InvalidParameter("there must be at least one step")
        if self.length > 1:
            self.step.after(0)  # refuses what cannot be seen from a report

    @cached_property
    def inputs(self) -> int:
        return int(self.step.inputs**self.length)

    @cached_property
    def outputs(self) -> int:
        return int(self.step.outputs**self.length)

    @cached_property
    def total(self) -> int:
        """The product of the steps' totals."""
        return int(self.step.total**self.length)

    def split_output(self, output: int) -> list[int]:
        return digits(output, [self.step.outputs] * self.length)

    def possible(self, output: int) -> bool:
        return all(self.step.possible(digit) for digit in self.split_output(output))

    def draw(self, index: int, coins: Coins) -> int:
        channel, drawn = self.step, []
        for digit in digits(index, [self.step.inputs] * self.length):
            drawn.append(channel.draw(digit, coins))
            channel = channel.after(drawn[-1])
        return undigits(drawn, [self.step.outputs] * self.length)

    def weight(self, index: int, output: int) -> int:
        """The product of the steps' weights, each seen from the report before it."""
        channel, weight = self.step, 1
        for x, y in zip(digits(index, [self.step.inputs] * self.length), self.split_output(output), strict=True):
            weight *= channel.weight(x, y)
            channel = channel.after(y)
        return weight

    @cached_property
    def _ratio(self) -> Fraction | None:
        if self.step.chained and self.inputs * self.outputs <= FEW_WEIGHTS:
            return _worst_walk(self.step, self.length)
        ratio = self.step.ratio_bound()
        return None if ratio is None else ratio**self.length

    def max_ratio(self) -> Fraction | None:
        """The steps' ratios multiplied: the worst inputs can be chosen step by step, whatever was reported before.

        For direction-distance steps no reference can have a larger ratio than the product of the two windows' ratios; on
        tiny lattices, where it may be smaller, every walk is tried.
        """
        return self._ratio

    @property
    def occurring(self) -> int:
        return int(self.step.occurring**self.length)

    @property
    def effort(self) -> int:
        return 2 * self.length * self.step.effort

    def compiled(self) -> dict[str, Any]:
        """The first step and how many there are."""
        return {"kind": "steps", "length": self.length, "step": self.step.compiled()}


@lru_cache(maxsize=4096)  # channels are public: nothing private is remembered
def _worst_walk(channel: Channel, length: int) -> Fraction:
    """The largest product of ratios along any sequence of reports."""
    worst = Fraction(1)
    for output in range(channel.outputs):
        column = [channel.weight(index, output) for index in range(channel.inputs)]
        ratio = Fraction(max(column), min(column))
        worst = max(worst, ratio * _worst_walk(channel.after(output), length - 1) if length > 1 else ratio)
    return worst
