"""The places of a domain as small whole numbers, so that distances between them are compared exactly."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from deniable.core.domains.base import Domain

SIDE = 1 << 20
"""Lattice steps along the longer side of the places' bounding box."""

STEPS = 1 << 10
"""Distances are rounded down to so many parts of the diameter."""

Coordinates = tuple[tuple[int, ...], tuple[int, ...]]


def lattice(domain: Domain) -> Coordinates:
    """Columns and rows of all places of a domain in the plane, on a grid a millionth of its longer side wide.

    >>> from deniable.core import Points
    >>> lattice(Points([(0, 0), (3, 4)]))
    ((0, 786432), (0, 1048576))
    """
    places = [domain.decode(index) for index in range(domain.size)]
    across, up = [Fraction(x) for x, _ in places], [Fraction(y) for _, y in places]
    left, bottom = min(across), min(up)
    side = max(max(across) - left, max(up) - bottom)
    return tuple((x - left) * SIDE // side for x in across), tuple((y - bottom) * SIDE // side for y in up)


def square_diameter(places: Coordinates) -> int:
    """The square of the largest distance between two places."""
    corners = _outermost(places)
    return max((a - c) ** 2 + (b - d) ** 2 for a, b in corners for c, d in corners)


def _outermost(places: Coordinates) -> list[tuple[int, int]]:
    """The convex hull (Andrew's chain): the farthest two places are among its corners."""
    ordered = sorted(set(zip(*places, strict=True)))
    hull: list[tuple[int, int]] = []
    for direction in (ordered, ordered[::-1]):
        chain: list[tuple[int, int]] = []
        for x, y in direction:
            while len(chain) > 1 and not _turns_left(chain[-2], chain[-1], (x, y)):
                chain.pop()
            chain.append((x, y))
        hull += chain
    return hull


def _turns_left(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])


def distance_steps(square: int, whole: int) -> int:
    """A distance in parts of the diameter, rounded down, both given by their squares.

    >>> distance_steps(1, 4), distance_steps(4, 4)
    (512, 1024)
    """
    return isqrt(square * STEPS * STEPS // whole)
