"""The paths a trajectory command is about: a file or made-up ones, in a plane, with the way back to degrees."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from deniable.core import Interval, Rectangle
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.studies import CityRegion, Paths, Places

OUTSIDE = click.option(
    "--outside",
    type=click.Choice(["refuse", "clip", "drop"]),
    default="refuse",
    show_default=True,
    help="What to do with locations outside the region.",
)
BAD = click.option(
    "--bad",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    show_default=True,
    help="What to do with locations that are not numbers, or not valid degrees.",
)


@dataclass(frozen=True)
class PathData:
    """Paths in plane coordinates, the public region around them, and what was clipped or dropped."""

    paths: Paths
    region: Rectangle
    city: CityRegion | None = None
    clipped: int = 0
    dropped: int = 0
    place_cells: int | None = None
    whole: Paths | None = None

    @property
    def unit(self) -> Any:
        """What the file's coordinates are: degrees or plane."""
        return "plane" if self.city is None else "degrees"

    @property
    def plane_unit(self) -> str:
        """What lengths are measured in."""
        return "the data's unit" if self.city is None else "metres"

    @cached_property
    def places(self) -> Places:
        """All places of the file, or a grid for made-up paths."""
        from deniable.studies import Places

        if self.place_cells is not None:
            sides = (Interval(side.low, side.high, cells=self.place_cells) for side in (self.region.x, self.region.y))
            return Places.grid(Rectangle(*sides))
        return Places.of(self.paths if self.whole is None else self.whole)

    def first(self, most: int) -> PathData:
        """Only the first paths (all for 0); the places stay those of the whole file."""
        if most == 0 or most >= len(self.paths):
            return self
        from deniable.studies import Paths

        starts = self.paths.starts[: most + 1]
        return replace(self, paths=Paths(self.paths.places[: starts[-1]], starts), whole=self.paths)


def load(
    source: str,
    region: str | None,
    outside: Any = "refuse",
    bad: Any = "refuse",
    *,
    place_cells: int = 32,
    perturbed: bool = False,
) -> PathData:
    """Read a file of paths, or make up random:PATHSxLOCATIONS, and bring them into a plane.

    Perturbed places are moved into the plane's rectangle: rounding may have put those on its border beside it.
    """
    if source.startswith("random:"):
        return _made_up(source, region, place_cells)
    from deniable.studies import BoundingBox, CityRegion, Ground, fit_to_rectangle, read_paths

    loaded = read_paths(source, bad=bad)
    if not len(loaded.paths.places):
        raise InvalidParameter(f"{source[-60:]} holds no locations")
    if perturbed and region is not None:
        ground = Ground.parse(region, loaded.unit)
        inside = fit_to_rectangle(loaded.paths.with_places(ground.plane(loaded.paths.places)), ground.rectangle, "clip")
        return PathData(inside.paths, ground.rectangle, ground.city)
    if loaded.unit == "degrees":
        city = CityRegion(BoundingBox.around(loaded.paths) if region is None else BoundingBox.parse(region))
        fitted = city.project(loaded.paths, outside)
        return PathData(fitted.paths, city.rectangle(), city, fitted.clipped, loaded.dropped + fitted.dropped)
    plane = _around(loaded.paths) if region is None else Ground.parse(region, "plane").rectangle
    fitted = fit_to_rectangle(loaded.paths, plane, outside)
    return PathData(fitted.paths, plane, None, fitted.clipped, loaded.dropped + fitted.dropped)


def _made_up(source: str, region: str | None, place_cells: int) -> PathData:
    from deniable.studies import random_paths

    counts = source.removeprefix("random:").split("x")
    if len(counts) != 2 or not all(count.isdecimal() and len(count) < 10 for count in counts):
        raise InvalidParameter("random data is written random:PATHSxLOCATIONS, for example random:100x100")
    if region is not None:
        raise InvalidParameter("--region is for files; random paths lie in the unit square")
    return PathData(random_paths(int(counts[0]), int(counts[1])), Rectangle(), place_cells=place_cells)


def _around(paths: Paths) -> Rectangle:
    low, high = paths.places.min(axis=0), paths.places.max(axis=0)
    if not (low < high).all():
        raise InvalidParameter("the locations lie on one line; give a --region")
    return Rectangle(*(Interval(float(low[i]), float(high[i]), cells=64) for i in range(2)))


@contextmanager
def work_progress(label: str, total: int | None, *, hidden: bool) -> Iterator[Callable[[int], None]]:
    """A bar on standard error where someone is looking; yields a function to advance it."""
    if hidden or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)
