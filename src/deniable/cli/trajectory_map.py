"""The pictures of `deniable trajectory map`."""

from __future__ import annotations

from typing import Any

from deniable.cli.terminal import counted
from deniable.cli.trajectory_data import PathData
from deniable.core import Mechanism


def path_picture(data: PathData, mechanism: Mechanism, shown: int, locations: int) -> Any:
    """The first true paths, up to so many locations of each (all for 0), and what a collector gets instead."""
    from deniable.charts import path_chart
    from deniable.studies import Paths, perturb

    # A path that stays in one place has no line to draw: those that move go first.
    moving = [path for path in data.paths if len(path) > 1 and (path != path[0]).any()]
    whole = (moving or [path for path in data.paths if len(path)])[:shown]
    some = Paths.of(path[: locations or None] for path in whole)
    cut = f"; the first {locations} locations of each" if some.lengths.sum() < sum(map(len, whole)) else ""
    return path_chart(
        some,
        perturb(some, mechanism),
        shown=shown,
        title=f"True and perturbed paths, ε = {mechanism.privacy} per location",
        subtitle=f"{mechanism.name}; dashed is what the collector gets; dots mark where paths begin{cut}",
        unit=_unit(data),
    )


def density_picture(data: PathData, mechanism: Mechanism, cells: int, *, true: bool, perturbed: bool = False) -> Any:
    """The map a collector estimates from all reports, or the truth on the same cells.

    With `perturbed` the data are reports already, as `deniable trajectory perturb` wrote them.
    """
    from deniable.charts import density_map_chart
    from deniable.studies import density_map, reports_of, true_density

    n = len(data.paths.places)
    if true:
        truth = true_density(data.paths, mechanism, cells)
        return density_map_chart(truth, title="Where people truly are", subtitle=f"{n:,} locations", unit=_unit(data))
    reports = reports_of(data.paths, mechanism) if perturbed else mechanism.randomize_many(data.paths.places)
    density = density_map(reports, cells=cells)
    seen = ", each seen from the centre" if mechanism.name == "tracs-d" else ""
    return density_map_chart(
        density,
        title=f"Where people are, estimated at ε = {mechanism.privacy} per location",
        subtitle=f"{counted(n, 'report')} by {mechanism.name}{seen}",
        unit=_unit(data),
    )


def _unit(data: PathData) -> str:
    return "" if data.city is None else "m"
