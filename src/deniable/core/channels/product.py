"""Several channels side by side, each with its own randomness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.base import Channel, Sums
from deniable.core.randomness.coins import Coins


@dataclass(frozen=True)
class Product(Channel):
    """Input and output are mixed-radix numbers, first part first; the weights multiply."""

    parts: Sequence[Channel]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))

    @cached_property
    def inputs(self) -> int:
        """The product of the parts' inputs."""
        return math.prod(part.inputs for part in self.parts)

    @cached_property
    def outputs(self) -> int:
        """The product of the parts' outputs."""
        return math.prod(part.outputs for part in self.parts)

    @cached_property
    def total(self) -> int:
        """The product of the parts' totals."""
        return math.prod(part.total for part in self.parts)

    def split_input(self, index: int) -> list[int]:
        return digits(index, [part.inputs for part in self.parts])

    def split_output(self, output: int) -> list[int]:
        return digits(output, [part.outputs for part in self.parts])

    def join_outputs(self, outputs: Sequence[int]) -> int:
        """One output from the parts' outputs."""
        return undigits(outputs, [part.outputs for part in self.parts])

    def draw(self, index: int, coins: Coins) -> int:
        pairs = zip(self.parts, self.split_input(index), strict=True)
        return self.join_outputs([part.draw(digit, coins) for part, digit in pairs])

    def weight(self, index: int, output: int) -> int:
        """The product of the parts' weights."""
        triples = zip(self.parts, self.split_input(index), self.split_output(output), strict=True)
        return math.prod(part.weight(x, y) for part, x, y in triples)

    def max_ratio(self) -> Fraction | None:
        """The product of the parts' ratios: the worst inputs can be chosen part by part."""
        ratios = [part.max_ratio() for part in self.parts]
        if None in ratios:
            return None
        return math.prod((ratio for ratio in ratios if ratio is not None), start=Fraction(1))

    def possible(self, output: int) -> bool:
        return all(part.possible(digit) for part, digit in zip(self.parts, self.split_output(output), strict=True))

    @property
    def occurring(self) -> int:
        return math.prod(part.occurring for part in self.parts)

    @property
    def sums(self) -> Sums:
        return "parts"

    @property
    def side_by_side(self) -> Sequence[Channel]:
        return self.parts

    @property
    def draws(self) -> int:
        return sum(part.draws for part in self.parts)

    @property
    def effort(self) -> int:
        return sum(part.effort for part in self.parts)

    @property
    def counters(self) -> int:
        return sum(part.counters for part in self.parts)

    def compiled(self) -> dict[str, Any]:
        return {"kind": "product", "parts": [part.compiled() for part in self.parts]}


def digits(number: int, radices: Sequence[int]) -> list[int]:
    """Mixed-radix digits, most significant first."""
    lowest_first = []
    for radix in reversed(radices):
        number, digit = divmod(number, radix)
        lowest_first.append(digit)
    return lowest_first[::-1]


def undigits(parts: Sequence[int], radices: Sequence[int]) -> int:
    """The number with these mixed-radix digits."""
    number = 0
    for digit, radix in zip(parts, radices, strict=True):
        number = number * radix + digit
    return number
