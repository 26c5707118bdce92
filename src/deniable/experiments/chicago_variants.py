"""Figure 6.10 with other readings: which paths, which hotspots, which start of TraCS-D, and the baselines as released."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deniable.experiments.artifact import Run
from deniable.experiments.path_variants import STARTS
from deniable.experiments.pictures import significant
from deniable.experiments.released_places import ATP_READINGS, Tables, released_answers
from deniable.experiments.released_walks import Walker, coordinate_reports
from deniable.experiments.walks import EPSILONS, FEW, different_places
from deniable.trajectories import Paths
from deniable.trajectories.places import Places

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
LOW, HIGH, SIDE = (-87.9, 41.6), (-87.5, 42.0), 0.4
NEAR, SHARE = 0.1, 0.2
MOST_SHOWN = 3
SETS = ("first 100 paths", "first 100 paths, different places", "first 1000 paths", "all paths")
RANGE, LOST = "mean RQP of {}, %", "mean CD of {}"


def path_sets(everybody: Paths) -> dict[str, Paths]:
    """The first 100 paths as they are and as lists of places, and paths of more people."""
    first = Paths.of([everybody[i] for i in range(100)])
    some = Paths.of([everybody[i] for i in range(1000)])
    return dict(zip(SETS, (first, different_places(first), some, everybody), strict=True))


def hotspot_sets(everybody: Paths, places: Places) -> dict[str, Flags]:
    """Readings of “the first 20 % frequent locations in the dataset”."""
    first = Paths.of([everybody[i] for i in range(100)])
    visits = np.bincount(places.nearest(everybody.places), minlength=len(places))
    early = np.bincount(places.nearest(first.places), minlength=len(places))
    visitors = np.zeros(len(places), np.int64)
    for path in everybody:
        visitors[np.unique(places.nearest(path))] += 1
    falling = np.sort(visits)[::-1]
    few = int(np.searchsorted(np.cumsum(falling), SHARE * falling.sum())) + 1
    fifth = round(SHARE * len(places))
    return {
        "hotspots by visits": most(visits, fifth),
        "hotspots by visitors": most(visitors, fifth),
        "hotspots of the first 100 paths": most(early, fifth),
        "a fifth of the places of the first 100 paths": most(early, round(SHARE * int((early > 0).sum()))),
        "places with a fifth of all visits": most(visits, few),
    }


def most(counts: Indices, chosen: int) -> Flags:
    """The most frequent ones; ties by position."""
    found = np.zeros(len(counts), np.bool_)
    found[np.argsort(-counts, kind="stable")[:chosen]] = True
    return found


def answers(paths: Paths, tables: Tables, run: Run, purpose: str, wide: bool) -> Iterator[tuple[str, str, list[Indices]]]:
    """Method, what is special about it, and its places for every epsilon; few epsilons and no ATP on many paths."""
    levels, places = EPSILONS if wide else FEW, tables.places
    true = places.nearest(paths.places)

    def rounded(reports: Floats) -> list[Indices]:
        return [places.nearest(one) for one in reports]

    yield "TraCS-C", "", rounded(coordinate_reports(paths, LOW, HIGH, levels, run.keystream(f"{purpose} TraCS-C")))
    for start, words in STARTS.items():
        walker = Walker(start=start)
        yield "TraCS-D", words, rounded(walker.reports(paths, LOW, HIGH, levels, run.keystream(f"{purpose} TraCS-D {start}")))
    for name in ("NGram", "L-SRR"):
        streams = [run.keystream(f"{purpose} {name} {epsilon}") for epsilon in levels]
        found = [released_answers(name, true, tables, SIDE, e, coins) for e, coins in zip(levels, streams, strict=True)]
        yield name, "as released", found
    if wide:
        for reading, how in ATP_READINGS.items():
            streams = [run.keystream(f"{purpose} {reading} {epsilon}") for epsilon in FEW]
            yield "ATP", reading, [how.answers(paths, tables, e, coins) for e, coins in zip(FEW, streams, strict=True)]


def chicago_variants(everybody: Paths, places: Places, run: Run) -> dict[str, dict[str, float]]:
    """By the name of a printed number: what it is with each reading."""
    hot, tables = hotspot_sets(everybody, places), Tables(places)
    found: dict[str, dict[str, float]] = {}
    for taken, paths in path_sets(everybody).items():
        true, own = places.nearest(paths.places), np.repeat(np.arange(len(paths)), paths.lengths)
        wide = taken.startswith("first 100 ")
        for method, special, reported in answers(paths, tables, run, f"figure 6.10 variant {taken}", wide):
            name = f"{taken}{', ' + special if special else ''}"
            near = [np.hypot(*(places.coordinates[one] - paths.places).T) <= NEAR for one in reported]
            means = [100 * np.mean(np.bincount(own, one) / paths.lengths) for one in near]
            ranges = found.setdefault(RANGE.format(method), {})
            ranges[f"{name}, mean of paths"] = significant(float(np.mean(means)), 4)
            ranges[f"{name}, mean of locations"] = significant(100 * float(np.mean(near)), 4)
            for label, busy in hot.items():
                lost = [np.count_nonzero(busy[true] & ~busy[one]) / len(paths) for one in reported]
                found.setdefault(LOST.format(method), {})[f"{name}, {label}"] = significant(float(np.mean(lost)), 4)
    return found


def met_together(variants: dict[str, dict[str, float]], stated: dict[str, float], allowed: float) -> dict[str, float]:
    """For each choice of paths and hotspots: how many of the stated losses it gives at once, with the best start or reading."""
    found: dict[str, float] = {}
    for method, value in stated.items():
        met = set()
        for label, ours in variants[LOST.format(method)].items():
            if abs(ours - value) <= allowed:
                taken = next(name for name in SETS if label.startswith(f"{name}, ") and not label.startswith(f"{name}, different"))
                met.add(f"{taken}; {label.rpartition(', ')[2]}")
        for choice in sorted(met):
            found[f"losses met at once: {choice}"] = found.get(f"losses met at once: {choice}", 0) + 1
    return dict(sorted(found.items(), key=lambda item: -item[1])[:MOST_SHOWN])
