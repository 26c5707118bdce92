"""Unary reports of signs: for every key nothing, a plus or a minus; the true key's sign favoured."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.core.channels.base import Channel, Sums
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter

MOST_KEYS = 1 << 17


@dataclass(frozen=True)
class SignedBits(Channel):
    """Input 2 k is key k with a plus, 2 k + 1 with a minus; digits 2 k and 2 k + 1 of the output are its plus and its minus.

    The input's own key shows its sign with probability agree/scale, the other sign with differ/scale, else nothing.
    Every other key shows either sign with probability other/scale. No key shows both.

    >>> SignedBits(3, agree=3, differ=1, other=1, scale=8).max_ratio()
    Fraction(9, 2)
    """

    keys: int
    agree: int
    differ: int
    other: int
    scale: int

    def __post_init__(self) -> None:
        if not 2 <= self.keys <= MOST_KEYS:
            raise InvalidParameter(f"a report of signs has two bits per key: 2 to {MOST_KEYS} keys, got {self.keys}")
        if not (0 < self.differ <= self.agree and self.agree + self.differ < self.scale and 0 < 2 * self.other < self.scale):
            raise InvalidParameter("the weights must satisfy 0 < differ <= agree, agree + differ < scale and 0 < 2 other < scale")

    @property
    def inputs(self) -> int:
        return 2 * self.keys

    @property
    def outputs(self) -> int:
        """Numbers of two binary digits per key; those with both digits of a key do not occur."""
        return 1 << 2 * self.keys

    @property
    def total(self) -> int:
        return int(self.scale**self.keys)

    def draw(self, index: int, coins: Coins) -> int:
        own, minus = divmod(index, 2)
        output = 0
        for key in range(self.keys):
            drawn = coins.below(self.scale)
            first, second = (self.agree, self.differ) if key == own else (self.other, self.other)
            # The first sign is the input's own one: a plus unless the input is a minus.
            shown = (drawn < first) | (first <= drawn < first + second) << 1
            if key == own and minus:
                shown = (shown & 1) << 1 | shown >> 1
            output |= shown << 2 * key
        return output

    def weight(self, index: int, output: int) -> int:
        if not self.possible(output):
            return 0
        own, minus = divmod(index, 2)
        mine = output >> 2 * own & 3
        others = output.bit_count() - mine.bit_count()
        quiet = self.keys - 1 - others
        same = 2 if minus else 1
        chance = self.scale - self.agree - self.differ if mine == 0 else self.agree if mine == same else self.differ
        return int(chance * self.other**others * (self.scale - 2 * self.other) ** quiet)

    def possible(self, output: int) -> bool:
        pluses = output & (self.outputs - 1) // 3  # the even digits
        return not pluses & output >> 1

    @property
    def occurring(self) -> int:
        return int(3**self.keys)

    @property
    def sums(self) -> Sums:
        return "bits"

    @property
    def unary(self) -> bool:
        return True

    @property
    def free_bits(self) -> bool:
        return False

    @property
    def exclusive(self) -> bool:
        return True

    @property
    def draws(self) -> int:
        return self.keys

    def signs(self) -> tuple[Fraction, Fraction, Fraction]:
        return Fraction(self.agree, self.scale), Fraction(self.differ, self.scale), Fraction(self.other, self.scale)

    def max_ratio(self) -> Fraction:
        """What an input makes of its own key's part, over what the others make of it: the largest over the smallest.

        Outputs let one input's key show any of the three, and another's any of the three.
        """
        own = (self.agree, self.differ)
        ratios = [Fraction(weight, self.other) for weight in own]
        ratios.append(Fraction(self.scale - sum(own), self.scale - 2 * self.other))
        return max(ratios) / min(ratios)

    def compiled(self) -> dict[str, Any]:
        integers = {"agree": self.agree, "differ": self.differ, "other": self.other, "scale": self.scale}
        return {"kind": "signed-bits", "keys": self.keys, **integers}
