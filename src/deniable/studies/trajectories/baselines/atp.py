"""ATP: two copies of a path, directions from both sides, merged (Zhang et al., 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.batch import Flags, Integers
from deniable.core import Coins, Number, Singleton, TwoLevel, as_fraction
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.baselines.base import STEPS, PathBaseline, draw_from, extremes, falling_weights

BITS = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class ATP(PathBaseline):
    """Every second location as a pivot, the others between the directions seen from their pivots; twice, then merged.

    In the first copy the even locations are pivots, in the second the odd ones. A pivot is a place by the exponential
    mechanism over all places. Another location tells, from each neighbouring pivot as answered, in which of `sectors`
    directions it lies (k-ary randomized response); the places in both sectors are the candidates (all places, when
    there is none), and the exponential mechanism picks one. The nearest place to the middle of both copies is the result.
    Candidates depend on answers only, never on the path. A location may lie outside its candidates, so that distances
    still range over all places: the exponential mechanism is calibrated to the whole diameter (a smaller range of the
    candidates would not be sound).
    Bookkeeping: a location pays once as a pivot, and once for two directions and a place; the `shares` of pivot,
    one direction and place say how epsilon is divided (pivot + 2 directions + place = 1); the default was chosen by trial.
    Guarantee: epsilon-LDP per location, n epsilon per path of n, by composition of integer weights.
    Cost: per location a few passes over all places.
    Source: Zhang, Ye, Chen, Hu, Han, "Trajectory data collection with local differential privacy", 2023.
    """

    sectors: int = 6
    shares: tuple[Number, Number, Number] = ("1/5", "3/10", "1/5")
    name: ClassVar[str] = "atp"
    source: ClassVar[str] = "Zhang et al. 2023"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.sectors, bool) or not isinstance(self.sectors, int) or not 2 <= self.sectors <= 360:
            raise InvalidParameter("sectors must be a whole number from 2 to 360")
        exact = [as_fraction(share) for share in self.shares]
        if len(exact) != 3 or any(share is None or share <= 0 for share in exact):
            raise InvalidParameter("shares must be three positive numbers: pivot, one direction, place")
        pivot, direction, place = (Fraction(share) for share in exact if share is not None)
        if pivot + 2 * direction + place != 1:
            raise InvalidParameter("shares must satisfy pivot + 2 directions + place = 1")
        object.__setattr__(self, "shares", (pivot, direction, place))

    @cached_property
    def pivot_weights(self) -> Integers:
        """Weights of a pivot's places by distance: half its share, because the normaliser pays the other half."""
        return falling_weights(BITS, self.privacy.exact * Fraction(self.shares[0]) / 2)

    @cached_property
    def place_weights(self) -> Integers:
        """Weights of the places among the candidates."""
        return falling_weights(BITS, self.privacy.exact * Fraction(self.shares[2]) / 2)

    @cached_property
    def direction(self) -> TwoLevel:
        """Randomized response on sectors."""
        return TwoLevel.at(Singleton(self.sectors), self.privacy.times(Fraction(self.shares[1])))

    def location_ratio(self) -> Fraction:
        """Pivot in one copy, two directions and a place in the other."""
        place = (extremes(self.pivot_weights) * extremes(self.place_weights)) ** 2
        return place * self.direction.max_ratio() ** 2

    def sectors_from(self, place: int) -> Integers:
        """The sector in which every place lies, seen from one place: a public table."""
        apart = self.places.coordinates - self.places.coordinates[place]
        turns = np.arctan2(apart[:, 1], apart[:, 0]) / (2 * np.pi) % 1.0
        return np.asarray(np.minimum(np.floor(turns * self.sectors), self.sectors - 1), np.int64)

    def pivot_table(self, place: int) -> Integers:
        """Integer weights of all places for a pivot."""
        return self.pivot_weights[self.places.steps_from(place, STEPS)]

    def place_table(self, place: int, candidates: Flags) -> Integers:
        """Integer weights of all places for another location; 0 off the candidates."""
        return self.place_weights[self.places.steps_from(place, STEPS)] * candidates

    def candidates(self, reported: list[tuple[Integers, int]]) -> Flags:
        """The places in all told sectors, or all places when there is none."""
        inside = np.ones(len(self.places), np.bool_)
        for sectors, sector in reported:
            inside &= sectors == sector
        return inside if inside.any() else np.ones(len(self.places), np.bool_)

    def copy(self, path: Integers, first: int, coins: Coins) -> Integers:
        """One copy, whose pivots are the locations first, first + 2, …"""
        out = np.empty(len(path), np.int64)
        for i in range(first, len(path), 2):
            out[i] = draw_from(self.pivot_table(int(path[i])), coins)
        for i in range(1 - first, len(path), 2):
            reported = []
            for neighbour in (i - 1, i + 1):
                if 0 <= neighbour < len(path):
                    sectors = self.sectors_from(int(out[neighbour]))
                    reported.append((sectors, self.direction.draw(int(sectors[path[i]]), coins)))
            out[i] = draw_from(self.place_table(int(path[i]), self.candidates(reported)), coins)
        return out

    def merged(self, one: Integers, other: Integers) -> Integers:
        """The nearest place to the middle of both copies."""
        return self.places.nearest((self.places.coordinates[one] + self.places.coordinates[other]) / 2)

    def perturb_path(self, path: Integers, coins: Coins) -> Integers:
        """Both copies, then post-processing."""
        return self.merged(self.copy(path, 0, coins), self.copy(path, 1, coins))

    def compiled(self) -> dict[str, Any]:
        """Places, sectors, and all weights."""
        return {
            "kind": self.name,
            "places": [axis.tolist() for axis in self.places.lattice],
            "sectors": self.sectors,
            "direction": self.direction.compiled(),
            "pivot_weights": self.pivot_weights.tolist(),
            "place_weights": self.place_weights.tolist(),
        }
