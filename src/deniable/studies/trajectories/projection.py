"""Degrees to metres around a city's centre, and back: the azimuthal equidistant projection of the sphere.

Distances from the centre are exact on the sphere. At angular distance c from it, lengths across the line
to the centre are stretched by c / sin(c), no length is shrunk: 0.001 % at 50 km, 0.02 % at 220 km. Great
circles on the sphere themselves differ from the earth's true shape by up to 0.56 %.
The projection is continuous across the date line, since only differences of longitude enter it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.batch import Floats
from deniable.core import Interval, Rectangle
from deniable.errors import InvalidParameter
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.regions import BoundingBox, Fitted, Outside, fit_to_box

EARTH_RADIUS = 6_371_008.8
"""Metres: the mean radius of the WGS 84 ellipsoid."""
MOST_STRETCH = 0.01
EDGE_POINTS = 257


@dataclass(frozen=True)
class LocalProjection:
    """A plane in metres around (longitude, latitude): x to the east, y to the north.

    >>> chicago = LocalProjection(-87.75, 41.8)
    >>> chicago.degrees(chicago.metres([[-87.6, 41.9]])).round(9).tolist()
    [[-87.6, 41.9]]
    """

    longitude: float
    latitude: float

    def __post_init__(self) -> None:
        if not (abs(self.longitude) <= 180 and abs(self.latitude) <= 90):
            raise InvalidParameter("longitude must lie between -180 and 180 degrees, latitude between -90 and 90")

    def metres(self, degrees: object) -> Floats:
        """Pairs (longitude, latitude) as pairs (x, y)."""
        turned = np.radians(np.asarray(degrees, np.float64).reshape(-1, 2) - [self.longitude, 0.0])
        across, up = turned[:, 0], turned[:, 1]
        middle = math.radians(self.latitude)
        # Sines of differences, not differences of sines: exact to nanometres also next to the centre.
        east = np.cos(up) * np.sin(across)
        north = np.sin(up - middle) + 2 * math.sin(middle) * np.cos(up) * np.sin(across / 2) ** 2
        toward = math.sin(middle) * np.sin(up) + math.cos(middle) * np.cos(up) * np.cos(across)
        sine = np.hypot(east, north)
        scale = EARTH_RADIUS * np.divide(np.arctan2(sine, toward), sine, out=np.ones_like(sine), where=sine > 0)
        return np.stack([scale * east, scale * north], axis=1)

    def degrees(self, metres: object) -> Floats:
        """Pairs (x, y) as pairs (longitude, latitude), longitudes from -180 to 180."""
        places = np.asarray(metres, np.float64).reshape(-1, 2) / EARTH_RADIUS
        far = np.hypot(places[:, 0], places[:, 1])
        sine = np.divide(np.sin(far), far, out=np.ones_like(far), where=far > 0)
        east, north, toward = sine * places[:, 0], sine * places[:, 1], np.cos(far)
        middle = math.radians(self.latitude)
        outward = toward * math.cos(middle) - north * math.sin(middle)
        upward = toward * math.sin(middle) + north * math.cos(middle)
        longitude = self.longitude + np.degrees(np.arctan2(east, outward))
        latitude = np.degrees(np.arctan2(upward, np.hypot(outward, east)))
        return np.stack([np.where(np.abs(longitude) > 180, longitude - np.copysign(360.0, longitude), longitude), latitude], axis=1)

    def stretch(self, metres: float) -> float:
        """By how much lengths are stretched at most, as a share, within this distance of the centre."""
        angle = metres / EARTH_RADIUS
        return angle / math.sin(angle) - 1 if angle > 0 else 0.0


@dataclass(frozen=True)
class CityRegion:
    """A public box in degrees and its plane in metres.

    `stretch` is the largest relative error of a length within the box against great circles.

    >>> region = CityRegion(BoundingBox(-88, 41.6, -87.5, 42))
    >>> region.stretch < 1e-5, region.rectangle(64).x.cells, region.rectangle(64).y.cells
    (True, 60, 64)
    """

    box: BoundingBox

    def __post_init__(self) -> None:
        if self.box.width >= 180 or self.stretch > MOST_STRETCH:
            raise InvalidParameter(
                f"the box is too large for one plane: lengths would be off by more than {100 * MOST_STRETCH:g} %; "
                "use a city or a country, or perturb longitude and latitude on the sphere "
                "(over the date line west is the larger number, as in 179,-18,-179,-16)"
            )

    @cached_property
    def projection(self) -> LocalProjection:
        """Around the middle of the box."""
        return LocalProjection(*self.box.center)

    @cached_property
    def _border(self) -> Floats:
        along = np.linspace(0.0, 1.0, EDGE_POINTS)
        longitudes = self.box.west + self.box.width * along
        latitudes = self.box.south + (self.box.north - self.box.south) * along
        sides = [np.stack([longitudes, np.full_like(along, side)], axis=1) for side in (self.box.south, self.box.north)]
        sides += [np.stack([np.full_like(along, side), latitudes], axis=1) for side in (longitudes[0], longitudes[-1])]
        return self.projection.metres(np.concatenate(sides))

    @cached_property
    def stretch(self) -> float:
        """The largest relative error of a length, against great circles on the sphere."""
        return self.projection.stretch(float(np.hypot(*self._border.T).max()))

    def rectangle(self, cells: int = 256) -> Rectangle:
        """The plane rectangle around the box, in whole metres; `cells` on its longer side, nearly square ones.

        It holds all of the box: its sides bulge a little, because meridians converge.
        """
        # The border is known at points; between them it leaves the straight line by far less than a metre.
        low, high = np.floor(self._border.min(axis=0)) - 1, np.ceil(self._border.max(axis=0)) + 1
        sides = high - low
        counts = [max(1, round(cells * float(side / sides.max()))) for side in sides]
        return Rectangle(*(Interval(int(low[i]), int(high[i]), cells=counts[i]) for i in range(2)))

    def project(self, paths: Paths, outside: Outside = "refuse") -> Fitted:
        """Paths in degrees as paths in metres; places outside the box are refused, clipped to it or dropped, and counted."""
        fitted = fit_to_box(paths, self.box, outside)
        return Fitted(fitted.paths.with_places(self.projection.metres(fitted.paths.places)), fitted.clipped, fitted.dropped)

    def degrees(self, paths: Paths) -> Paths:
        """Paths in metres as paths in degrees."""
        return paths.with_places(self.projection.degrees(paths.places))
