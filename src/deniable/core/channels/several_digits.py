"""Records of which some fields are answered together: the channel that reads their digits as one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.base import Channel, Sums
from deniable.core.channels.product import undigits
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class SeveralDigits(Channel):
    """A channel that reads some digits of a mixed-radix input as one number, the first of them most significant.

    >>> from deniable.core import Identity
    >>> SeveralDigits((2, 3, 2), (0, 2), Identity(4)).number(9)    # 9 is (1, 1, 1): digits 1 and 1 are the number 3
    3
    """

    sizes: Sequence[int]
    places: Sequence[int]
    inner: Channel

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))
        object.__setattr__(self, "places", tuple(self.places))
        last = -1
        for place in self.places:
            if not last < place < len(self.sizes):
                raise InvalidParameter("places must be some of the digits, in their order")
            last = place
        if not self.places or self.inner.inputs != math.prod(self.kept):
            raise InvalidParameter("the inner channel must take the digits at the places, as one number")

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The sizes of the digits that are read."""
        return tuple(self.sizes[place] for place in self.places)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How much one step of each of them adds to the input."""
        return tuple(math.prod(self.sizes[place + 1 :]) for place in self.places)

    @cached_property
    def inputs(self) -> int:
        """The product of all digits' sizes."""
        return math.prod(self.sizes)

    @property
    def outputs(self) -> int:
        return self.inner.outputs

    @property
    def total(self) -> int:
        return self.inner.total

    def number(self, index: int) -> int:
        """The digits this channel reads, as one number."""
        return undigits([index // stride % size for stride, size in zip(self.strides, self.kept, strict=True)], self.kept)

    def draw(self, index: int, coins: Coins) -> int:
        return self.inner.draw(self.number(index), coins)

    def weight(self, index: int, output: int) -> int:
        return self.inner.weight(self.number(index), output)

    def max_ratio(self) -> Fraction | None:
        """The inner ratio: every number occurs."""
        return self.inner.max_ratio()

    def possible(self, output: int) -> bool:
        return self.inner.possible(output)

    @property
    def occurring(self) -> int:
        return self.inner.occurring

    @property
    def sums(self) -> Sums:
        return "picked"

    @property
    def draws(self) -> int:
        return self.inner.draws

    @property
    def counters(self) -> int:
        return self.inner.counters

    def compiled(self) -> dict[str, Any]:
        """Which digits, of which sizes, and the inner channel."""
        return {"kind": "several-digits", "sizes": list(self.sizes), "places": list(self.places), "inner": self.inner.compiled()}
