"""The pictures of `deniable trajectory map`."""

from __future__ import annotations

from typing import Any

from deniable.cli.trajectory_data import PathData
from deniable.errors import NotSupported
from deniable.mechanisms import Mechanism

NAMES = {"nearest-cells": "disc"}


def path_picture(data: PathData, mechanism: Mechanism, shown: int) -> Any:
    """The first true paths and what a collector gets instead."""
    from deniable.charts.trajectories import path_chart
    from deniable.trajectories.paths import Paths
    from deniable.trajectories.perturb import perturb

    # A path that stays in one place has no line to draw: those that move go first.
    moving = [path for path in data.paths if len(path) > 1 and (path != path[0]).any()]
    some = Paths.of((moving or [path for path in data.paths if len(path)])[:shown])
    return path_chart(
        some,
        perturb(some, mechanism),
        shown=shown,
        title=f"True and perturbed paths, ε = {mechanism.privacy} per location",
        subtitle=f"{_name(mechanism)}; dashed is what the collector gets; dots mark where paths begin",
        unit=_unit(data),
    )


def density_picture(data: PathData, mechanism: Mechanism, cells: int, *, true: bool) -> Any:
    """The map a collector estimates from all reports, or the truth on the same cells."""
    from deniable.charts.trajectories import density_map_chart
    from deniable.trajectories.density import density_map
    from deniable.trajectories.true_density import true_density

    if mechanism.name == "tracs-d":
        raise NotSupported("density maps are estimated from disc or tracs-c; tracs-d sees every place from another reference")
    n = len(data.paths.places)
    if not true:
        found = density_map(mechanism.randomize_many(data.paths.places), cells=cells)
        title = f"Where people are, estimated at ε = {mechanism.privacy} per location"
        return density_map_chart(found, title=title, subtitle=f"{n:,} reports by {_name(mechanism)}", unit=_unit(data))
    truth = true_density(data.paths, mechanism, cells)
    return density_map_chart(truth, title="Where people truly are", subtitle=f"{n:,} locations", unit=_unit(data))


def _name(mechanism: Mechanism) -> str:
    return NAMES.get(mechanism.name, mechanism.name)


def _unit(data: PathData) -> str:
    return "" if data.city is None else "m"
