"""What published path perturbations have in common: public places, integer weights, and a budget per location."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.batch import Integers, Keystream, KeystreamCoins, SystemKeystream
from deniable.core import Certificate, Coins, Epsilon, EpsilonLike, exp_ceil, fingerprint
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.places import Places

STEPS = 1 << 10
"""Distances are rounded down to so many parts of the places' diameter."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PathBaseline(ABC):
    """A randomised map from paths over public places to such paths.

    `epsilon` is per location: two paths that differ in one location are told apart at most that well, paths of n
    locations at most n times that. Every draw is coins.below(n) against public integer weights. How many coins a
    draw takes may depend on the row's total: use these for comparison, not on people's devices.
    """

    places: Places
    epsilon: EpsilonLike
    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    _privacy: Epsilon = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_privacy", Epsilon(self.epsilon))
        if len(self.places) < 2:
            raise InvalidParameter(f"places: {self.name} needs at least two places")

    @property
    def privacy(self) -> Epsilon:
        """epsilon as an exact number."""
        return self._privacy

    @abstractmethod
    def perturb_path(self, path: Integers, coins: Coins) -> Integers:
        """One path of place numbers; the length is public."""

    @abstractmethod
    def location_ratio(self) -> Fraction:
        """What all draws that look at one location can change, multiplied: composition by integers."""

    @abstractmethod
    def compiled(self) -> dict[str, Any]:
        """The integers behind the draws."""

    def certificate(self) -> Certificate:
        """The claim per location, decided by integers."""
        recipe = {"mechanism": self.name, "epsilon": str(self.privacy.exact)}
        return Certificate(
            mechanism=self.name,
            fingerprint=fingerprint(recipe, self.compiled()),
            epsilon=self.privacy,
            ratio=self.location_ratio(),
        )

    def perturb(self, paths: Paths, *, keystream: Keystream | None = None, progress: Callable[[int], None] | None = None) -> Paths:
        """Every location is moved to its nearest place first; `progress` hears how many locations are done."""
        coins = KeystreamCoins(SystemKeystream() if keystream is None else keystream)
        numbers = self.places.nearest(paths.places)
        out = np.empty(len(numbers), np.int64)
        for start, end in zip(paths.starts[:-1], paths.starts[1:], strict=True):
            if end > start:
                out[start:end] = self.perturb_path(numbers[start:end], coins)
            if progress is not None:
                progress(int(end - start))
        return paths.with_places(self.places.coordinates[out])


def falling_weights(bits: int, epsilon: Fraction) -> Integers:
    """Weights of distances 0 … STEPS from 2**bits down to 2**bits * e**-epsilon: no two differ by more than e**epsilon.

    Rounded up, so that even the first over the last stays within it.
    """
    return np.array([exp_ceil(1 << bits, -epsilon * step / STEPS) for step in range(STEPS + 1)], np.int64)


def extremes(weights: Integers) -> Fraction:
    """The largest weight over the smallest."""
    return Fraction(int(weights[0]), int(weights[-1]))


def draw_from(weights: Integers, coins: Coins) -> int:
    """A position with probability proportional to its integer weight."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, coins.below(int(sums[-1])), side="right"))
