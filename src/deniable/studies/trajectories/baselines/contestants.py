"""Everything that can perturb a path here, under one name each: built for a region, a list of places and an epsilon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.batch import Floats, Integers, SystemKeystream, encode_many, sampler_for
from deniable.core import MOST_L_SRR, MOST_NEAREST_PLACES, Epsilon, Interval, Mechanism, Rectangle, make_mechanism
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.baselines.atp import ATP
from deniable.studies.trajectories.baselines.base import PathBaseline
from deniable.studies.trajectories.baselines.ngram import NGram
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.perturb import perturb
from deniable.studies.trajectories.places import Places

if TYPE_CHECKING:
    from deniable.core import Certificate

Progress = Callable[[int], None]
Run = Callable[[Paths, Progress | None], Paths]
Build = Callable[[Rectangle, Places, Epsilon], "Contestant"]
FINE, NEAREST, COARSE = 1 << 13, 1 << 8, 24
"""Cells on the longer side: of continuous space, of nearest-cells, and of tables that hold all pairs of cells."""


@dataclass(frozen=True)
class Contestant:
    """A way to perturb paths, what it promises, and where its answers lie: anywhere in the region, or at places."""

    name: str
    space: str
    recipe: Mechanism | PathBaseline
    run: Run

    def certificate(self) -> Certificate:
        """The promise per location, decided by integers."""
        return self.recipe.certificate()

    def perturb(self, paths: Paths, progress: Progress | None = None) -> Paths:
        """The same paths with perturbed locations, from the system's randomness; `progress` hears locations done."""
        if isinstance(self.recipe, PathBaseline):
            return self.run(paths, progress)
        done = self.run(paths, None)
        if progress is not None:
            progress(len(paths.places))
        return done


def regridded(region: Rectangle, cells: int) -> Rectangle:
    """The same rectangle with `cells` cells on its longer side, as square as they can be.

    >>> wide = regridded(Rectangle(Interval(0, 2, cells=8), Interval(0, 1, cells=8)), 64)
    >>> wide.x.cells, wide.y.cells
    (64, 32)
    """
    longer = max(region.x.width, region.y.width)
    counts = [max(2, round(cells * side.width / longer)) for side in (region.x, region.y)]
    sides = zip((region.x, region.y), counts, strict=True)
    return Rectangle(*(Interval(side.low, side.high, cells=count) for side, count in sides))


def in_bulk(mechanism: Mechanism, answers: Floats, inputs: Callable[[Paths], Integers]) -> Run:
    """Every location by itself, from a sampler that is made ready once; output i stands for answers[i]."""
    sampler = sampler_for(mechanism.channel)

    def run(paths: Paths, progress: Progress | None) -> Paths:
        indices, keystream = inputs(paths), SystemKeystream()
        outputs = sampler.allocate(len(indices))
        for start in range(0, len(indices), sampler.chunk):
            sampler.draw(indices[start : start + sampler.chunk], outputs[start : start + sampler.chunk], keystream)
        return paths.with_places(answers[outputs.astype(np.int64)])

    return run


def on_cells(name: str, registered: str, cells: int) -> Build:
    """A registered mechanism that answers with one of the region's cells (or of the corners between them)."""

    def build(region: Rectangle, places: Places, epsilon: Epsilon) -> Contestant:
        grid = regridded(region, cells)
        mechanism: Mechanism = make_mechanism(registered, domain=grid, epsilon=epsilon)
        answers = Places.grid(grid).coordinates
        if mechanism.channel.outputs != grid.size:
            answers = np.array([mechanism.decode(output) for output in range(mechanism.channel.outputs)])
        return Contestant(
            name, "region", mechanism, in_bulk(mechanism, answers, lambda paths: encode_many(mechanism, paths.places))
        )

    return build


def on_region(name: str, registered: str) -> Build:
    """A registered mechanism that answers with a point of a fine lattice, one path after the other."""

    def build(region: Rectangle, places: Places, epsilon: Epsilon) -> Contestant:
        mechanism: Mechanism = make_mechanism(registered, domain=regridded(region, FINE), epsilon=epsilon)
        return Contestant(name, "region", mechanism, lambda paths, progress: perturb(paths, mechanism))

    return build


def on_places(name: str, registered: str) -> Build:
    """A registered mechanism on the list of places; locations are moved to their nearest place first."""

    def build(region: Rectangle, places: Places, epsilon: Epsilon) -> Contestant:
        mechanism: Mechanism = make_mechanism(registered, domain=places.domain(), epsilon=epsilon)
        run = in_bulk(mechanism, places.coordinates, lambda paths: places.nearest(paths.places))
        return Contestant(name, "places", mechanism, run)

    return build


def whole_paths(baseline: type[PathBaseline]) -> Build:
    """A protocol for whole paths over the list of places."""

    def build(region: Rectangle, places: Places, epsilon: Epsilon) -> Contestant:
        mechanism = baseline(places=places, epsilon=epsilon)
        return Contestant(mechanism.name, "places", mechanism, lambda paths, progress: mechanism.perturb(paths, progress=progress))

    return build


CONTESTANTS: dict[str, Build] = {
    "nearest-cells": on_cells("nearest-cells", "nearest-cells", NEAREST),
    "tracs-c": on_region("tracs-c", "tracs-c"),
    "tracs-d": on_region("tracs-d", "tracs-d"),
    "strawman": on_region("strawman", "strawman"),
    "planar-laplace": on_cells("planar-laplace", "planar-laplace", COARSE),
    "exponential-cells": on_cells("exponential-cells", "exponential-cells", COARSE),
    "nearest-places": on_places("nearest-places", "nearest-places"),
    "l-srr": on_places("l-srr", "l-srr"),
    "ngram": whole_paths(NGram),
    "atp": whole_paths(ATP),
}
"""By name: the first six answer with any point of the region, the others with one of the places."""


MOST_PLACES = {"nearest-places": MOST_NEAREST_PLACES, "l-srr": MOST_L_SRR}


def applicable(places: Places) -> list[str]:
    """All contestants that can handle so many places."""
    return [name for name in CONTESTANTS if len(places) <= MOST_PLACES.get(name, len(places))]


def contestant(name: str, region: Rectangle, places: Places, epsilon: Epsilon) -> Contestant:
    """One of the contestants, built."""
    if name not in CONTESTANTS:
        raise InvalidParameter(f"no trajectory mechanism is called {name[:40]!r}; there are {', '.join(CONTESTANTS)}")
    return CONTESTANTS[name](region, places, epsilon)
