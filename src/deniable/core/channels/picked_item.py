"""Padding and sampling: one of the places that a padded set holds is picked, and reported by a channel for single values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.base import Channel, Sums
from deniable.core.channels.padded import Padding
from deniable.core.channels.two_level import TwoLevel
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class PickedItem(Channel):
    """A fair hidden coin picks one of the `at_most` places of the padded set; the inner channel reports it.

    With one level the inner input is the place. With more, an item has a value, level r of 0 … levels - 1, and the inner
    input is 2 * place with probability r / (levels - 1), else 2 * place + 1; a dummy's is either with probability 1/2.
    All rows are mixtures of as many inner rows, so they have one sum.

    >>> from deniable.core import Singleton
    >>> channel = PickedItem(2, 1, 1, TwoLevel(Singleton(3), low=1, high=3))
    >>> list(channel.row(0)), list(channel.row(2)), channel.max_ratio()
    ([1, 1, 3], [1, 3, 1], Fraction(3, 1))
    """

    items: int
    at_most: int
    levels: int
    inner: Channel

    def __post_init__(self) -> None:
        places = self.padding.places
        if self.inner.inputs != (places if self.levels == 1 else 2 * places):
            raise InvalidParameter("the inner channel must take every place, items and dummies, and twice as many with values")
        if not (self.alone or self.inner.unary):
            raise InvalidParameter("the picked place must be reported by randomized response or by unary bits")

    @cached_property
    def padding(self) -> Padding:
        """How sets are numbered."""
        return Padding(self.items, self.at_most, self.levels)

    @cached_property
    def alone(self) -> bool:
        """Is the report a single place, so that an output favours one of the held places only?"""
        return isinstance(self.inner, TwoLevel) and self.inner.sets.members == 1 and self.inner.inputs == self.inner.outputs

    @property
    def steps(self) -> int:
        """Twice the steps between the lowest and the highest value: dummies are half way. 1 without values."""
        return 2 * (self.levels - 1) if self.levels > 1 else 1

    @property
    def inputs(self) -> int:
        return self.padding.inputs

    @property
    def outputs(self) -> int:
        return self.inner.outputs

    @property
    def total(self) -> int:
        return self.at_most * self.steps * self.inner.total

    def pluses(self, place: int, level: int) -> int:
        """How many of the `steps` make the place a plus."""
        return 2 * level if place < self.items else self.levels - 1

    def draw(self, index: int, coins: Coins) -> int:
        """Every place is looked up, and the coins are the same for every input, whatever is picked."""
        held = self.padding.held(index)
        picked, step = divmod(coins.below(self.at_most * self.steps), self.steps)
        place, level = held[picked]
        if self.levels == 1:
            return self.inner.draw(place, coins)
        return self.inner.draw(2 * place + (step >= self.pluses(place, level)), coins)

    def weight(self, index: int, output: int) -> int:
        if self.levels == 1:
            return sum(self.inner.weight(place, output) for place, _ in self.padding.held(index))
        weight = 0
        for place, level in self.padding.held(index):
            plus = self.pluses(place, level)
            weight += plus * self.inner.weight(2 * place, output) + (self.steps - plus) * self.inner.weight(2 * place + 1, output)
        return weight

    def max_ratio(self) -> Fraction | None:
        """By randomized response, an output favours one of `at_most` places: (high + (at_most - 1) low) / (at_most low).

        Bits may favour all places of one set and none of another, which is as far apart as two inner inputs are.
        """
        if isinstance(self.inner, TwoLevel) and self.alone:
            return Fraction(self.inner.high + (self.at_most - 1) * self.inner.low, self.at_most * self.inner.low)
        return self.inner.max_ratio()

    def possible(self, output: int) -> bool:
        return self.inner.possible(output)

    @property
    def occurring(self) -> int:
        return self.inner.occurring

    @property
    def sums(self) -> Sums:
        return self.inner.sums

    @property
    def unary(self) -> bool:
        return self.inner.unary

    @property
    def free_bits(self) -> bool:
        return self.inner.free_bits

    @property
    def exclusive(self) -> bool:
        return self.inner.exclusive

    @property
    def padded(self) -> Padding:
        return self.padding

    def naming(self, held: int, named: int) -> Fraction | None:
        chances = self.inner.support()
        if chances is None or self.levels > 1:
            return None
        own, other = chances
        if self.alone and named > 1:
            return Fraction(0)
        # The one that is picked may be one of these places, held of which could be.
        return (
            Fraction(held, self.at_most) * own * other ** (named - 1) + Fraction(self.at_most - held, self.at_most) * other**named
        )

    def signs(self) -> tuple[Fraction, Fraction, Fraction] | None:
        """How likely the key's own sign, its opposite and either sign of another key are, when the key is the one picked."""
        if self.levels == 1:
            return None
        if isinstance(self.inner, TwoLevel):
            high, low = Fraction(self.inner.high, self.inner.total), Fraction(self.inner.low, self.inner.total)
            return high, low, low
        return self.inner.signs()

    @property
    def draws(self) -> int:
        return 1 + self.inner.draws

    @property
    def effort(self) -> int:
        return self.at_most + self.inner.effort

    def compiled(self) -> dict[str, Any]:
        shape = {"items": self.items, "at_most": self.at_most, "levels": self.levels}
        return {"kind": "picked-item", **shape, "inner": self.inner.compiled()}
