"""How outputs are read as positions: post-processing, so real numbers are welcome here.

A position is a fraction of the way through the domain: 0 is its lower end, 1 its upper end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


class Reading(ABC):
    """A map from outputs to positions."""

    @abstractmethod
    def position(self, output: int) -> Fraction:
        """The position one output stands for."""


@dataclass(frozen=True)
class Affine(Reading):
    """start + step * output, optionally clipped to [0, 1]."""

    start: Fraction
    step: Fraction
    clip: bool = False

    def position(self, output: int) -> Fraction:
        """The position of one output."""
        unclipped = self.start + self.step * output
        return min(max(unclipped, Fraction(0)), Fraction(1)) if self.clip else unclipped


@dataclass(frozen=True)
class Values(Reading):
    """One listed position per output."""

    positions: Sequence[Fraction]

    def position(self, output: int) -> Fraction:
        return self.positions[output]


@dataclass(frozen=True)
class Joined(Reading):
    """Several readings one after the other, each for as many outputs as it says."""

    parts: Sequence[tuple[int, Reading]]

    def position(self, output: int) -> Fraction:
        """By the part the output falls into."""
        for size, reading in self.parts:
            if output < size:
                return reading.position(output)
            output -= size
        raise IndexError("the output lies beyond all parts")


def middles(count: int) -> Affine:
    """The middles of `count` equal cells of [0, 1]."""
    return Affine(Fraction(1, 2 * count), Fraction(1, count))


def ticks(count: int) -> Affine:
    """The `count + 1` points 0, 1/count, …, 1."""
    return Affine(Fraction(0), Fraction(1, count))
