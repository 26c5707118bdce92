"""Channels that read some digits of their input and pass them on to another channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from deniable.core.channels.base import Channel, Sums
from deniable.core.randomness.coins import Coins


class DigitReader(Channel):
    """The inner channel answers for the digits that are read; the others change nothing."""

    sizes: Sequence[int]
    """Of all digits of the input, most significant first."""
    places: Sequence[int]
    """Of the digits that are read, in their order."""
    inner: Channel

    @cached_property
    def kept(self) -> tuple[tuple[int, int], ...]:
        """Of every digit that is read: how much one step of it adds to the input, and its size."""
        return tuple((math.prod(self.sizes[place + 1 :]), self.sizes[place]) for place in self.places)

    def read(self, index: int) -> int:
        """The digits that are read, as one number, the first of them most significant."""
        number = 0
        for stride, size in self.kept:
            number = number * size + index // stride % size
        return number

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

    def draw(self, index: int, coins: Coins) -> int:
        return self.inner.draw(self.read(index), coins)

    def weight(self, index: int, output: int) -> int:
        return self.inner.weight(self.read(index), output)

    def max_ratio(self) -> Fraction | None:
        """The inner ratio: everything that can be read occurs."""
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
