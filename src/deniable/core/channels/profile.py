"""Channels whose weight depends on the distance between input and output only."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from deniable.core.channels.base import Channel
from deniable.core.randomness.coins import Coins
from deniable.errors import InvalidParameter


@dataclass(frozen=True)
class Profile(Channel):
    """Offset o = first, first + 1, … is drawn with weight weights[o - first], then added to the input.

    `wrap` puts the sum back on a circle of `inputs` cells. Otherwise there are `margin` extra cells at
    either end and what falls beyond them lands on the last one (clipping, which costs no privacy).

    >>> channel = Profile([1, 2, 4, 2, 1], first=-2, inputs=3, margin=0)
    >>> [list(channel.row(x)) for x in range(3)], channel.max_ratio()
    ([[7, 2, 1], [3, 4, 3], [1, 2, 7]], Fraction(7, 1))
    """

    weights: Sequence[int]
    first: int
    inputs: int
    margin: int = 0
    wrap: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(self.weights))
        last = self.first + len(self.weights) - 1
        if any(weight < 0 for weight in self.weights) or not self.weights:
            raise InvalidParameter("a profile needs weights, none of them negative")
        if self.wrap and (len(self.weights) != self.inputs or self.margin):
            raise InvalidParameter("a wrapped profile has one weight per cell and no margin")
        reach = self.inputs - 1 + self.margin
        if not self.wrap and (self.first > -reach or last < reach):
            raise InvalidParameter("a profile must reach every output from every input")

    @cached_property
    def outputs(self) -> int:
        """The inputs' cells and both margins."""
        return self.inputs + 2 * self.margin

    @cached_property
    def cumulative(self) -> tuple[int, ...]:
        """Running sums of the weights."""
        return tuple(accumulate(self.weights))

    @cached_property
    def total(self) -> int:
        """All offsets together: the same for every input."""
        return self.cumulative[-1]

    def land(self, index: int, offset: int) -> int:
        """Where an input and an offset end up."""
        if self.wrap:
            return (index + offset) % self.inputs
        return min(max(index + self.margin + offset, 0), self.outputs - 1)

    def draw(self, index: int, coins: Coins) -> int:
        """Draw the offset, then add it: nothing before the addition depends on the input."""
        return self.land(index, self.first + bisect_right(self.cumulative, coins.below(self.total)))

    def _up_to(self, offset: int) -> int:
        """The weight of all offsets up to this one."""
        return 0 if offset < self.first else self.cumulative[min(offset - self.first, len(self.weights) - 1)]

    def weight(self, index: int, output: int) -> int:
        """The offset's weight; at the ends, everything beyond as well."""
        if self.wrap:
            return self.weights[(output - index - self.first) % self.inputs]
        offset = output - index - self.margin
        if 0 < output < self.outputs - 1:
            return self.weights[offset - self.first]
        beyond = self.total if output == self.outputs - 1 else self._up_to(offset)
        return beyond - (self._up_to(offset - 1) if output > 0 else 0)

    @property
    def added_noise(self) -> Profile | None:
        return None if self.wrap else self

    @property
    def wraps(self) -> bool:
        return self.wrap

    def mass(self, index: int, start: int, stop: int) -> int:
        if self.wrap:
            begin = (start - index - self.first) % self.inputs
            turns, rest = divmod(begin + stop - start, self.inputs)
            return turns * self.total + self._up_to(self.first + rest - 1) - self._up_to(self.first + begin - 1)
        shift = index + self.margin
        low = 0 if start == 0 else self._up_to(start - shift - 1)
        high = self.total if stop == self.outputs else self._up_to(stop - shift - 1)
        return high - low if start < stop else 0

    @cached_property
    def _ratio(self) -> Fraction | None:
        if self.wrap:  # every output meets every weight
            return Fraction(max(self.weights), min(self.weights)) if min(self.weights) > 0 else None
        # An inner output y meets the offsets y - margin - x for all x: a stretch of `inputs` weights.
        low = 1 - self.margin - (self.inputs - 1) - self.first
        inner = self.weights[low : low + self.outputs + self.inputs - 3]
        tops = _sliding(inner, self.inputs, max)
        bottoms = _sliding(inner, self.inputs, min)
        ends = [(self.weight(x, y), self.weight(z, y)) for y in (0, self.outputs - 1) for x, z in self._extremes(y)]
        return _ratio([*tops, *(top for top, _ in ends)], [*bottoms, *(bottom for _, bottom in ends)])

    def _extremes(self, output: int) -> list[tuple[int, int]]:
        near, far = (0, self.inputs - 1) if output == 0 else (self.inputs - 1, 0)
        return [(near, far)]

    def max_ratio(self) -> Fraction | None:
        """Every output's largest over smallest weight, exactly."""
        return self._ratio

    def log_concave(self) -> bool:
        """Do ratios of neighbouring weights only fall? Then the farthest pair of inputs is the worst."""
        w = self.weights
        return all(w[i] * w[i] >= w[i - 1] * w[i + 1] for i in range(1, len(w) - 1))

    def delta(self, ratio: Fraction) -> Fraction:
        """max over inputs of sum_y max(0, P(y|x) - ratio * P(y|x')), for a log-concave profile.

        With log-concave weights the likelihood ratio is monotone in y, so the worst event is a half
        line and the worst pair is the two ends of the domain.
        """
        if self.wrap or not self.log_concave():
            raise InvalidParameter("delta is computed for log-concave profiles on an interval only")
        last, worst = self.inputs - 1, 0
        for x, z in ((0, last), (last, 0)):
            excess = sum(
                max(0, self.weight(x, y) * ratio.denominator - ratio.numerator * self.weight(z, y)) for y in range(self.outputs)
            )
            worst = max(worst, excess)
        return Fraction(worst, ratio.denominator * self.total)

    def compiled(self) -> dict[str, Any]:
        return {
            "kind": "profile",
            "weights": list(self.weights),
            "first": self.first,
            "inputs": self.inputs,
            "margin": self.margin,
            "wrap": self.wrap,
        }


def symmetric(half: Sequence[int], *, inputs: int, margin: int = 0) -> Profile:
    """A clipped profile from the weights of distances 0, 1, 2, …"""
    return Profile([*reversed(half[1:]), *half], first=1 - len(half), inputs=inputs, margin=margin)


def wrapped(half: Sequence[int], *, cells: int) -> Profile:
    """A circular profile from the weights of distances 0 … cells // 2."""
    return Profile([half[min(o, cells - o)] for o in range(cells)], first=0, inputs=cells, wrap=True)


def _ratio(tops: Iterable[int], bottoms: Iterable[int]) -> Fraction | None:
    worst = Fraction(1)
    for top, bottom in zip(tops, bottoms, strict=True):
        if bottom == 0 < top:
            return None
        if top * worst.denominator > worst.numerator * bottom:
            worst = Fraction(top, bottom)
    return worst


def _sliding(values: Sequence[int], width: int, best: Any) -> list[int]:
    """The best (max or min) of every `width` neighbours, in one pass."""
    bests: list[int] = []
    candidates: deque[int] = deque()
    for i, value in enumerate(values):
        while candidates and best(values[candidates[-1]], value) == value:
            candidates.pop()
        candidates.append(i)
        if candidates[0] <= i - width:
            candidates.popleft()
        if i >= width - 1:
            bests.append(values[candidates[0]])
    return bests
