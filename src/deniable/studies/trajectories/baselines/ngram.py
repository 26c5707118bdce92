"""NGram: overlapping pairs of neighbouring locations, perturbed together (Cunningham et al., 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.batch import Flags, Floats, Integers
from deniable.core import Coins
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.baselines.base import STEPS, PathBaseline, draw_from, extremes, falling_weights
from deniable.studies.trajectories.places import SIDE

PAIR_BITS = 24
"""Two weights of 24 bits multiplied, for at most 2**12 pairs, fit 64 bits."""

SINGLE_BITS = 40
MOST_LEVELS = 6
COVERED = 2
"""Every location is in two grams: this is what its epsilon is divided by."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NGram(PathBaseline):
    """Pairs of neighbouring locations by the exponential mechanism on pairs of regions, then the likeliest path.

    Places are halved again and again, `levels` times, into regions of equally many places. Every pair of neighbouring locations is
    answered with a pair of regions, less likely the farther both are; the two ends are answered once more alone, so
    that every location is in two answers with epsilon / 2 each. The path of regions that is nearest to all answers
    is found by dynamic programming, and a random place of each region is taken.
    Pairs may be restricted to those within `reach` of the longer side. The candidates are the same for every path:
    published variants take those near the true location, and then the answer says where that was (epsilon is
    infinite). Opening hours and travel times, which the original uses as well, are not in the data. The original
    counts epsilon for whole paths; here a pair pays for a change of one of its two locations.
    Guarantee: epsilon-LDP per location and n epsilon per path of n, by composition of integer weights.
    Cost: per location all pairs of regions.
    Source: Cunningham, Cormode, Ferhatosmanoglu, Srivastava, "Real-world trajectory sharing with LDP", 2021.
    """

    levels: int = MOST_LEVELS
    reach: float = 0.75
    name: ClassVar[str] = "ngram"
    source: ClassVar[str] = "Cunningham et al. 2021"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.levels, bool) or not isinstance(self.levels, int) or not 1 <= self.levels <= MOST_LEVELS:
            raise InvalidParameter(f"levels must be a whole number from 1 to {MOST_LEVELS}")
        if not self.reach > 0:
            raise InvalidParameter("reach must be a positive share of the region's longer side")

    @cached_property
    def region_of(self) -> Integers:
        """The region of every place: the places are halved along the longer side of what is left."""
        points = np.stack(self.places.lattice, axis=1)
        regions = np.zeros(len(points), np.int64)
        for _ in range(self.levels):
            regions *= 2
            for region in np.unique(regions):
                inside = np.nonzero(regions == region)[0]
                axis = int(np.ptp(points[inside], axis=0).argmax())
                order = inside[np.lexsort((points[inside, 1 - axis], points[inside, axis]))]
                regions[order[len(order) // 2 :]] += len(order) > 1
        return np.unique(regions, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def members(self) -> list[Integers]:
        """The places of every region."""
        return [np.nonzero(self.region_of == region)[0] for region in range(int(self.region_of.max()) + 1)]

    @cached_property
    def centers(self) -> Floats:
        """The middle of every region's places, on the lattice."""
        points = np.stack(self.places.lattice, axis=1)
        return np.array([points[members].mean(axis=0) for members in self.members])

    @cached_property
    def distances(self) -> Floats:
        """Between the regions' middles, on the lattice."""
        apart = self.centers[:, None] - self.centers[None]
        return np.hypot(apart[..., 0], apart[..., 1])

    @cached_property
    def steps(self) -> Integers:
        """The same in parts of the largest of them."""
        return np.floor(self.distances / max(float(self.distances.max()), 1.0) * STEPS).astype(np.int64)

    @cached_property
    def reachable(self) -> Flags:
        """Which pairs of regions may follow each other: public, and the same for every path."""
        return self.distances <= self.reach * SIDE

    @cached_property
    def pair_weights(self) -> Integers:
        """Of one of the two locations of a pair: half of its epsilon, because the normaliser pays the other half."""
        return falling_weights(PAIR_BITS, self.privacy.exact / COVERED / 2)

    @cached_property
    def single_weights(self) -> Integers:
        """Of a location alone, at either end."""
        return falling_weights(SINGLE_BITS, self.privacy.exact / COVERED / 2)

    def pair_table(self, first: int, second: int) -> Integers:
        """Integer weights of all pairs of regions for two neighbouring regions; 0 for pairs out of reach."""
        return np.outer(self.pair_weights[self.steps[first]], self.pair_weights[self.steps[second]]) * self.reachable

    def single_table(self, region: int) -> Integers:
        """Integer weights of all regions for one location alone."""
        return np.asarray(self.single_weights[self.steps[region]], np.int64)

    def location_ratio(self) -> Fraction:
        """A location is in two pairs, or in a pair and alone, or twice alone: the worst of these.

        When one location changes, a weight of its table changes by at most w, and the normaliser by at most w again.
        """
        return max(extremes(self.pair_weights), extremes(self.single_weights)) ** (2 * COVERED)

    def perturb_path(self, path: Integers, coins: Coins) -> Integers:
        """A private path: regions are answered privately, and the path is rebuilt from the answers alone."""
        return self.rebuilt(self.answers(self.region_of[path], coins), coins)

    def answers(self, regions: Integers, coins: Coins) -> Integers:
        """Two answered regions per location: the only step that looks at the path."""
        answered = np.empty((len(regions), COVERED), np.int64)
        answered[0, 0] = draw_from(self.single_table(int(regions[0])), coins)
        for i in range(len(regions) - 1):
            drawn = draw_from(self.pair_table(int(regions[i]), int(regions[i + 1])).ravel(), coins)
            answered[i, 1], answered[i + 1, 0] = divmod(drawn, len(self.members))
        answered[-1, 1] = draw_from(self.single_table(int(regions[-1])), coins)
        return answered

    def rebuilt(self, answers: Integers, coins: Coins) -> Integers:
        """The path of regions nearest to all answers, each step within reach; a random place of each region."""
        costs = self.distances[answers[:, 0]] + self.distances[answers[:, 1]]
        barred = np.where(self.reachable, 0.0, np.inf)
        before = np.empty(costs.shape, np.int64)
        best = costs[0]
        for i in range(1, len(costs)):
            ways = best[:, None] + barred
            before[i] = ways.argmin(axis=0)
            best = ways[before[i], np.arange(len(best))] + costs[i]
        regions = [int(best.argmin())]
        for i in range(len(costs) - 1, 0, -1):
            regions.append(int(before[i, regions[-1]]))
        return np.array([self.members[region][coins.below(len(self.members[region]))] for region in reversed(regions)], np.int64)

    def compiled(self) -> dict[str, Any]:
        """Regions, who may follow whom, and both lists of weights."""
        return {
            "kind": self.name,
            "regions": self.region_of.tolist(),
            "steps": self.steps.tolist(),
            "reachable": self.reachable.tolist(),
            "pair_weights": self.pair_weights.tolist(),
            "single_weights": self.single_weights.tolist(),
        }
