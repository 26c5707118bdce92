"""Regions of every shape, small enough to try each of their cells."""

from __future__ import annotations

from deniable.core import Disc, Domain, Interval, Parallelogram, Polygon, Sphere

BAY = Polygon([(0, 0), (6, 0), (6, 4), (3, "1.5"), (0, 4)], cells=12)
STAR = Polygon([(0, 3), (-1, 1), (-3, 0), (-1, -1), (0, -3), (1, -1), (3, 0), (1, 1)], cells=31)
TRIANGLE = Polygon([(0.1, 0.2), (0.9, 0.3), (0.4, 1.1)], cells=40)
LEAN = Parallelogram((1, -1), (4, 1), (1, 2), cells=(12, 6))
STEEP = Parallelogram((139.47, 35.51), ("0.43", "-0.1"), ("0.02", "0.35"), cells=(43, 35))
GLOBE = Sphere(Interval(-90, 90, cells=18), cells=36)
BAND = Sphere(Interval("-23.5", "23.5", cells=47), cells=7)
SHAPES: list[Domain] = [BAY, STAR, TRIANGLE, LEAN, STEEP, GLOBE, BAND, Disc((3, -4), "2.5", cells=21)]
