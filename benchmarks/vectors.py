"""Means of vectors: errors beside the published mechanisms, the bias of fast rotations, and speed.

    python benchmarks/vectors.py errors [--dimensions 512,4096] [--people 10000]
    python benchmarks/vectors.py bias [--reports 300000]
    python benchmarks/vectors.py speed
    python benchmarks/vectors.py all [--quick]

`errors` measures the mean squared distance of one report per dimension, for random vectors and for one axis, which is the worst
case of a fast rotation. `all` runs everything and ends with every bar and whether it was met; `--quick` takes a fifth of
the people and a thirtieth of the reports, too few to judge the bias. The references draw floats: see vector_references.py.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator

import numpy as np
from vector_references import (
    PrivUnitG,
    best_privunit,
    duchi_cube_error,
    duchi_sphere,
    gaussian_sigma,
    laplace_error,
)

from deniable.batch import randomize_many
from deniable.core import Ball, NearestCodes, limit_error
from deniable.estimators import mean
from deniable.privacy import FixedKeystream

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

EPSILONS = (1, 2, 4, 8, 16)
DELTA = 1e-6
CHUNK = 500
COLUMNS = (
    *("ε", "codes", "bits", "limit", "random", "axis", "one simplex", "PrivUnit", "PrivUnit, measured", "PrivUnitG, measured"),
    *("half sphere", "Gaussian, δ = 1e-6", "Laplace", "above the limit", "one simplex above it", "Gaussian over ours"),
)


def unit_rows(count: int, dimension: int, generator: np.random.Generator) -> Floats:
    """Uniform directions."""
    rows = generator.normal(size=(count, dimension))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def measured(mechanism: NearestCodes, vectors: Floats) -> float:
    """The mean squared distance of reports from their vectors, per dimension."""
    total = 0.0
    for start in range(0, len(vectors), CHUNK):
        rows = vectors[start : start + CHUNK]
        total += float(((randomize_many(mechanism, rows).values() - rows) ** 2).sum())
    return total / vectors.size


BARS: list[tuple[str, float, float, str]] = []
"""What was asked for: words, what was measured, the most (or, below 0, minus the least) it may be, and its unit."""


def bar(words: str, value: float, most: float, unit: str) -> None:
    BARS.append((words, value, most, unit))


def verdicts() -> None:
    """Every bar, and whether it was met."""
    print("\n| bar | measured | met |\n|---|---|---|")
    for words, value, most, unit in BARS:
        print(f"| {words} | {abs(value):,.4g} {unit} | {'yes' if value <= most else 'NO'} |")


def errors(dimensions: list[int], people: int) -> None:
    """Ours beside the references."""
    generator = np.random.default_rng(24)
    for dimension in dimensions:
        random = unit_rows(people, dimension, generator)
        axis = np.broadcast_to(np.eye(1, dimension), (people, dimension))
        print(f"\nMean squared error per person and dimension, d = {dimension}, {people:,} people\n")
        print(f"| {' | '.join(COLUMNS)} |")
        print("|---" * len(COLUMNS) + "|")
        for epsilon in EPSILONS:
            limit, share = limit_error(math.exp(epsilon))
            ours = NearestCodes(domain=Ball(dimension), epsilon=epsilon)
            fast = NearestCodes(domain=Ball(dimension), epsilon=epsilon, codes=1 << dimension.bit_length() - 1)
            both = measured(ours, random), measured(ours, axis)
            simple = measured(fast, random)
            unit, normal = best_privunit(dimension, epsilon), PrivUnitG(dimension, epsilon, share)
            seen = [
                float(((kind.reports(rows, generator) - rows) ** 2).sum()) / rows.size
                for kind in (unit, normal)
                for rows in (random[:CHUNK],)
            ]
            gauss = gaussian_sigma(epsilon, DELTA) ** 2
            assert ours.codes is not None
            numbers = (limit, *both, simple, unit.error / dimension, *seen, duchi_sphere(dimension, epsilon).error / dimension)
            numbers = (*numbers, gauss, laplace_error(dimension, epsilon) / dimension)
            cells = [str(epsilon), str(ours.codes), str(ours.codes.bit_length() - 1), *(f"{number:.4g}" for number in numbers)]
            cells += [
                f"{100 * (max(both) / limit - 1):+.1f} %",
                f"{100 * (simple / limit - 1):+.1f} %",
                f"{gauss / max(both):.1f}×",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)
            where = f"d = {dimension}, ε = {epsilon}"
            bar(
                f"{where}: above the limit, at most {3 if epsilon <= 8 else 25} %",
                100 * (max(both) / limit - 1),
                3 if epsilon <= 8 else 25,
                "%",
            )
            if epsilon <= 8:
                bits, most = ours.codes.bit_length() - 1, math.ceil(epsilon * math.log2(math.e)) + 4
                bar(f"{where}: bits beside the seed, at most {most}", bits, most, "bits")
                bar(f"{where}: one simplex above the limit, at most 15 %", 100 * (simple / limit - 1), 15, "%")
            bar(f"{where}: less error than the right Gaussian, at least 8 times", -gauss / max(both), -8, "times")
        print("\nVectors of the cube [-1, 1]^d, per dimension: ours, in the ball around the cube, and Duchi's for the cube\n")
        print("| ε | ours | Duchi |\n|---|---|---|")
        for epsilon in EPSILONS:
            cube = NearestCodes(domain=Ball(dimension, norm=math.inf), epsilon=epsilon)
            print(f"| {epsilon} | {cube.error() / dimension:.4g} | {duchi_cube_error(dimension, epsilon) / dimension:.4g} |")


def three_ideas() -> None:
    """Large epsilon: two reports of half the level, pairs of words, or more rotations."""
    limit = limit_error(math.exp(16))[0]
    halves = limit_error(math.exp(8))[0] / 2
    print("\nε = 16, error per dimension above the limit, d = 4096")
    print(f"two reports at ε = 8 each, at their own limit: {100 * (halves / limit - 1):+.0f} %")
    for codes in (8192, 16384, 65536):
        law = NearestCodes(domain=Ball(4096), epsilon=16, codes=codes)
        print(f"{codes} words, {law.sets.bases} rotations: {100 * (law.error() / 4096 / limit - 1):+.0f} %")
    # Pairs: the sum of one word of each of two books; the nearest pair is that of the two nearest words.
    odds = math.exp(16)
    for codes in (512, 1024, 2048, 4096):
        near = NearestCodes(domain=Ball(4096), epsilon=16, codes=codes, nearest=1).law.mean * (odds + codes - 1) / (odds - 1)
        pairs = 2 / (2 * near * (odds - 1) / (odds + codes**2 - 1)) ** 2 / 4096
        print(f"pairs of {codes} words each, the nearest pair favoured: {100 * (pairs / limit - 1):+.0f} %")


def shapes(dimension: int) -> Iterator[tuple[str, Floats]]:
    """Vectors with few distinct coordinates, where a fast rotation is least like a uniform one."""
    for count in (1, 2, 4, 8, dimension):
        if count <= dimension:
            vector = np.zeros(dimension)
            vector[:count] = count**-0.5
            yield f"{count} equal", vector
    vector = np.full(dimension, (0.5 / max(dimension - 1, 1)) ** 0.5)
    vector[0] = 0.5**0.5
    yield "one and the rest", vector
    vector = np.zeros(dimension)
    vector[0] = 0.5
    yield "half as long", vector


def bias(reports: int) -> None:
    """The mean reading along a vector beside its length, with the standard error that blocks of reports show."""
    print("\n| dimension | rotated | vector | bias along it, % of the radius | standard error |\n|---|---|---|---|---|")
    worst = coarsest = 0.0
    for dimension in (127, 128, 256, 512, 1024, 20_000):
        mechanism = NearestCodes(domain=Ball(dimension), epsilon=16, codes=1 << min(13, (dimension - 1).bit_length()), nearest=1)
        count = max(20 * BLOCK, reports if dimension <= 1024 else reports // 3)
        for number, (name, vector) in enumerate(shapes(dimension)):
            off, error = along(mechanism, vector, count, FixedKeystream(number))
            if dimension >= 512:
                worst, coarsest = max(worst, 100 * (abs(off) + 3 * error)), max(coarsest, 100 * error)
            print(f"| {dimension} | {mechanism.width} | {name} | {100 * off:+.3f} | {100 * error:.3f} |", flush=True)
    if coarsest > 0.1:
        print(f"\nToo few reports to judge the bias: the largest standard error is {coarsest:.2f} %.")
        return
    bar("bias and three standard errors, from 512 dimensions on, at most 0.5 % of the radius", worst, 0.5, "%")


BLOCK = 500


def along(mechanism: NearestCodes, vector: Floats, count: int, stream: FixedKeystream) -> tuple[float, float]:
    """How far the mean reading along a vector is from its length, and the standard error of that.

    Along the vector a report of the nearest word hardly varies, so that few reports show a small bias; across it there is none: the
    signs of the rotation are symmetric.
    """
    direction = vector / np.linalg.norm(vector)
    blocks = []
    for _ in range(count // BLOCK):
        reports = randomize_many(mechanism, np.broadcast_to(vector, (BLOCK, vector.size)), stream)
        blocks.append(float(mean(reports).value @ direction))
    return float(np.mean(blocks) - np.linalg.norm(vector)), float(np.std(blocks, ddof=1) / math.sqrt(len(blocks)))


def speed() -> None:
    """Vectors per second of processor time, on one core."""
    generator = np.random.default_rng(24)
    print("\n| dimension | words | privatised a second | aggregated a second |\n|---|---|---|---|")
    for dimension, codes, people in ((1024, 1024, 20_000), (4096, 4096, 3000), (1_000_000, 1024, 6)):
        mechanism = NearestCodes(domain=Ball(dimension), epsilon=8, codes=codes)
        rows = unit_rows(people, dimension, generator)
        mechanism.accumulator().add(randomize_many(mechanism, rows[:2]))
        begun = time.process_time()
        reports = randomize_many(mechanism, rows)
        drawn = time.process_time()
        mechanism.accumulator().add(reports)
        added = time.process_time()
        made, summed = people / (drawn - begun), people / (added - drawn)
        print(f"| {dimension:,} | {codes} | {made:,.0f} | {summed:,.0f} |", flush=True)
        if dimension == 1024:
            bar("d = 1,024: privatised, at least 30,000 vectors a second", -made, -30_000, "a second")
            bar("d = 1,024: aggregated, at least 100,000 vectors a second", -summed, -100_000, "a second")
        elif dimension == 1_000_000:
            bar("d = 1,000,000: a vector privatised and aggregated, at most 0.2 s", 1 / made + 1 / summed, 0.2, "s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("errors", "bias", "speed", "all"))
    parser.add_argument("--dimensions", default="512,4096")
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--reports", type=int, default=300_000)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    people, reports = (asked.people // 5, asked.reports // 30) if asked.quick else (asked.people, asked.reports)
    if asked.what in ("errors", "all"):
        errors([int(number) for number in asked.dimensions.split(",")], people)
        three_ideas()
    if asked.what in ("bias", "all"):
        bias(reports)
    if asked.what in ("speed", "all"):
        speed()
    verdicts()
