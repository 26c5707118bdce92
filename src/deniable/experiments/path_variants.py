"""Figures 6.5 and 6.7 with other readings: how long a path is and where it runs, in which order places come, where it begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.experiments.artifact import Run
from deniable.experiments.pictures import significant
from deniable.experiments.released_walks import CENTRE, CORNER, RANDOM, Walker, coordinate_reports, released_sectors
from deniable.experiments.walks import EPSILONS, different_places
from deniable.trajectories import Paths

Floats = NDArray[np.float64]
STARTS = {CORNER: "from a corner", CENTRE: "from the centre", RANDOM: "from a random place"}
LENGTHS = (2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 50, 100)
HEIGHTS = {1e-6: "", 5.0: ", along y = 5"}


def tracs_c_error(paths: Paths, low: Sequence[float], high: Sequence[float], run: Run, purpose: str) -> float:
    """The mean over epsilon of TraCS-C's average error."""
    apart = coordinate_reports(paths, low, high, EPSILONS, run.keystream(purpose)) - paths.places
    own = np.repeat(np.arange(len(paths)), paths.lengths)
    return float(np.mean([np.mean(np.bincount(own, errors) / paths.lengths) for errors in np.hypot(apart[..., 0], apart[..., 1])]))


def short_side_variants(run: Run) -> dict[str, float]:
    """TraCS-D's share of TraCS-C's error on a path along the short side of [0, 2] x [0, 10]."""
    times, found = run.repetitions(200, 1000), {}
    for height, where in HEIGHTS.items():
        for length in LENGTHS:
            one = np.stack([2 * (np.arange(length) + 0.5) / length, np.full(length, height)], axis=1)
            paths = Paths.of([one] * times)
            own = tracs_c_error(paths, (0, 0), (2, 10), run, f"figure 6.5 variant C {length} {height}")
            for start, words in STARTS.items():
                keystream = run.keystream(f"figure 6.5 variant D {length} {height} {start}")
                errors = Walker(start=start).errors(paths, (0, 0), (2, 10), EPSILONS, keystream)
                found[f"{length} locations {words}{where}"] = significant(float(errors.mean()) / own, 4)
    return found


def sorted_by(axis: int) -> Callable[[Paths], Paths]:
    """Each path's different places by one coordinate."""
    return lambda paths: Paths.of([path[np.lexsort((path[:, 1 - axis], path[:, axis]))] for path in different_places(paths)])


ORDERS: dict[str, Callable[[Paths], Paths]] = {
    "different places by first visit": different_places,
    "different places by longitude": sorted_by(0),
    "different places by latitude": sorted_by(1),
    "in time": lambda paths: paths,
}


def order_variants(
    paths: Paths, low: Sequence[float], high: Sequence[float], run: Run, purpose: str
) -> dict[str, dict[str, float]]:
    """TraCS's share of the released strawman's error for every order of places and every start; and for other sectors."""
    found: dict[str, dict[str, float]] = {"TraCS-D": {}, "TraCS-C": {}}
    for order, arranged in ORDERS.items():
        taken = arranged(paths)
        c = tracs_c_error(taken, low, high, run, f"{purpose} {order} C")
        for start, words in STARTS.items():
            for sectors in (6,) if order != "different places by first visit" or start != CORNER else (6, 3, 12):
                name = f"{order}, {words}" + ("" if sectors == 6 else f", {sectors} sectors")
                keystream = run.keystream(f"{purpose} {name}")
                d = Walker(start=start).errors(taken, low, high, EPSILONS, keystream).mean()
                straw = (
                    Walker(start=start, direction=released_sectors(sectors)).errors(taken, low, high, EPSILONS, keystream).mean()
                )
                found["TraCS-D"][name], found["TraCS-C"][name] = significant(float(d / straw), 4), significant(float(c / straw), 4)
    return found
