"""Boxes found by testing, as chapter 7 has it: a box is accepted when few of its tested points get another answer.

Testing asks the model at points of the box, all equally likely, and accepts the box when so few answers differ that
more than a share `tolerance` of them could hardly do so. Every test the search may make has its part of the
allowed error, agreed on before the first one: a search that stopped when it liked the result would not be a test.
`deniable.studies.exact_region` needs no tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deniable.batch import Floats, Keystream, SystemKeystream, uniform_below
from deniable.errors import InvalidParameter, NotSupported
from deniable.studies import Box, OutputLaw, ProductLaw, grow

Sides = tuple[Floats, Floats]
Same = Callable[[Floats], NDArray[np.bool_]]
"""Rows of sensitive numbers to: is the answer the same there?"""

RULES = ("binomial", "hoeffding")
ROWS = 1 << 14
SAME_PLACE = 1e-9


@dataclass(frozen=True)
class SampleTest:
    """With this confidence, at most `tolerance` of the region's lattice points get another answer.

    `places` are the points that were equally likely to be tried, per feature: first, last and how many. The
    statement is about those points and no others.
    """

    confidence: float
    tolerance: float
    samples: int
    places: tuple[tuple[float, float, int], ...]

    def __str__(self) -> str:
        return f"tested({self.confidence:g})"


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


class SampledBox(NamedTuple):
    """The box and its test, the radius it grew from, and what the search cost."""

    box: Box | None
    evidence: SampleTest | None
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
) -> SampledBox:
    """A box around `point`, with confidence over the whole search, for the outputs that `law` can give.

    First the largest accepted radius, by bisection over the features' widest reach; then every side by itself.
    """
    _check(law, point, tolerance, confidence)
    planned = radius_steps + 2 * len(law) * side_steps
    plan = sample_plan((1 - confidence) / planned, tolerance, rule)
    tester = _Tester(same, [one.atoms[0] for one in law.laws], plan, SystemKeystream() if keystream is None else keystream)
    low, high = tester.reach()
    grown = grow(tester.accepts, np.asarray(point, dtype=np.float64), low, high, radius_steps, side_steps)
    if grown is None:
        return SampledBox(None, None, 0.0, tester.tests, tester.asked)
    (bottom, top), radius = grown
    evidence = SampleTest(confidence, tolerance, plan.samples, tester.places(bottom, top))
    return SampledBox(Box(tuple(bottom), tuple(top)), evidence, radius, tester.tests, tester.asked)


def bound_from_test(box: Box, evidence: SampleTest, law: ProductLaw) -> float:
    """A valid lower bound of rho from a tested box: Pr[M in B] less what the tolerance may hide.

    A test says that at most a share tau of the box's points, all counted alike, get another answer. The
    mechanism does not count them alike: the worst case puts its likeliest outputs there. So what is taken
    off is tau times the number of points times the largest probability of one.
    """
    points, peak = 1.0, 1.0
    for one, low, high, place in zip(law.laws, box.low, box.high, evidence.places, strict=True):
        count, top = inside_points(one, low, high, place)
        points, peak = points * count, peak * top
    return max(law.probability(box.low, box.high) - evidence.tolerance * points * peak, 0.0)


def inside_points(law: OutputLaw, low: float, high: float, place: tuple[float, float, int]) -> tuple[int, float]:
    """How many outputs lie in [low, high] and the largest probability of one; they must be the points that were tested."""
    numbers, chances = law.atoms
    first, last = int(np.searchsorted(numbers, low, "left")), int(np.searchsorted(numbers, high, "right"))
    if first == last:
        return 0, 0.0
    tested_first, tested_last, count = place
    scale = SAME_PLACE * max(1.0, abs(tested_first), abs(tested_last))
    same = abs(numbers[first] - tested_first) <= scale and abs(numbers[last - 1] - tested_last) <= scale
    if last - first != count or not same:
        raise NotSupported(
            "the box was tested on another lattice than this mechanism answers on, so the test says nothing about it; "
            "search the box again with this mechanism's law"
        )
    return last - first, float(chances[first:last].max())


def density_bound(inside: float, tolerance: float, volume: float, highest: float) -> float:
    """The same for a mechanism with a density: Pr[M in B] - tau |B| sup pdf.

    >>> round(density_bound(0.8528482235, 0.01, 0.6, 2.718281828), 6)
    0.836539
    """
    return max(inside - tolerance * volume * highest, 0.0)


def printed_product(inside: float, tolerance: float) -> float:
    """Pr[M in B] (1 - tau), as published. NOT a valid bound: kept to compare with."""
    return inside * (1 - tolerance)


def needed_tolerance(target: float, inside: float, volume: float, highest: float) -> float:
    """The tolerance at which the valid bound still reaches a target; nothing helps when Pr[M in B] is below it."""
    if inside < target:
        raise InvalidParameter("target is above Pr[M in B]: no tolerance reaches it; a larger box or epsilon does")
    return (inside - target) / prod((volume, highest))


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
