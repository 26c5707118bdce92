"""Unary channels: k independent bits, the true value's bit favoured."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.core.channels.base import Channel, Sums
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

MOST_BITS = 1 << 20


@dataclass(frozen=True)
class Bits(Channel):
    """Bit v of the output is 1 with probability own/scale when v is the input, else other/scale.

    The output is an integer whose binary digit v is the bit of value v. Every bit is drawn, the last
    one too, and every bit costs the same whatever the input is.

    >>> Bits(3, own=2, other=1, scale=4).max_ratio()
    Fraction(3, 1)
    """

    size: int
    own: int
    other: int
    scale: int

    def __post_init__(self) -> None:
        if not 2 <= self.size <= MOST_BITS:
            raise InvalidParameter(
                f"a unary report has one bit per category: 2 to {MOST_BITS} of them, got {self.size}; use hashing"
            )
        if not 0 < self.other <= self.own < self.scale:
            raise InvalidParameter("the bit weights must satisfy 0 < other <= own < scale")

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return 1 << self.size

    @property
    def total(self) -> int:
        return int(self.scale**self.size)

    def draw(self, index: int, coins: Coins) -> int:
        output = 0
        for value in range(self.size):
            threshold = self.own if value == index else self.other
            output |= (coins.below(self.scale) < threshold) << value
        return output

    def weight(self, index: int, output: int) -> int:
        ones = output.bit_count()
        mine = output >> index & 1
        others = ones - mine
        rest = self.size - 1 - others
        chance = self.own if mine else self.scale - self.own
        return int(chance * self.other**others * (self.scale - self.other) ** rest)

    @property
    def sums(self) -> Sums:
        return "bits"

    @property
    def unary(self) -> bool:
        return True

    def support(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.own, self.scale), Fraction(self.other, self.scale)

    def joint_support(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.own * self.other, self.scale**2), Fraction(self.other, self.scale) ** 2

    def supports(self, index: int, output: int) -> bool:
        return bool(output >> index & 1)

    @property
    def draws(self) -> int:
        return self.size

    def max_ratio(self) -> Fraction:
        """Two bits differ between two inputs: own (scale - other) / (other (scale - own))."""
        return Fraction(self.own * (self.scale - self.other), self.other * (self.scale - self.own))

    def compiled(self) -> dict[str, Any]:
        return {"kind": "bits", "size": self.size, "own": self.own, "other": self.other, "scale": self.scale}
