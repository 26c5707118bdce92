"""Records of which one field is answered: openly, or hidden among fake answers for the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.channels.base import Channel, Sums
from deniable.core.channels.chain import Mixture
from deniable.core.channels.digit_reader import DigitReader
from deniable.core.channels.product import digits, undigits
from deniable.core.channels.two_level import TwoLevel
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Field(DigitReader):
    """A channel that reads one digit of a mixed-radix input, most significant digit first.

    >>> from deniable.core import Table
    >>> list(Field((2, 3), 1, Table([[3, 1], [2, 2], [1, 3]])).row(5))    # 5 is (1, 2)
    [1, 3]
    """

    sizes: Sequence[int]
    place: int
    inner: Channel

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))
        object.__setattr__(self, "places", (self.place,))
        if not 0 <= self.place < len(self.sizes) or self.inner.inputs != self.sizes[self.place]:
            raise InvalidParameter("place must be one of the digits, and the inner channel must take that digit")

    def compiled(self) -> dict[str, Any]:
        """Which digit, of which sizes, and the inner channel."""
        return {"kind": "field", "sizes": list(self.sizes), "place": self.place, "inner": self.inner.compiled()}


def one_of(parts: Sequence[Channel]) -> Mixture:
    """A fair public coin picks a part, which alone sees its digit of the input; the output says which it was."""
    sizes = tuple(part.inputs for part in parts)
    return Mixture([Field(sizes, place, part) for place, part in enumerate(parts)], [1] * len(parts))


@dataclass(frozen=True)
class FakeData(Channel):
    """A fair hidden coin picks the one digit that is answered by its part; every other digit is uniform.

    Output y has the probability 1/d * sum over j of w_j(x_j, y_j) / T_j * product over i != j of 1/k_i. Times
    d * L * k_1 ... k_d, with L a common multiple of the totals T_j, that is the integer
    sum over j of w_j(x_j, y_j) * k_j * L / T_j.

    >>> from deniable.core import Singleton, TwoLevel
    >>> coin = TwoLevel(Singleton(2), low=1, high=3)
    >>> list(FakeData([coin, coin]).row(0)), FakeData([coin, coin]).max_ratio()
    ([12, 8, 8, 4], Fraction(3, 1))
    """

    parts: Sequence[TwoLevel]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts or any(part.sets.members != 1 or part.inputs != part.outputs for part in self.parts):
            raise InvalidParameter("fake data stands beside randomized response: every part must favour the true value alone")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values every digit has."""
        return tuple(part.inputs for part in self.parts)

    @cached_property
    def inputs(self) -> int:
        return math.prod(self.sizes)

    @property
    def outputs(self) -> int:
        return self.inputs

    @cached_property
    def common(self) -> int:
        """A common multiple of the parts' totals."""
        return math.lcm(*(part.total for part in self.parts))

    @cached_property
    def total(self) -> int:
        return len(self.parts) * self.common * self.outputs

    @cached_property
    def highs(self) -> tuple[int, ...]:
        """What a digit adds to the weight when it is the true one."""
        return tuple(part.high * part.inputs * (self.common // part.total) for part in self.parts)

    @cached_property
    def lows(self) -> tuple[int, ...]:
        """What a digit adds to the weight when it is another one."""
        return tuple(part.low * part.inputs * (self.common // part.total) for part in self.parts)

    def draw(self, index: int, coins: Coins) -> int:
        """An answer and a fake for every digit, so that the time does not say which one was answered."""
        chosen = coins.below(len(self.parts))
        answers = []
        for place, (part, digit) in enumerate(zip(self.parts, digits(index, self.sizes), strict=True)):
            answer, fake = part.draw(digit, coins), coins.below(part.inputs)
            answers.append(answer if place == chosen else fake)
        return undigits(answers, self.sizes)

    def weight(self, index: int, output: int) -> int:
        pairs = zip(digits(index, self.sizes), digits(output, self.sizes), self.highs, self.lows, strict=True)
        return sum(high if x == y else low for x, y, high, low in pairs)

    def max_ratio(self) -> Fraction:
        """All digits true against all digits false: every output allows both."""
        return Fraction(sum(self.highs), sum(self.lows))

    def field_ratio(self, place: int) -> Fraction:
        """The largest ratio between inputs that differ in this digit only: all the others false.

        What the others add is the same above and below the line, so the ratio is nearest to 1 when that is most.
        """
        rest = sum(self.lows) - self.lows[place]
        return Fraction(self.highs[place] + rest, self.lows[place] + rest)

    @property
    def sums(self) -> Sums:
        return "parts"

    def compiled(self) -> dict[str, Any]:
        return {"kind": "fake-data", "parts": [part.compiled() for part in self.parts]}
