"""Growing a box in which the answer provably stays the same: the radius first, then every side by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from deniable.batch import Floats
from deniable.studies.classifiers.region import Box

Sides = tuple[Floats, Floats]


class GrownBox(NamedTuple):
    """The box, the radius it grew from, and how many boxes were checked."""

    box: Box | None
    radius: float
    tests: int


def proved_box(
    holds: Callable[[Box], bool],
    point: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    radius_steps: int = 30,
    side_steps: int = 12,
) -> GrownBox:
    """A box around `point` inside [low, high]: `holds(box)` says True only when the answer cannot change in the box."""
    tests = 0

    def accepts(bottom: Floats, top: Floats) -> bool:
        nonlocal tests
        tests += 1
        return holds(Box(tuple(bottom), tuple(top)))

    ends = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    grown = grow(accepts, np.asarray(point, dtype=np.float64), *ends, radius_steps, side_steps)
    if grown is None:
        return GrownBox(None, 0.0, tests)
    (bottom, top), radius = grown
    return GrownBox(Box(tuple(bottom), tuple(top)), radius, tests)


def grow(
    accepts: Callable[[Floats, Floats], bool], point: Floats, low: Floats, high: Floats, radius_steps: int, side_steps: int
) -> tuple[Sides, float] | None:
    """Bisect the radius, then every side: radius_steps + 2 d side_steps checks at most."""
    bottom_radius, top_radius = 0.0, float(np.maximum(point - low, high - point).max())
    best: Sides | None = None
    radius = top_radius
    for _ in range(radius_steps):
        sides = np.maximum(point - radius, low), np.minimum(point + radius, high)
        if accepts(*sides):
            best, bottom_radius = sides, radius
        else:
            top_radius = radius
        if bottom_radius == top_radius:
            break
        radius = (bottom_radius + top_radius) / 2
    if best is None:
        return None
    for axis in range(point.size):
        for side, limit in ((0, low), (1, high)):
            best = _grow_side(accepts, best, axis, side, float(limit[axis]), side_steps)
    return best, bottom_radius


def _grow_side(accepts: Callable[[Floats, Floats], bool], sides: Sides, axis: int, side: int, limit: float, steps: int) -> Sides:
    near, far = float(sides[side][axis]), limit
    place = far
    for _ in range(steps):
        if near == far:
            break
        wider = sides[0].copy(), sides[1].copy()
        wider[side][axis] = place
        if accepts(*wider):
            sides, near = wider, place
        else:
            far = place
        place = (near + far) / 2
    return sides
