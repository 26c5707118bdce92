"""Figure 6.8 with other readings: where the points lie, how TraCS is rounded to them, how ATP divides ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.batch.sampler import uniform_below
from deniable.experiments.artifact import Run
from deniable.experiments.pictures import significant
from deniable.experiments.place_walks import grid_places, released_rows
from deniable.experiments.released_places import ATP_READINGS, Tables
from deniable.experiments.released_walks import Walker, coordinate_reports
from deniable.experiments.walks import EPSILONS, FEW, mean_error, uniforms
from deniable.trajectories import Paths
from deniable.trajectories.places import Places

Floats = NDArray[np.float64]
Rounding = Callable[[Floats], Floats]
NEAREST, DOWN, UP = "rounded to the nearest point", "rounded down to a point", "rounded up to a point"
TRACS = ("TraCS-C", "TraCS-D")


def to_nearest(places: Places) -> Rounding:
    """Every report to the place nearest to it."""
    return lambda found: places.coordinates[places.nearest(found.reshape(-1, 2))].reshape(found.shape)


def placements(side: int, run: Run) -> dict[str, tuple[Places, Rounding]]:
    """Ways to lay side x side points and to round to them."""
    usual = grid_places(side)
    middles = Places(usual.coordinates + 0.5 / side)
    whole = Places(usual.coordinates * side / (side - 1))
    anywhere = Places(uniforms(2 * side * side, run.keystream(f"figure 6.8 places {side}")).reshape(-1, 2))
    return {
        NEAREST: (usual, to_nearest(usual)),
        DOWN: (usual, lambda found: np.floor(found * side) / side),
        UP: (usual, lambda found: np.minimum(np.ceil(found * side), side - 1) / side),
        "not rounded": (usual, lambda found: found),
        "points in the middles of cells": (middles, to_nearest(middles)),
        "points up to both ends": (whole, to_nearest(whole)),
        "points at random": (anywhere, to_nearest(anywhere)),
    }


def walks_over(places: Places, paths: int, run: Run, purpose: str) -> Paths:
    """Random paths of 100 points."""
    chosen = uniform_below(len(places), 100 * paths, run.keystream(purpose))
    return Paths(places.coordinates[chosen], 100 * np.arange(paths + 1))


def tracs_errors(paths: Paths, rounding: Rounding, epsilons: Sequence[int], run: Run, purpose: str) -> dict[str, float]:
    """Mean errors over epsilon of both, TraCS-D from a corner as released."""
    reports = {
        TRACS[0]: coordinate_reports(paths, (0, 0), (1, 1), epsilons, run.keystream(f"{purpose} C")),
        TRACS[1]: Walker().reports(paths, (0, 0), (1, 1), epsilons, run.keystream(f"{purpose} D")),
    }
    return {name: float(np.hypot(*np.moveaxis(rounding(found) - paths.places, -1, 0)).mean()) for name, found in reports.items()}


def grid_variants(panel: str, side: int, run: Run) -> dict[str, dict[str, float]]:
    """By the name of a printed ratio: what it is with each reading."""
    found: dict[str, dict[str, float]] = {f"{one} / {other}, {panel}": {} for one in TRACS for other in ("NGram", "L-SRR", "ATP")}
    for label, (places, rounding) in placements(side, run).items():
        purpose = f"figure 6.8{panel} variant {label}"
        paths = walks_over(places, run.repetitions(40, 100), run, purpose)
        errors = tracs_errors(paths, rounding, EPSILONS, run, purpose)
        rows = released_rows(paths, places, 1.0, EPSILONS, most=run.repetitions(400, 4000))
        for one in TRACS:
            for other in ("NGram", "L-SRR"):
                value = errors[one] / mean_error(rows, f"{other} as released")
                found[f"{one} / {other}, {panel}"][f"{other} as released, {label}"] = significant(value, 4)
    for label, value in atp_variants(panel, side, run).items():
        name, _, reading = label.partition("|")
        found[f"{name} / ATP, {panel}"][reading] = significant(value, 4)
    return found


def atp_variants(panel: str, side: int, run: Run) -> dict[str, float]:
    """TraCS's share of the error of every reading of ATP, by nearest and by one-sided rounding."""
    places = grid_places(side)
    paths = walks_over(places, run.repetitions(20 if side <= 10 else 4, 100 if side <= 10 else 20), run, f"figure 6.8{panel} ATP")
    found, tables = {}, Tables(places)
    rounded = {label: placements(side, run)[label][1] for label in (NEAREST, UP)}
    many = walks_over(places, run.repetitions(40, 100), run, f"figure 6.8{panel} beside ATP")
    errors = {label: tracs_errors(many, one, FEW, run, f"figure 6.8{panel} beside ATP") for label, one in rounded.items()}
    for reading, how in ATP_READINGS.items():
        theirs = []
        for epsilon in FEW:
            answers = how.answers(paths, tables, epsilon, run.keystream(f"figure 6.8{panel} {reading} {epsilon}"))
            theirs.append(float(np.hypot(*(places.coordinates[answers] - paths.places).T).mean()))
        for label, own in errors.items():
            for one in TRACS:
                found[f"{one}|{reading}, TraCS {label}"] = own[one] / float(np.mean(theirs))
    return found
