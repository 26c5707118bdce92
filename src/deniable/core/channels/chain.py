"""Channels built from channels: entered between inputs, chosen by a coin, or one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from deniable.core.channels.base import Alternative, Channel, Sums, column_ratio
from deniable.core.channels.sets import Layers, single_cells
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Interpolated(Channel):
    """A channel entered between two neighbouring inputs, `steps` finer than it knows itself.

    Input i * steps + r goes to row i + 1 with probability r / steps, else to row i. When the mean of
    the inner output is linear in the row, it is now linear in the fine input: unbiased stays unbiased,
    and a mixture of rows cannot exceed the rows' own ratio.
    """

    inner: Channel
    steps: int

    @property
    def inputs(self) -> int:
        """`steps` for every gap between rows, and the last row."""
        return (self.inner.inputs - 1) * self.steps + 1

    @property
    def outputs(self) -> int:
        return self.inner.outputs

    @property
    def total(self) -> int:
        return self.steps * self.inner.total

    def draw(self, index: int, coins: Coins) -> int:
        """Round to a row at random, then draw from it."""
        row, rest = divmod(index, self.steps)
        return self.inner.draw(row + (coins.below(self.steps) < rest), coins)

    def weight(self, index: int, output: int) -> int:
        row, rest = divmod(index, self.steps)
        weight = (self.steps - rest) * self.inner.weight(row, output)
        return weight + rest * self.inner.weight(row + 1, output) if rest else weight

    @property
    def effort(self) -> int:
        return self.inner.effort

    @property
    def occurring(self) -> int:
        return self.inner.occurring

    @property
    def between(self) -> tuple[Channel, int]:
        return self.inner, self.steps

    def mass(self, index: int, start: int, stop: int) -> int:
        row, rest = divmod(index, self.steps)
        lower = (self.steps - rest) * self.inner.mass(row, start, stop)
        return lower + rest * self.inner.mass(row + 1, start, stop) if rest else lower

    def max_ratio(self) -> Fraction | None:
        """The inner ratio: mixtures cannot exceed it, and the pure rows attain it."""
        return self.inner.max_ratio()

    def possible(self, output: int) -> bool:
        return self.inner.possible(output)

    def compiled(self) -> dict[str, Any]:
        """The inner channel and the number of steps."""
        return {"kind": "interpolated", "steps": self.steps, "inner": self.inner.compiled()}


@dataclass(frozen=True)
class Mixture(Channel):
    """A coin that does not see the input chooses the channel; the output says which one it was.

    Outputs of part j are numbered after those of parts 0 … j-1.
    """

    parts: Sequence[Channel]
    shares: Sequence[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "shares", tuple(self.shares))
        if len({part.inputs for part in self.parts}) != 1 or len(self.parts) != len(self.shares):
            raise InvalidParameter("the channels of a mixture need equal inputs and one share each")
        if any(share <= 0 for share in self.shares):
            raise InvalidParameter("the shares of a mixture must be positive integers")

    @property
    def inputs(self) -> int:
        return self.parts[0].inputs

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each part's outputs begin."""
        return tuple(accumulate((part.outputs for part in self.parts[:-1]), initial=0))

    @cached_property
    def outputs(self) -> int:
        return sum(part.outputs for part in self.parts)

    @cached_property
    def common(self) -> int:
        """A common multiple of the parts' totals."""
        return math.lcm(*(part.total for part in self.parts))

    @cached_property
    def total(self) -> int:
        """Shares times the common total."""
        return sum(self.shares) * self.common

    @property
    def alternatives(self) -> Sequence[Alternative]:
        shares = (Fraction(share, sum(self.shares)) for share in self.shares)
        return tuple(map(Alternative, self.starts, shares, self.parts))

    def mass(self, index: int, start: int, stop: int) -> int:
        weight = 0
        for begin, share, part in zip(self.starts, self.shares, self.parts, strict=True):
            low, high = max(start - begin, 0), min(stop - begin, part.outputs)
            if low < high:
                weight += share * (self.common // part.total) * part.mass(index, low, high)
        return weight

    def part_of(self, output: int) -> tuple[int, int]:
        """Which part an output belongs to, and its number there."""
        for j in reversed(range(len(self.parts))):
            if output >= self.starts[j]:
                return j, output - self.starts[j]
        raise InvalidParameter("outputs are not negative")

    def draw(self, index: int, coins: Coins) -> int:
        """Choose a part, then draw from it."""
        drawn = coins.below(sum(self.shares))
        j = 0
        while drawn >= self.shares[j]:
            drawn -= self.shares[j]
            j += 1
        return self.starts[j] + self.parts[j].draw(index, coins)

    def weight(self, index: int, output: int) -> int:
        """The part's weight, scaled to the common total and by its share."""
        j, inner = self.part_of(output)
        return self.shares[j] * self.parts[j].weight(index, inner) * (self.common // self.parts[j].total)

    def max_ratio(self) -> Fraction | None:
        ratios = [part.max_ratio() for part in self.parts]
        return None if None in ratios else max(ratio for ratio in ratios if ratio is not None)

    def possible(self, output: int) -> bool:
        j, inner = self.part_of(output)
        return self.parts[j].possible(inner)

    @property
    def occurring(self) -> int:
        return sum(part.occurring for part in self.parts)

    @property
    def sums(self) -> Sums:
        kinds = {part.sums for part in self.parts}
        return "picked" if kinds == {"picked"} else "searched" if "searched" in kinds else "outputs"

    @property
    def draws(self) -> int:
        return 1 + max(part.draws for part in self.parts)

    @property
    def effort(self) -> int:
        return max(part.effort for part in self.parts)

    @property
    def counters(self) -> int:
        return max(part.counters for part in self.parts)

    def compiled(self) -> dict[str, Any]:
        return {"kind": "mixture", "shares": list(self.shares), "parts": [part.compiled() for part in self.parts]}


@dataclass(frozen=True)
class Identity(Channel):
    """The output is the input. No privacy at all: only as a part of something that says so."""

    size: int
    total = 1

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.size

    def draw(self, index: int, coins: Coins) -> int:
        return index

    def weight(self, index: int, output: int) -> int:
        return int(index == output)

    def layers(self) -> Layers:
        return Layers(0, ((single_cells(self.size), 1),))

    def max_ratio(self) -> None:
        return

    def compiled(self) -> dict[str, Any]:
        return {"kind": "identity", "size": self.size}


@dataclass(frozen=True)
class Chain(Channel):
    """The first channel's output is the second one's input. For small channels: weights are sums."""

    first: Channel
    second: Channel

    def __post_init__(self) -> None:
        if self.first.outputs != self.second.inputs:
            raise InvalidParameter("the second channel of a chain must take the first one's outputs")

    @property
    def inputs(self) -> int:
        return self.first.inputs

    @property
    def outputs(self) -> int:
        return self.second.outputs

    @property
    def total(self) -> int:
        return self.first.total * self.second.total

    def draw(self, index: int, coins: Coins) -> int:
        return self.second.draw(self.first.draw(index, coins), coins)

    def weight(self, index: int, output: int) -> int:
        """The sum over what happens in between."""
        return sum(self.first.weight(index, middle) * self.second.weight(middle, output) for middle in range(self.first.outputs))

    @cached_property
    def _ratio(self) -> Fraction | None:
        return column_ratio(self)

    def max_ratio(self) -> Fraction | None:
        return self._ratio

    def compiled(self) -> dict[str, Any]:
        return {"kind": "chain", "first": self.first.compiled(), "second": self.second.compiled()}
