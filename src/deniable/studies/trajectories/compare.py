"""All mechanisms for paths side by side: errors, what survives, time per location, and whether the promise holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deniable.core import Epsilon, EpsilonLike, Rectangle
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.alignment import dynamic_time_warping, frechet_distance
from deniable.studies.trajectories.baselines.contestants import Contestant, applicable, contestant
from deniable.studies.trajectories.metrics import (
    Hotspots,
    average_error,
    direction_error,
    hotspot_count_difference,
    range_query_preservation,
)
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.places import Places
from deniable.studies.trajectories.regions import fit_to_rectangle

RUNS, LONG = 4, 1.0
"""A mechanism runs so many times and the best time counts, unless a run takes longer than a second."""

RANGE_SHARE = 0.1
"""A location counts as kept when it stays within this share of the region's longer side."""


@dataclass(frozen=True)
class Comparison:
    """One mechanism at one epsilon (per location). Errors are averages over paths, with their standard errors.

    `setup_seconds` is what building the mechanism took, once; `microseconds_per_location` is without that.
    `average_error_at_places` is the error after rounding to the nearest place. `range_query` is a percentage and
    `direction_error` is in radians; the others are in the unit of the paths.
    """

    mechanism: str
    epsilon: float
    space: str
    average_error: float
    average_error_standard_error: float
    average_error_at_places: float
    average_error_at_places_standard_error: float
    range_query: float
    hotspot: float
    direction_error: float
    dtw: float
    frechet: float
    microseconds_per_location: float
    setup_seconds: float
    places: int
    paths: int
    locations: int
    holds: bool
    epsilon_exact: float

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self)


def compare(
    paths: Paths,
    region: Rectangle,
    epsilons: Iterable[EpsilonLike],
    *,
    mechanisms: Sequence[str] | None = None,
    places: Places | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> list[Comparison]:
    """A row per mechanism and epsilon, on true paths: for choosing a mechanism with public or made-up data.

    The mechanisms run on system randomness, so the numbers move within their standard errors. `places` are public; left
    out, they are all the places of the paths. `mechanisms`, left out, are all that can handle so many places.
    `progress` hears the mechanism's name and how many locations are done.
    """
    fit_to_rectangle(paths, region)
    if not len(paths.places):
        raise InvalidParameter("there must be at least one location to compare mechanisms on")
    known = Places.of(paths) if places is None else places
    names = applicable(known) if mechanisms is None else list(mechanisms)
    levels = [Epsilon(epsilon) for epsilon in epsilons]
    if not names or not levels:
        raise InvalidParameter("there must be at least one mechanism and one epsilon")
    hotspots = _hotspots(paths, known)
    rows = []
    for level in levels:
        for name in names:
            start = time.perf_counter()
            entrant = contestant(name, region, known, level)
            setup = time.perf_counter() - start
            done, seconds = _timed(entrant, paths, progress)
            rows.append(_measured(entrant, level, paths, done, (setup, seconds), region, known, hotspots))
    return rows


def _hotspots(paths: Paths, places: Places) -> Hotspots:
    """The fifth of the places that most locations are nearest to, as in the dissertation."""
    counts = np.bincount(places.nearest(paths.places), minlength=len(places))
    busy = np.zeros(len(places), np.bool_)
    busy[np.argsort(-counts, kind="stable")[: max(1, round(len(places) / 5))]] = True
    return Hotspots(places.coordinates, busy)


def _timed(entrant: Contestant, paths: Paths, progress: Callable[[str, int], None] | None) -> tuple[Paths, float]:
    """Perturbed paths, and the best time of a few runs where runs are quick."""

    def advance(count: int) -> None:
        if progress is not None:
            progress(entrant.name, count)

    entrant.perturb(Paths.of([paths.places[:2]]))  # compiles what has to be compiled, once
    best, runs = float("inf"), 0
    while runs < RUNS and (runs == 0 or best < LONG):
        start = time.perf_counter()
        done = entrant.perturb(paths, advance if runs == 0 else None)
        best, runs = min(best, time.perf_counter() - start), runs + 1
    return done, best


def _measured(
    entrant: Contestant,
    level: Epsilon,
    true: Paths,
    done: Paths,
    seconds: tuple[float, float],
    region: Rectangle,
    places: Places,
    hotspots: Hotspots,
) -> Comparison:
    certificate = entrant.certificate()
    error, rounded = average_error(true, done), average_error(true, places.round(done))
    side = float(max(region.x.width, region.y.width))
    return Comparison(
        mechanism=entrant.name,
        epsilon=float(level),
        space=entrant.space,
        average_error=error.value,
        average_error_standard_error=error.standard_error,
        average_error_at_places=rounded.value,
        average_error_at_places_standard_error=rounded.standard_error,
        range_query=range_query_preservation(true, done, RANGE_SHARE * side).value,
        hotspot=hotspot_count_difference(true, done, hotspots).value,
        direction_error=direction_error(true, done).value,
        dtw=dynamic_time_warping(true, done).value,
        frechet=frechet_distance(true, done).value,
        microseconds_per_location=seconds[1] * 1e6 / len(true.places),
        setup_seconds=seconds[0],
        places=len(places),
        paths=len(true),
        locations=len(true.places),
        holds=certificate.holds,
        epsilon_exact=certificate.epsilon_exact,
    )
