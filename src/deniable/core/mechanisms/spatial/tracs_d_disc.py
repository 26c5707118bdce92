"""A place in a circular region, as direction and distance from its center."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable.core.channels.direction_distance import MOST_SIDE, DirectionDistance, DiscView
from deniable.core.channels.directions import Directions
from deniable.core.domains.base import Domain
from deniable.core.domains.plane import Disc, Place
from deniable.core.mechanisms.spatial.tracs_d import DirectionDistanceMechanism
from deniable.errors import InvalidParameter


@dataclass(frozen=True, kw_only=True, repr=False)
class TraCSDDisc(DirectionDistanceMechanism):
    """A place near the true one in a disc: a direction from the center, and a share of the radius.

    Law: the direction by a wrapped window, the share of the radius by a slid one, drawn independently; by integers only.
    `split` is the direction's share of epsilon, as in `tracs-d` ("auto" is the best one on the unit square).
    Guarantee: epsilon-LDP, by exact addition of the two parts.
    Cost: two draws, 24 bits on the wire. `nearest-cells` on the same disc does not split epsilon and is nearer.
    Source: dissertation, Sections 6.2.5 and D.2.7.

    >>> TraCSDDisc(epsilon=5).certificate().holds
    True
    """

    domain: Disc = Disc((0, 0), 1, cells=256)
    name: ClassVar[str] = "tracs-d-disc"
    source: ClassVar[str] = "Zheng, Hu 2026a; dissertation, Sections 6.2.5 and D.2.7"
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Disc,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.cells > MOST_SIDE:
            raise InvalidParameter(f"domain: tracs-d-disc takes at most {MOST_SIDE} cells across")

    def build(self) -> DirectionDistance:
        """The two windows, seen from the center."""
        view = DiscView(self.domain.cells, self.domain.inside)
        return DirectionDistance(view, Directions.at(self.direction_cells, Fraction(1)), *self.windows)

    def decode(self, output: int) -> Place:
        """The point that far along the reported direction (post-processing, so real numbers are welcome)."""
        self.channel.check(0, output)
        turn, share = self.channel.split_output(output)
        across, up = self.channel.directions.middle(turn)
        length = float(self.domain.radius) * (2 * share + 1) / (2 * self.distance_cells) / math.hypot(across, up)
        return float(self.domain.x) + length * across, float(self.domain.y) + length * up

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """A tiny disc, the published split, and the default."""
        yield cls(domain=Disc((0, 0), 1, cells=8), epsilon=1, direction_cells=8, distance_cells=4)
        yield cls(domain=Disc((10, 20), 5, cells=40), epsilon=5, split="published", direction_cells=64, distance_cells=32)
        yield cls(epsilon=8)
