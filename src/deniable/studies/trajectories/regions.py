"""The public region that paths lie in, and what is done with places outside it: refused, clipped or dropped, and counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn, get_args

import numpy as np

from deniable.batch import Flags, Floats
from deniable.core import Rectangle
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.studies.trajectories.paths import Paths

Outside = Literal["refuse", "clip", "drop"]


@dataclass(frozen=True)
class BoundingBox:
    """Longitudes from `west` to `east` and latitudes from `south` to `north`, in degrees. It is public.

    With west above east the box crosses the date line: BoundingBox(170, -20, -170, -10) is 20 degrees wide.

    >>> BoundingBox(170, -20, -170, -10).center
    (180.0, -15.0)
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        for name in ("west", "south", "east", "north"):
            value, most = getattr(self, name), 90 if name in ("south", "north") else 180
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= most:
                raise InvalidParameter(f"{name} must be a number of degrees from -{most} to {most}")
            object.__setattr__(self, name, float(value))
        if not self.south < self.north or self.west == self.east:
            raise InvalidParameter(
                "south must lie below north, and west must differ from east (west above east crosses the date line)"
            )

    @classmethod
    def parse(cls, text: str) -> BoundingBox:
        """From "west,south,east,north"."""
        try:
            sides = [float(side) for side in text.split(",")]
        except ValueError:
            sides = []
        if len(sides) != 4:
            raise InvalidParameter("a bounding box is written west,south,east,north in degrees, for example -88,41.6,-87.5,42")
        return cls(*sides)

    @classmethod
    def around(cls, paths: Paths) -> BoundingBox:
        """The smallest box around all places. It tells where the outermost people were: for public data only."""
        if not len(paths.places) or not paths.finite:
            raise InvalidParameter("a box needs places, all of them numbers")
        turns = np.sort(paths.places[:, 0] % 360.0)
        gaps = np.diff(np.append(turns, turns[0] + 360.0))
        widest = int(np.argmax(gaps))
        west, east = turns[(widest + 1) % len(turns)], turns[widest]
        south, north = float(paths.places[:, 1].min()), float(paths.places[:, 1].max())
        # A hair wider, so that a place on the border, or data of one place, has a box with an inside.
        hair = 1e-6
        return cls(*(_signed(west - hair), max(south - hair, -90.0), _signed(east + hair), min(north + hair, 90.0)))

    @property
    def crosses_date_line(self) -> bool:
        """Does the box reach over 180 degrees?"""
        return self.west > self.east

    @property
    def width(self) -> float:
        """Degrees from west to east."""
        return (self.east - self.west) % 360.0

    @property
    def center(self) -> tuple[float, float]:
        """Longitude and latitude of the middle."""
        middle = self.west + self.width / 2
        return (middle if middle <= 180.0 else middle - 360.0), (self.south + self.north) / 2

    def contains(self, places: Floats) -> Flags:
        """Which (longitude, latitude) lie in the box, borders included."""
        return np.asarray(
            ((places[:, 0] - self.west) % 360.0 <= self.width) & (places[:, 1] >= self.south) & (places[:, 1] <= self.north)
        )

    def clip(self, places: Floats) -> Floats:
        """The nearest place of the box, side by side."""
        past = (places[:, 0] - self.west) % 360.0
        # Beyond the east side by less than half the way around: east is nearer.
        beyond = past > self.width
        nearer_east = past - self.width <= (360.0 - self.width) / 2
        longitude = np.where(beyond, np.where(nearer_east, self.east, self.west), places[:, 0])
        return np.stack([longitude, np.clip(places[:, 1], self.south, self.north)], axis=1)


@dataclass(frozen=True)
class Fitted:
    """Paths within a region, and how many places were moved to its border or left out."""

    paths: Paths
    clipped: int
    dropped: int


def fit_to_box(paths: Paths, box: BoundingBox, outside: Outside = "refuse") -> Fitted:
    """Paths in degrees within a box; swapped coordinates are recognised and refused."""
    inside = box.contains(paths.places)
    turned = box.contains(paths.places[~inside][:, ::-1])
    refuse_swapped(len(inside), int((~inside).sum()), int(turned.sum()))
    return _fitted(paths, inside, box.clip, outside, "the box")


def fit_to_rectangle(paths: Paths, region: Rectangle, outside: Outside = "refuse") -> Fitted:
    """Paths in plane coordinates within a rectangle.

    >>> from deniable.core import Rectangle
    >>> fit_to_rectangle(Paths.of([[(0.5, 0.5), (2, 0)]]), Rectangle(), outside="drop").dropped
    1
    """
    low, high = (np.array([float(getattr(side, end)) for side in (region.x, region.y)]) for end in ("low", "high"))
    inside = np.asarray(((paths.places >= low) & (paths.places <= high)).all(axis=1))
    return _fitted(paths, inside, lambda places: np.clip(places, low, high), outside, "the region")


def refuse_swapped(count: int, outside: int, turned: int) -> None:
    """Refuse places most of which lie outside the box, and would mostly lie in it with their coordinates swapped."""
    if count and 2 * outside >= count and 2 * turned >= outside:
        raise OutOfDomain("latitude and longitude look swapped: most places lie in the box the other way round; swap them")


def refuse_outside(count: int, outside: int, what: str) -> NoReturn:
    """Refuse places outside a region, by their number only."""
    raise OutOfDomain(
        f"{outside} of {count} places lie outside {what}; they are not shown because they are private. "
        "Choose a larger region, or clip or drop them (outside='clip', --outside clip)"
    )


def _fitted(paths: Paths, inside: Flags, clip: Callable[[Floats], Floats], outside: Outside, what: str) -> Fitted:
    if outside not in get_args(Outside):
        raise InvalidParameter("outside must be 'refuse', 'clip' or 'drop'")
    if not paths.finite:
        raise OutOfDomain("some coordinates are not numbers; read the file with bad='drop' to leave those places out")
    count = int((~inside).sum())
    if count == 0:
        return Fitted(paths, 0, 0)
    if outside == "refuse":
        refuse_outside(len(inside), count, what)
    if outside == "clip":
        places = paths.places.copy()
        places[~inside] = clip(places[~inside])
        return Fitted(paths.with_places(places), count, 0)
    kept = np.concatenate([[0], np.cumsum(inside)])[paths.starts]
    return Fitted(Paths(paths.places[inside], kept, paths.names), 0, count)


def _signed(longitude: float) -> float:
    return math.remainder(longitude, 360.0)
