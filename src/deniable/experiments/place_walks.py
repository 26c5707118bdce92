"""Paths over public places: TraCS rounded to them beside NGram, L-SRR and ATP, and what two of those were as released."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.domains import Rectangle
from deniable.experiments.artifact import Run
from deniable.experiments.pictures import significant
from deniable.experiments.walks import Build, Measure, Row, moved, tracs_c, tracs_d
from deniable.mechanisms.spatial.l_srr import LSRR
from deniable.trajectories import Paths, average_error
from deniable.trajectories.baselines import ATP, NGram
from deniable.trajectories.places import Places

Floats = NDArray[np.float64]
ORDER = ["TraCS-C", "TraCS-D", "NGram", "L-SRR", "ATP"]
REACH = 0.75
"""Released candidates of NGram: places within this share of the longer side of the true one."""
GROUPS = (0.3, 0.6)


def contestants(region: Rectangle, places: Places) -> dict[str, Build]:
    """The five methods of Section 6.3.2, all with a certificate that holds."""
    domain = places.domain()
    # The usual groups do not depend on epsilon: they are counted once.
    groups = LSRR(domain=domain, epsilon=1).sizes
    return {
        "TraCS-C": tracs_c(region),
        "TraCS-D": tracs_d(region),
        "NGram": lambda epsilon: NGram(places=places, epsilon=epsilon),
        "L-SRR": lambda epsilon: LSRR(domain=domain, epsilon=epsilon, groups=groups),
        "ATP": lambda epsilon: ATP(places=places, epsilon=epsilon),
    }


def place_rows(
    builds: Mapping[str, Build],
    paths: Paths,
    places: Places,
    epsilons: Sequence[int],
    run: Run,
    purpose: str,
    *,
    measures: Mapping[str, Measure] | None = None,
) -> list[Row]:
    """Metrics after rounding to the nearest place, by mechanism and epsilon; measured with standard errors between paths."""
    asked = {"average_error": average_error} if measures is None else measures
    rows: list[Row] = []
    for done, (name, build) in enumerate(builds.items()):
        for epsilon in epsilons:
            purposed = f"{purpose} {name} {epsilon}"

            def made(name: str = name, build: Build = build, epsilon: int = epsilon, purposed: str = purposed) -> Row:
                private = places.round(moved(build(epsilon), paths, run.keystream(purposed)))
                row: Row = {"mechanism": name, "epsilon": epsilon}
                for metric, measure in asked.items():
                    found = measure(paths, private)
                    row[metric] = significant(found.value, 6)
                    row[f"{metric}_standard_error"] = significant(found.standard_error, 3) if len(paths) > 1 else 0.0
                return row

            rows.append(run.once(purposed, made))
        run.progress(done + 1, len(builds))
    return rows


def released_rows(paths: Paths, places: Places, side: float, epsilons: Sequence[int], most: int = 2000) -> list[Row]:
    """Expected errors of NGram and L-SRR as released, exactly in their answers; neither is ε-LDP.

    NGram there is the exponential mechanism among places within 0.75 of the side from the true one, so an answer says
    where the truth cannot be. L-SRR cuts its groups at distances and takes levels of ratio ε, not e**ε.
    """
    locations = paths.places[:most]
    true = places.coordinates[places.nearest(locations)]
    apart: Floats = np.hypot(*(true[:, None] - places.coordinates[None]).transpose(2, 0, 1))
    diameter = float(np.hypot(*np.ptp(places.coordinates, axis=0)))
    rows: list[Row] = []
    for epsilon in epsilons:
        near = np.exp(-epsilon * apart / (2 * diameter)) * (apart <= REACH * side)
        levels = np.where(apart <= GROUPS[0] * side, epsilon, np.where(apart <= GROUPS[1] * side, (epsilon + 1) / 2, 1.0))
        for name, weights in (("NGram as released", near), ("L-SRR as released", levels)):
            errors = (weights * apart).sum(axis=1) / weights.sum(axis=1)
            rows.append(
                {
                    "mechanism": name,
                    "epsilon": epsilon,
                    "average_error": significant(float(errors.mean()), 6),
                    "average_error_standard_error": significant(float(errors.std() / math.sqrt(len(errors))), 3),
                }
            )
    return rows


def grid_places(side: int) -> Places:
    """side x side equally spaced points of [0, 1): multiples of 1/side."""
    steps = np.arange(side) / side
    return Places(np.stack([np.tile(steps, side), np.repeat(steps, side)], axis=1))
