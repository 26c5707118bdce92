"""The experiments of chapter 6 once more with the setting of the released programs: their paths, starts, averages and faults.

Read in github.com/ZhengYeah/TraCS b386a50, experiments. Every function gives, for each method, a number for each ε = 2, 4, …, 10.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Floats
from deniable.studies import Paths
from deniable_reproduce.artifact import Run
from deniable_reproduce.released_data import GRID
from deniable_reproduce.released_paths import ReleasedCity
from deniable_reproduce.released_places import METHODS, Space, released_answers
from deniable_reproduce.released_walks import (
    Walker,
    coordinate_reports,
    path_errors,
    released_sectors,
    released_square_wave_direction,
    square_wave_distance,
    with_head,
)
from deniable_reproduce.walks import random_walks, uniforms

Columns = dict[str, list[float]]
Indices = NDArray[np.int64]
UNIT = ((0.0, 0.0), (1.0, 1.0))
SHORT_SIDE = np.stack([np.arange(1, 10) / 5, np.ones(9)], axis=1)
"""The path of Figure 6.5: nine locations on y = 1."""
STRAWMAN = Walker(direction=released_sectors(6))
SQUARE_WAVE = Walker(direction=released_square_wave_direction, distance=square_wave_distance)
NEAR, SHARE = 0.1, 0.2


def random_path_errors(run: Run, width: float, height: float, paths: int, purpose: str) -> Columns:
    """Figure 6.4: from (0, 0), a dummy head counted for TraCS-D and the strawman, which walks beside TraCS-D's reports."""
    walks = random_walks(paths, 100, run.keystream(f"{purpose} paths"), width, height)
    box = ((0.0, 0.0), (width, height))
    own, straw = Walker().reports_beside((STRAWMAN,), walks, *box, GRID, run.keystream(f"{purpose} D"))
    return {
        "TraCS-D": with_head(path_errors(own, walks), 100).tolist(),
        "strawman": with_head(path_errors(straw, walks), 100).tolist(),
        "TraCS-C": path_errors(coordinate_reports(walks, *box, GRID, run.keystream(f"{purpose} C")), walks).tolist(),
    }


def short_side_errors(run: Run, times: int) -> Columns:
    """Figure 6.5: nine locations from (0, 0); TraCS-D's average counts the dummy head, TraCS-C's does not."""
    paths, box = Paths.of([SHORT_SIDE] * times), ((0.0, 0.0), (2.0, 10.0))
    return {
        "TraCS-D": with_head(Walker().errors(paths, *box, GRID, run.keystream("figure 6.5 released D")), 9).tolist(),
        "TraCS-C": path_errors(coordinate_reports(paths, *box, GRID, run.keystream("figure 6.5 released C")), paths).tolist(),
    }


def square_wave_errors(run: Run, paths: int) -> Columns:
    """Figure D.5: from (0, 0), the dummy head counted for both, and an arc that is drawn too rarely."""
    walks = random_walks(paths, 100, run.keystream("figure D.5 released paths"))
    walkers = {"TraCS-D": Walker(), "TraCS-D (R-SW)": SQUARE_WAVE}
    streams = {name: run.keystream(f"figure D.5 released {name}") for name in walkers}
    return {name: with_head(one.errors(walks, *UNIT, GRID, streams[name]), 100).tolist() for name, one in walkers.items()}


def city_errors(run: Run, city: str, times: int) -> Columns:
    """Figure 6.7: the sorted lists of places of the first 100 people, from the corner of the file's box; in degrees."""
    released = ReleasedCity.of(run, city)
    paths = released.taken(0, 100, times)
    purpose = f"figure 6.7 released {city}"
    reports = {
        "TraCS-D": Walker().reports(paths, *UNIT, GRID, run.keystream(f"{purpose} D")),
        "strawman": STRAWMAN.reports(paths, *UNIT, GRID, run.keystream(f"{purpose} strawman")),
        "TraCS-C": coordinate_reports(paths, *UNIT, GRID, run.keystream(f"{purpose} C")),
    }
    return {name: path_errors(one, paths, released.span.tolist()).tolist() for name, one in reports.items()}


def grid_errors(run: Run, side: int, paths: int) -> tuple[Columns, Columns]:
    """Figure 6.8: (side + 1)² points up to both ends, TraCS rounded down; and TraCS once more rounded to the nearest point."""
    steps = np.arange(side + 1) / side
    space = Space.of([(x, y) for x in steps for y in steps])
    purpose = f"figure 6.8 released {side}"
    points = np.round(uniforms(200 * paths, run.keystream(f"{purpose} paths")).reshape(-1, 2) * side) / side
    walks = Paths(points, 100 * np.arange(paths + 1))
    true = space.nearest(points)
    columns = {
        name: [_apart(space, given, points) for given in _answers(run, name, true, walks.lengths, space, purpose)]
        for name in METHODS
    }
    nearest: Columns = {}
    for name, reports in _reports(run, walks, purpose).items():
        columns[name] = path_errors(np.floor(reports * side) / side, walks).tolist()
        nearest[name] = path_errors(np.round(reports * side) / side, walks).tolist()
    return columns, nearest


def chicago_metrics(run: Run, times: int) -> dict[str, Columns]:
    """Figures 6.9 and 6.10: paths 100 to 200 of Chicago and their own hotspots, by four metrics.

    `difference` is the released one: by how much the number of locations in hotspots changes, so that one that moves into a hotspot
    makes up for one that leaves. `lost` is the text's: locations in hotspots whose report is in none.
    """
    city = ReleasedCity.of(run, "chicago")
    paths = city.taken(100, 200, times)
    space, true = city.space, city.space.nearest(paths.places)
    hot = most_frequent(true, len(space))
    purpose = "figure 6.10 released"
    answers = {name: [space.nearest(one) for one in reports] for name, reports in _reports(run, paths, purpose).items()}
    answers |= {name: _answers(run, name, true, paths.lengths, space, purpose) for name in METHODS}
    own = np.repeat(np.arange(len(paths)), paths.lengths)

    def totals(weights: NDArray[np.generic]) -> Floats:
        return np.asarray(np.bincount(own, weights=weights.astype(np.float64), minlength=len(paths)), np.float64)

    metrics: dict[str, Columns] = {metric: {} for metric in ("error", "range", "difference", "lost")}
    for name, given in answers.items():
        apart = [np.hypot(*((space.coordinates[one] - paths.places) * city.span).T) for one in given]
        metrics["error"][name] = [float(np.mean(totals(one) / paths.lengths)) for one in apart]
        metrics["range"][name] = [float(np.mean(totals(one <= NEAR) / paths.lengths)) for one in apart]
        metrics["difference"][name] = [float(np.mean(np.abs(totals(hot[one]) - totals(hot[true])))) for one in given]
        metrics["lost"][name] = [float(np.mean(totals(hot[true] & ~hot[one]))) for one in given]
    return metrics


def most_frequent(visits: Indices, places: int) -> NDArray[np.bool_]:
    """A fifth of the places that are visited: those visited most, and of equal ones the first visited."""
    counts = np.bincount(visits, minlength=places)
    different, first = np.unique(visits, return_index=True)
    order = different[np.lexsort((first, -counts[different]))]
    frequent = np.zeros(places, np.bool_)
    frequent[order[: int(SHARE * len(different))]] = True
    return frequent


def _reports(run: Run, paths: Paths, purpose: str) -> dict[str, Floats]:
    return {
        "TraCS-C": coordinate_reports(paths, *UNIT, GRID, run.keystream(f"{purpose} C")),
        "TraCS-D": Walker().reports(paths, *UNIT, GRID, run.keystream(f"{purpose} D")),
    }


def _answers(run: Run, name: str, true: Indices, lengths: Indices, space: Space, purpose: str) -> list[Indices]:
    streams = [run.keystream(f"{purpose} {name} {epsilon}") for epsilon in GRID]
    return [released_answers(name, true, lengths, space, e, coins) for e, coins in zip(GRID, streams, strict=True)]


def _apart(space: Space, given: Indices, points: Floats) -> float:
    return float(np.hypot(*(space.coordinates[given] - points).T).mean())


def column_ratio(columns: Columns, one: str, other: str) -> float:
    """The mean error of one method as a share of another's."""
    return float(sum(columns[one]) / sum(columns[other]))
