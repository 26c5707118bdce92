"""The public ground of a file's coordinates: a box in degrees with its plane in metres, or a rectangle of a plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.batch import Flags, Floats
from deniable.core import Interval, Rectangle
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.pieces import Unit
from deniable.studies.trajectories.projection import CityRegion
from deniable.studies.trajectories.regions import BoundingBox


@dataclass(frozen=True)
class Ground:
    """Which places belong, where they lie in a plane, and the way back. `city` is None for plane coordinates.

    >>> Ground.parse("0,0,2,1", "plane").inside(np.array([[1.5, 1.0], [1.0, 1.5]])).tolist()
    [True, False]
    """

    rectangle: Rectangle
    city: CityRegion | None = None

    @classmethod
    def parse(cls, text: str, unit: Unit) -> Ground:
        """From "west,south,east,north" in degrees, or "left,bottom,right,top" of a plane."""
        if unit == "degrees":
            city = CityRegion(BoundingBox.parse(text))
            return cls(city.rectangle(), city)
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 4:
            raise InvalidParameter("the region of plane coordinates is written left,bottom,right,top, for example 0,0,1,1")
        return cls(Rectangle(Interval(parts[0], parts[2], cells=64), Interval(parts[1], parts[3], cells=64)))

    @property
    def unit(self) -> Unit:
        """What the file's coordinates are."""
        return "plane" if self.city is None else "degrees"

    @property
    def _corners(self) -> tuple[Floats, Floats]:
        sides = (self.rectangle.x, self.rectangle.y)
        return np.array([float(side.low) for side in sides]), np.array([float(side.high) for side in sides])

    def inside(self, places: Floats) -> Flags:
        """Which places lie on the ground, borders included."""
        if self.city is not None:
            return self.city.box.contains(places)
        low, high = self._corners
        return np.asarray(((places >= low) & (places <= high)).all(axis=1))

    def clip(self, places: Floats) -> Floats:
        """The nearest places of the ground."""
        return self.city.box.clip(places) if self.city is not None else np.clip(places, *self._corners)

    def plane(self, places: Floats) -> Floats:
        """Coordinates of the file as coordinates of the rectangle."""
        return places if self.city is None else self.city.projection.metres(places)

    def back(self, places: Floats) -> Floats:
        """Coordinates of the rectangle as coordinates of the file."""
        return places if self.city is None else self.city.projection.degrees(places)
