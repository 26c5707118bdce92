"""Finding a box in which the answer stays the same: by proof, where a box can be checked, or by testing samples.

Testing asks the model at points of the box, all equally likely, and accepts the box when so few answers differ that
more than a share `tolerance` of them could hardly do so. Every test the search may make has its part of the
allowed error, agreed on before the first one: a search that stopped when it liked the result would not be a test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deniable.batch import Keystream, SystemKeystream, uniform_below
from deniable.errors import InvalidParameter
from deniable.studies.classifiers.law import ProductLaw
from deniable.studies.classifiers.region import Box, SampleTest

Floats = NDArray[np.float64]
Same = Callable[[Floats], NDArray[np.bool_]]
"""Rows of sensitive numbers to: is the answer the same there?"""

RULES = ("binomial", "hoeffding")
ROWS = 1 << 14


def hoeffding_size(omega: float, tau: float) -> float:
    """How many samples make a share known to within tau with confidence 1 - omega: ln(2 / omega) / (2 tau**2).

    >>> round(hoeffding_size(0.05, 0.01), 5)
    18444.39727
    """
    if not (0 < omega < 1 and 0 < tau < 1):
        raise InvalidParameter("omega and tau must lie strictly between 0 and 1")
    return math.log(2 / omega) / (2 * tau * tau)


class Plan(NamedTuple):
    """Samples per test, and how many of them may get another answer."""

    samples: int
    failures: int


def sample_plan(omega: float, tolerance: float, rule: str = "binomial") -> Plan:
    """A test that accepts a box with more than `tolerance` of other answers with probability at most omega.

    "hoeffding" is the published rule: n(omega, tau/2) samples, at most tau/2 of them wrong. "binomial" counts
    exactly and needs far fewer: three times the samples that would do if none of them were allowed to fail.
    """
    if rule not in RULES:
        raise InvalidParameter(f"rule must be one of {', '.join(RULES)}")
    if rule == "hoeffding":
        samples = math.ceil(hoeffding_size(omega, tolerance / 2))
        return Plan(samples, math.floor(samples * tolerance / 2))
    samples = math.ceil(3 * math.log(omega) / math.log1p(-tolerance))
    failures = 0
    while stats.binom.cdf(failures + 1, samples, tolerance) <= omega:
        failures += 1
    return Plan(samples, failures)


class Found(NamedTuple):
    """The box, the radius it grew from, and what the search cost."""

    box: Box | None
    radius: float
    tests: int
    samples: int


def sampled_box(
    same: Same,
    law: ProductLaw,
    point: Sequence[float],
    *,
    tolerance: float = 0.01,
    confidence: float = 0.95,
    rule: str = "binomial",
    radius_steps: int = 10,
    side_steps: int = 5,
    keystream: Keystream | None = None,
) -> Found:
    """A box around `point`, with confidence over the whole search, for the outputs that `law` can give.

    First the largest accepted radius, by bisection over the features' widest reach; then every side by itself.
    """
    _check(law, point, tolerance, confidence)
    planned = radius_steps + 2 * len(law) * side_steps
    plan = sample_plan((1 - confidence) / planned, tolerance, rule)
    tester = _Tester(same, [one.atoms[0] for one in law.laws], plan, SystemKeystream() if keystream is None else keystream)
    low, high = tester.reach()
    grown = _grow(tester.accepts, np.asarray(point, dtype=np.float64), low, high, radius_steps, side_steps)
    if grown is None:
        return Found(None, 0.0, tester.tests, tester.asked)
    (bottom, top), radius = grown
    evidence = SampleTest(confidence, tolerance, plan.samples, tester.places(bottom, top))
    return Found(Box(tuple(bottom), tuple(top), evidence), radius, tester.tests, tester.asked)


def proved_box(
    holds: Callable[[Box], bool],
    point: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    radius_steps: int = 30,
    side_steps: int = 12,
) -> Found:
    """The same with a check that proves: `holds(box)` says True only when the answer cannot change in the box."""
    tests = 0

    def accepts(bottom: Floats, top: Floats) -> bool:
        nonlocal tests
        tests += 1
        return holds(Box(tuple(bottom), tuple(top)))

    ends = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    grown = _grow(accepts, np.asarray(point, dtype=np.float64), *ends, radius_steps, side_steps)
    if grown is None:
        return Found(None, 0.0, tests, 0)
    (bottom, top), radius = grown
    return Found(Box(tuple(bottom), tuple(top)), radius, tests, 0)


Sides = tuple[Floats, Floats]


def _grow(
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


class _Tester:
    """Counts other answers at uniformly drawn points of a box's lattice."""

    def __init__(self, same: Same, lattices: list[Floats], plan: Plan, keystream: Keystream) -> None:
        self.same, self.lattices, self.plan, self.keystream = same, lattices, plan, keystream
        self.tests = self.asked = 0

    def reach(self) -> Sides:
        return np.array([numbers[0] for numbers in self.lattices]), np.array([numbers[-1] for numbers in self.lattices])

    def _inside(self, low: Floats, high: Floats) -> list[tuple[int, int]]:
        return [
            (int(np.searchsorted(numbers, a, "left")), int(np.searchsorted(numbers, b, "right")))
            for numbers, a, b in zip(self.lattices, low, high, strict=True)
        ]

    def places(self, low: Floats, high: Floats) -> tuple[tuple[float, float, int], ...]:
        spans = self._inside(low, high)
        return tuple((float(n[a]), float(n[b - 1]), b - a) for n, (a, b) in zip(self.lattices, spans, strict=True))

    def accepts(self, low: Floats, high: Floats) -> bool:
        spans = self._inside(low, high)
        if any(first == last for first, last in spans):
            return False
        self.tests += 1
        wrong = done = 0
        while done < self.plan.samples:
            rows = min(ROWS, self.plan.samples - done)
            columns = [
                numbers[first + uniform_below(last - first, rows, self.keystream)]
                for numbers, (first, last) in zip(self.lattices, spans, strict=True)
            ]
            answers = np.asarray(self.same(np.column_stack(columns)), dtype=bool)
            if answers.shape != (rows,):
                raise InvalidParameter("same must say yes or no once per row")
            wrong, done, self.asked = wrong + int(np.count_nonzero(~answers)), done + rows, self.asked + rows
            if wrong > self.plan.failures:
                return False
        return True


def _check(law: ProductLaw, point: Sequence[Any], tolerance: float, confidence: float) -> None:
    if len(point) != len(law):
        raise InvalidParameter("point needs one number per sensitive feature")
    if not (0 < tolerance < 1 and 0 < confidence < 1):
        raise InvalidParameter("tolerance and confidence must lie strictly between 0 and 1")
