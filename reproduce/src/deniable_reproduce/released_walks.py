"""TraCS-D and its strawman as other readings of the text have them: other starts, other samplers, faults included.

These are simulations of what a source may have run, in plain numbers and on recorded randomness. They are not mechanisms:
nothing here is certified, and some of it is not private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.batch import Floats, Keystream
from deniable.studies import Paths
from deniable_reproduce.walks import uniforms

Sampler = Callable[[Floats, Floats, Floats, Floats], Floats]
"""From true values, epsilons and two uniform numbers each to reports: directions in turns, distances in shares of the way."""
TURN = 2 * math.pi
PUBLISHED_SPLIT = math.pi / (math.pi + 1)
CORNER, CENTRE, RANDOM = "corner", "centre", "random place"


def around(turns: Floats, width: Floats, chance: Floats, first: Floats, second: Floats) -> Floats:
    """Near a direction with this chance, in an arc of this width; elsewhere otherwise."""
    away = np.where(first < chance, (second - 0.5) * width, 0.5 * width + second * (1 - width))
    return (turns + away) % 1.0


def along(shares: Floats, width: Floats, chance: Floats, first: Floats, second: Floats) -> Floats:
    """Near a number of [0, 1] with this chance, in a window that slides inside; elsewhere otherwise."""
    begin = np.clip(shares - width / 2, 0.0, 1 - width)
    outside = second * (1 - width)
    return np.where(first < chance, begin + second * width, np.where(outside < begin, outside, outside + width))


def ogpm_parts(epsilons: Floats) -> tuple[Floats, Floats]:
    """Width and chance of Theorems 7 and 8."""
    half = np.exp(epsilons / 2)
    return 1 / (half + 1), half / (half + 1)


def sw_parts(epsilons: Floats) -> tuple[Floats, Floats]:
    """Width and chance of Definitions 21 and 22."""
    grown = np.exp(epsilons)
    width = (grown * (epsilons - 1) + 1) / (grown - 1) ** 2
    return width, width * (grown - 1) / epsilons


def direction_window(turns: Floats, epsilons: Floats, first: Floats, second: Floats) -> Floats:
    """Definition 9: a direction reported by a window on the circle."""
    return around(turns, *ogpm_parts(epsilons), first, second)


def distance_window(shares: Floats, epsilons: Floats, first: Floats, second: Floats) -> Floats:
    """Definition 10: a share of the largest distance reported by a window on [0, 1]."""
    return along(shares, *ogpm_parts(epsilons), first, second)


def released_sectors(sectors: int) -> Sampler:
    """The released randomized response on sectors: it lies with probability 1 / (k - 1 + e**epsilon) in all.

    A lie is any of the numbers 0 to k but the own one, and k is the sector 0 once more.
    """

    def sampled(turns: Floats, epsilons: Floats, first: Floats, second: Floats) -> Floats:
        lie = 1 / (sectors - 1 + np.exp(epsilons))
        own = np.floor(turns * sectors)
        other = np.floor(np.minimum(first / lie, 1 - 1e-12) * sectors)
        told = np.where(first < lie, other + (other >= own), own)
        return np.asarray((told + second) / sectors % 1.0, np.float64)

    return sampled


def square_wave_direction(turns: Floats, epsilons: Floats, first: Floats, second: Floats) -> Floats:
    """Definition 21: a direction reported by a square wave on the circle."""
    return around(turns, *sw_parts(epsilons), first, second)


def released_square_wave_direction(turns: Floats, epsilons: Floats, first: Floats, second: Floats) -> Floats:
    """Definition 21 as released: the arc is drawn with probability p·2s where p·2πs is meant."""
    width, chance = sw_parts(epsilons)
    return around(turns, width, chance / math.pi, first, second)


def square_wave_distance(shares: Floats, epsilons: Floats, first: Floats, second: Floats) -> Floats:
    """Definition 22 with the cases on the input, as released."""
    return along(shares, *sw_parts(epsilons), first, second)


@dataclass(frozen=True)
class Walker:
    """How every location is reported from the report before: samplers, the split of epsilon, and where a path begins."""

    direction: Sampler = direction_window
    distance: Sampler = distance_window
    split: float = PUBLISHED_SPLIT
    start: str = CORNER

    def errors(
        self, paths: Paths, low: Sequence[float], high: Sequence[float], epsilons: Sequence[float], keystream: Keystream
    ) -> Floats:
        """The average error for every epsilon: the mean over a path, then over the paths."""
        return path_errors(self.reports(paths, low, high, epsilons, keystream), paths)

    def reports(
        self, paths: Paths, low: Sequence[float], high: Sequence[float], epsilons: Sequence[float], keystream: Keystream
    ) -> Floats:
        """Reports of all locations, first by epsilon; all epsilons and paths walk at once."""
        return self.reports_beside((), paths, low, high, epsilons, keystream)[0]

    def reports_beside(
        self,
        others: Sequence[Walker],
        paths: Paths,
        low: Sequence[float],
        high: Sequence[float],
        epsilons: Sequence[float],
        keystream: Keystream,
    ) -> list[Floats]:
        """Its own reports, then those of others that take this one's reports as their references."""
        lower, size = np.asarray(low, np.float64), np.asarray(high, np.float64) - np.asarray(low, np.float64)
        levels, count = len(epsilons), len(paths)
        starts = np.cumsum(paths.lengths) - paths.lengths
        places = [np.empty((levels, len(paths.places), 2)) for _ in range(1 + len(others))]
        at = self._begin(levels * count, size, keystream).reshape(levels, count, 2)
        grown = np.repeat(np.asarray(epsilons, np.float64), count).reshape(levels, count)
        for step in range(int(paths.lengths.max())):
            walking = np.flatnonzero(paths.lengths > step)
            here = starts[walking] + step
            true, before = paths.places[here] - lower, at[:, walking]
            for walker, reported in zip((self, *others), places, strict=True):
                reported[:, here] = walker._answers(true, before, grown[:, walking], size, keystream) + lower
            at[:, walking] = places[0][:, here] - lower
        return places

    def _answers(self, true: Floats, before: Floats, grown: Floats, size: Floats, keystream: Keystream) -> Floats:
        """One report for every epsilon and path, from where each of them stands."""
        coins = uniforms(4 * grown.size, keystream).reshape(4, *grown.shape)
        share = grown * self.split
        way = true[None] - before
        turns = np.arctan2(way[..., 1], way[..., 0]) / TURN % 1.0
        told = self.direction(turns, share, coins[0], coins[1])
        part = np.minimum(np.hypot(way[..., 0], way[..., 1]) / border(before, turns, size), 1.0)
        moved = self.distance(part, grown - share, coins[2], coins[3]) * border(before, told, size)
        away = np.stack([np.cos(TURN * told), np.sin(TURN * told)], axis=-1) * moved[..., None]
        return np.asarray(np.clip(before + away, 0.0, size), np.float64)

    def _begin(self, rows: int, size: Floats, keystream: Keystream) -> Floats:
        if self.start == RANDOM:
            return uniforms(2 * rows, keystream).reshape(rows, 2) * size
        return np.tile(size / 2 if self.start == CENTRE else np.zeros(2), (rows, 1))


def border(places: Floats, turns: Floats, size: Floats) -> Floats:
    """How far the border of [0, width] x [0, height] is from places, in a direction: the slab rule."""
    way = np.stack([np.cos(TURN * turns), np.sin(TURN * turns)], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(way > 0, (size - places) / way, np.where(way < 0, -places / way, np.inf))
    return np.asarray(np.maximum(reach.min(axis=-1), 1e-12), np.float64)


def coordinate_reports(
    paths: Paths, low: Sequence[float], high: Sequence[float], epsilons: Sequence[float], keystream: Keystream
) -> Floats:
    """TraCS-C's reports in the same plain numbers, first by epsilon."""
    lower, size = np.asarray(low, np.float64), np.asarray(high, np.float64) - np.asarray(low, np.float64)
    shares = np.broadcast_to((paths.places - lower) / size, (len(epsilons), len(paths.places), 2))
    half = np.broadcast_to(np.asarray(epsilons, np.float64)[:, None, None] / 2, shares.shape)
    coins = uniforms(2 * shares.size, keystream).reshape(2, *shares.shape)
    return np.asarray(lower + distance_window(shares, half, coins[0], coins[1]) * size, np.float64)


def path_errors(reports: Floats, paths: Paths, scale: Sequence[float] = (1.0, 1.0)) -> Floats:
    """The average error for every epsilon: the mean over a path, then over the paths; each coordinate in its own unit."""
    apart = (reports - paths.places) * np.asarray(scale, np.float64)
    distances: Floats = np.hypot(apart[..., 0], apart[..., 1])
    own = np.repeat(np.arange(len(paths)), paths.lengths)
    return np.array([np.mean(np.bincount(own, weights=one) / paths.lengths) for one in distances])


def with_head(errors: Floats, locations: int) -> Floats:
    """Errors as averaged over a dummy first location as well, whose error is 0."""
    return errors * locations / (locations + 1)
