"""Places on the globe: longitude and latitude in degrees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.domains.base import Domain, domain_from_recipe
from deniable.core.domains.circle import Circle
from deniable.core.domains.interval import Interval
from deniable.core.domains.plane import CLIPPED, Place, checked_pair
from deniable.core.exact.lattice import check_count
from deniable.errors import InvalidDomain

HALF_TURN = 180


@dataclass(frozen=True, init=False)
class Sphere(Domain):
    """Points (longitude, latitude) in degrees: longitude from -180 to 180, which is -180 again, latitude in an interval.

    `cells` cut the circle of longitudes, the interval's own cells the latitudes.

    >>> globe = Sphere(Interval(-90, 90, cells=6), cells=12)
    >>> globe.encode((180, 0)) == globe.encode((-180, 0)), globe.clip((190, 0))
    (True, (-170, 0))
    """

    latitudes: Interval
    cells: int
    kind: ClassVar[str] = "sphere"

    def __init__(self, latitudes: Interval | None = None, *, cells: int = 1 << 13) -> None:
        chosen = Interval(-90, 90, cells=1 << 12) if latitudes is None else latitudes
        if not isinstance(chosen, Interval) or not (chosen.low >= -90 and chosen.high <= 90):
            raise InvalidDomain("latitudes must be an Interval within -90 and 90 degrees")
        check_count("cells times the cells of latitudes", check_count("cells", cells) * chosen.cells)
        object.__setattr__(self, "latitudes", chosen)
        object.__setattr__(self, "cells", cells)

    @cached_property
    def circle(self) -> Circle:
        """The longitudes, counted from the date line."""
        return Circle(2 * HALF_TURN, cells=self.cells)

    @property
    def size(self) -> int:
        """Cells of longitude times cells of latitude."""
        return self.cells * self.latitudes.cells

    def coordinates(self, value: Any) -> tuple[Fraction, Fraction]:
        """Degrees east of the date line, from 0 to 360, and latitude, exactly."""
        pair = checked_pair(self, value)
        longitude, latitude = pair
        if not (-HALF_TURN <= longitude <= HALF_TURN and self.latitudes.low <= latitude <= self.latitudes.high):
            raise self.refuse()
        return longitude + HALF_TURN, latitude

    def place(self, x: float, y: float) -> Place:
        """The point so many degrees east of the date line, at a latitude."""
        return x - HALF_TURN, y

    def encode(self, value: Any) -> int:
        """The cell of a point: rows of equal latitude, from the south; each begins at the date line."""
        x, y = self.coordinates(value)
        return self.latitudes.encode(y) * self.cells + self.circle.encode(x)

    def decode(self, index: int) -> Place:
        """The middle of a cell."""
        row, column = divmod(self.check_index(index), self.cells)
        return self.place(self.circle.decode(column), self.latitudes.decode(row))

    def clip(self, value: Any) -> Any:
        """The longitude wrapped around, the latitude moved to the nearest one that belongs."""
        pair = checked_pair(self, value, CLIPPED)
        longitude = value[0]
        if not -HALF_TURN <= pair[0] <= HALF_TURN:
            wrapped = (pair[0] + HALF_TURN) % (2 * HALF_TURN) - HALF_TURN
            longitude = int(wrapped) if wrapped.denominator == 1 else wrapped
        return longitude, self.latitudes.clip(value[1])

    def recipe(self) -> dict[str, Any]:
        """Latitudes and cells of longitude."""
        return {"kind": self.kind, "latitudes": self.latitudes.recipe(), "cells": self.cells}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Sphere:
        if set(fields) != {"latitudes", "cells"}:
            raise InvalidDomain("a sphere recipe has 'latitudes' and 'cells'")
        latitudes = domain_from_recipe(fields["latitudes"])
        if not isinstance(latitudes, Interval):
            raise InvalidDomain("the latitudes of a sphere are an interval")
        return cls(latitudes, cells=fields["cells"])
