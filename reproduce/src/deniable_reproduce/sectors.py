"""The dominant sector of a direction mechanism: how wide it is, and how likely the answer lies in it."""

from __future__ import annotations

import math
from typing import NamedTuple

from deniable.core import Circle, Epsilon, Sectors, TwoLevel, make_mechanism

CELLS = 1 << 18
SECTOR_CELLS = 12 * (1 << 14)


class Dominant(NamedTuple):
    """Width in radians, probability, and density inside, from integer weights."""

    width: float
    probability: float

    @property
    def density(self) -> float:
        """Probability per radian inside."""
        return self.probability / self.width


def window(epsilon: float) -> TwoLevel:
    """The direction channel of TraCS-D (Definition 9)."""
    channel = make_mechanism("circular-ogpm", domain=Circle(cells=CELLS), epsilon=epsilon).channel
    assert isinstance(channel, TwoLevel)
    return channel


def response(epsilon: float, sectors: int) -> TwoLevel:
    """The direction channel of the strawman: randomized response on sectors."""
    return TwoLevel.at(Sectors(SECTOR_CELLS, sectors), Epsilon(epsilon))


def dominant(channel: TwoLevel) -> Dominant:
    """Read off a two-level channel on a circle."""
    members = channel.sets.members
    return Dominant(2 * math.pi * members / channel.outputs, members * channel.high / channel.total)
