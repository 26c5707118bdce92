"""The paths of chapter 6, mechanisms on them with recorded randomness, and how far the answers are from the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.batch import Floats, Keystream, encode_many, sampler_for, uniform_below
from deniable.core import PUBLISHED as PUBLISHED_SPLIT
from deniable.core import Epsilon, Interval, Mechanism, Number, Points, Rectangle, Table, make_mechanism
from deniable.studies import (
    COARSE,
    FINE,
    Metric,
    PathBaseline,
    Paths,
    Places,
    average_error,
    perturb,
    regridded,
)
from deniable_reproduce.artifact import Run
from deniable_reproduce.city_check_ins import chicago_checkins, tokyo_checkins
from deniable_reproduce.pictures import significant

Recipe = Mechanism | PathBaseline
Build = Callable[[int], Recipe]
"""From an epsilon to what perturbs paths."""
Row = dict[str, Any]

EPSILONS = tuple(range(2, 11))
"""Chapter 6 evaluates epsilon from 2 to 10; its released tables have the even ones."""

FEW = (2, 4, 6, 8, 10)
"""For mechanisms that take long to build or to run, in quick mode."""

BITS = 53
CHICAGO_AREA = ("-87.9", "41.6", "-87.5", "42.0")
TOKYO_AREA = ("139.47", "35.51", "139.90", "35.86")
"""The areas as printed: least and largest longitude and latitude are first and third, second and fourth."""


def uniforms(count: int, keystream: Keystream) -> Floats:
    """Numbers between 0 and 1 from recorded randomness, never 0 or 1."""
    return np.asarray((uniform_below(1 << BITS, count, keystream) + 0.5) / (1 << BITS), np.float64)


def random_walks(paths: int, locations: int, keystream: Keystream, width: float = 1, height: float = 1) -> Paths:
    """Paths whose locations are anywhere in [0, width] x [0, height], each independent of the others."""
    places = np.stack([uniforms(paths * locations, keystream) * side for side in (width, height)], axis=1)
    return Paths(places, locations * np.arange(paths + 1))


def rectangle(width: Number, height: Number, cells: int = FINE) -> Rectangle:
    """[0, width] x [0, height] on a fine lattice."""
    return regridded(Rectangle(Interval(0, width, cells=2), Interval(0, height, cells=2)), cells)


def area(ends: Sequence[str], cells: int = FINE) -> Rectangle:
    """A city's box in degrees, from strings so that its ends are exact."""
    left, bottom, right, top = ends
    return regridded(Rectangle(Interval(left, right, cells=2), Interval(bottom, top, cells=2)), cells)


SOURCES = {"chicago_checkins.csv": "Gowalla check-ins in Chicago", "tokyo_checkins.csv": "Foursquare check-ins in Tokyo"}


def check_ins(run: Run, city: str, most: int = 100) -> Paths:
    """The first paths of a city in degrees, each in the order of time."""
    name = f"{city}_checkins.csv"
    directory = run.file(name, f"{SOURCES[name]}, research data of the papers on NGram and ATP").parent
    paths = chicago_checkins(directory).paths if city == "chicago" else tokyo_checkins(directory).paths
    return Paths.of([paths[i] for i in range(min(most, len(paths)))])


def clipped(paths: Paths, region: Rectangle) -> Paths:
    """Places outside the box move to its border, a hair inside."""
    low = np.array([float(region.x.low), float(region.y.low)])
    high = np.array([float(region.x.high), float(region.y.high)])
    hair = 1e-9 * (high - low)
    return paths.with_places(np.clip(paths.places, low + hair, high - hair))


def different_places(paths: Paths) -> Paths:
    """Each path's different places, in the order of their first visit."""

    def firsts(path: Floats) -> Floats:
        return path[np.sort(np.unique(path, axis=0, return_index=True)[1])]

    return Paths.of([firsts(path) for path in paths])


def tracs_c(region: Rectangle) -> Build:
    """TraCS-C as published."""
    return lambda epsilon: make_mechanism("tracs-c", domain=region, epsilon=epsilon, loss_exponent=1)


def tracs_d(region: Rectangle, reference: Sequence[Number] | None = None, split: Number | str = "published") -> Build:
    """TraCS-D with the published split; it starts at the region's centre unless a reference is given."""
    return lambda epsilon: make_mechanism("tracs-d", domain=region, epsilon=epsilon, split=split, reference=reference)


def strawman(region: Rectangle, reference: Sequence[Number] | None = None, sectors: int = 6) -> Build:
    """Randomized response on sectors, at the epsilon it is said to have."""
    return lambda epsilon: make_mechanism("strawman", domain=region, epsilon=epsilon, sectors=sectors, reference=reference)


def released_strawman(region: Rectangle, reference: Sequence[Number] | None = None, sectors: int = 6) -> Build:
    """The strawman as released: too few lies, hence run at the higher level its direction really has.

    It lies with probability 1 / (k - 1 + e**epsilon_d) in all, which is a level of ln(k (k - 2 + e**epsilon_d)).
    """

    def build(epsilon: int) -> Recipe:
        direction = Fraction(epsilon) * PUBLISHED_SPLIT
        real = Fraction(math.log(sectors * (sectors - 2 + math.exp(direction))))
        whole = real + epsilon - direction
        level = Epsilon(whole, allow_large=True)
        mechanism: Mechanism = make_mechanism(
            "strawman", domain=region, epsilon=level, sectors=sectors, split=real / whole, reference=reference
        )
        return mechanism

    return build


def planar_laplace(region: Rectangle) -> Build:
    """Planar Laplace noise at epsilon over the diameter, clipped to the region."""
    return lambda epsilon: make_mechanism("planar-laplace", domain=regridded(region, COARSE), epsilon=epsilon)


def moved(recipe: Recipe, paths: Paths, keystream: Keystream) -> Paths:
    """The paths as the mechanism reports them, from recorded randomness."""
    if isinstance(recipe, PathBaseline):
        return recipe.perturb(paths, keystream=keystream)
    if isinstance(recipe.channel, Table) or isinstance(recipe.domain, Points):
        # There are few answers: decode each of them once.
        answers = np.array([recipe.decode(output) for output in range(recipe.channel.outputs)], np.float64)
        inputs = Places(answers).nearest(paths.places) if isinstance(recipe.domain, Points) else encode_many(recipe, paths.places)
        sampler = sampler_for(recipe.channel)
        outputs = sampler.allocate(len(inputs))
        for start in range(0, len(inputs), sampler.chunk):
            sampler.draw(inputs[start : start + sampler.chunk], outputs[start : start + sampler.chunk], keystream)
        return paths.with_places(answers[outputs.astype(np.int64)])
    return perturb(paths, recipe, outside="clip", keystream=keystream)


Measure = Callable[[Paths, Paths], Metric]


def error_rows(
    builds: Mapping[str, Build],
    paths: Paths,
    epsilons: Sequence[int],
    run: Run,
    purpose: str,
    *,
    measure: Measure = average_error,
    times: int = 1,
) -> list[Row]:
    """A row per mechanism and epsilon: the average over the paths with its standard error; the paths are taken `times` times."""
    many = Paths.of([path for _ in range(times) for path in paths])
    rows = []
    for done, (name, build) in enumerate(builds.items()):
        for epsilon in epsilons:
            purposed = f"{purpose} {name} {epsilon}"

            def row(name: str = name, build: Build = build, epsilon: int = epsilon, purposed: str = purposed) -> Row:
                error = measure(many, moved(build(epsilon), many, run.keystream(purposed)))
                spread = error.standard_error
                return {
                    "mechanism": name,
                    "epsilon": epsilon,
                    "average_error": significant(error.value, 6),
                    "average_error_standard_error": significant(spread, 3) if math.isfinite(spread) else 0.0,
                }

            rows.append(run.once(purposed, row))
        run.progress(done + 1, len(builds))
    return rows


def mean_error(rows: Sequence[Row], mechanism: str, levels: Iterable[int] | None = None) -> float:
    """The average over epsilon, as the text takes it."""
    chosen = None if levels is None else set(levels)
    errors = [
        row["average_error"] for row in rows if row["mechanism"] == mechanism and (chosen is None or row["epsilon"] in chosen)
    ]
    return float(np.mean(errors))


def shared_levels(rows: Sequence[Row], one: str, other: str) -> list[int]:
    """The epsilons at which both were measured."""
    known = [{row["epsilon"] for row in rows if row["mechanism"] == name} for name in (one, other)]
    return sorted(known[0] & known[1])


def ratio(rows: Sequence[Row], one: str, other: str) -> float:
    """The mean error of one mechanism as a share of another's, over the epsilons both have."""
    levels = shared_levels(rows, one, other)
    return significant(mean_error(rows, one, levels) / mean_error(rows, other, levels), 5)


def ratio_error(rows: Sequence[Row], one: str, other: str) -> float:
    """The standard error of that ratio (the mechanisms draw independently; the paths are the same)."""
    levels = shared_levels(rows, one, other)

    def relative(name: str) -> float:
        spread = [row["average_error_standard_error"] for row in rows if row["mechanism"] == name and row["epsilon"] in levels]
        return math.sqrt(sum(s * s for s in spread)) / len(spread) / mean_error(rows, name, levels)

    return significant(ratio(rows, one, other) * math.hypot(relative(one), relative(other)), 3)


def always_below(rows: Sequence[Row], one: str, other: str, *, least: float = 0, slack: float = 0.0) -> bool:
    """Does one mechanism err less than another at every epsilon from `least` on?"""
    levels = [level for level in shared_levels(rows, one, other) if level >= least]
    mine, theirs = _errors(rows, one, levels), _errors(rows, other, levels)
    return bool(levels) and all(mine[level] < theirs[level] * (1 + slack) for level in levels)


def levels_below(rows: Sequence[Row], one: str, other: str) -> dict[float, bool]:
    """For every epsilon: does one mechanism err less than another?"""
    levels = shared_levels(rows, one, other)
    mine, theirs = _errors(rows, one, levels), _errors(rows, other, levels)
    return {float(level): mine[level] < theirs[level] for level in levels}


def _errors(rows: Sequence[Row], mechanism: str, levels: Sequence[int]) -> dict[int, float]:
    """One mechanism's errors at some epsilons; the others are not read, so they are not shown as evidence."""
    own = [row for row in rows if row["mechanism"] == mechanism and row["epsilon"] in levels]
    return {row["epsilon"]: row["average_error"] for row in own}


def first_level_below(rows: Sequence[Row], one: str, other: str) -> float | None:
    """The least epsilon from which on one mechanism always errs less than another."""
    first = None
    for level, below in sorted(levels_below(rows, one, other).items(), reverse=True):
        if not below:
            break
        first = level
    return first
