"""The mean of vectors: sums that merge bit for bit, and intervals that hold."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from deniable.batch import Reports, accumulator_for, accumulator_from_bytes, encode_many, randomize_many
from deniable.core import Ball, NearestCodes
from deniable.errors import InvalidParameter, Malformed, OutOfDomain, WrongRecipe
from deniable.estimators import BIAS, VectorMean, mean
from deniable.privacy import FixedCoins, FixedKeystream

SDK = Path(__file__).parents[2] / "sdk" / "js" / "src"
BOOKS = {
    "one simplex": NearestCodes(domain=Ball(20, radius=3), epsilon=2, codes=16),
    "every place taken": NearestCodes(domain=Ball(128), epsilon=8, codes=128),
    "several rotations": NearestCodes(domain=Ball(100), epsilon=8, codes=1024),
    "folded": NearestCodes(domain=Ball(9000), epsilon=8, codes=64),
}


def vectors(mechanism: NearestCodes, count: int, seed: int = 1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(count, mechanism.domain.dimension))
    lengths = mechanism.domain.reach * generator.uniform(0, 1, size=(count, 1))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True) * lengths)


def estimated(mechanism: NearestCodes, rows: np.ndarray, seed: int = 0) -> VectorMean:
    estimate = mean(randomize_many(mechanism, rows, FixedKeystream(seed)))
    assert isinstance(estimate, VectorMean)
    return estimate


@pytest.mark.parametrize("name", BOOKS)
def test_the_batch_favours_the_words_that_the_scalar_path_favours(name: str) -> None:
    """With odds of e**20 nearly every report is one of the nearest words, by the scalar ranking."""
    book = BOOKS[name]
    mechanism = NearestCodes(domain=book.domain, epsilon=20, codes=book.codes, nearest=1)
    rows = vectors(mechanism, 12)
    reports = randomize_many(mechanism, rows, FixedKeystream(3))
    inside = [mechanism.sets.contains(mechanism.encode(row), output) for row, output in zip(rows, reports.ints(), strict=True)]
    assert all(inside)  # a lie has a chance of 12 * 1024 / e**20 < 3e-5, and the keystream is fixed


@pytest.mark.parametrize("name", BOOKS)
def test_sums_are_those_of_the_words_and_merge_to_the_same_bytes(name: str) -> None:
    mechanism = BOOKS[name]
    reports = randomize_many(mechanism, vectors(mechanism, 9), FixedKeystream(4))
    whole = accumulator_for(mechanism).add(reports)
    assert whole.sums.tolist() == np.sum([mechanism.sets.direction(output) for output in reports.ints()], axis=0).tolist()
    parts = [accumulator_for(mechanism).add(Reports(mechanism, reports.outputs[start::3])) for start in (2, 0, 1)]
    merged = parts[0] + parts[1] + parts[2]
    assert merged.to_bytes() == whole.to_bytes()
    assert accumulator_from_bytes(mechanism, whole.to_bytes()) == whole
    assert accumulator_for(mechanism).add([reports[place] for place in range(9)]) == whole
    assert Reports.from_bytes(mechanism, reports.to_bytes()).ints() == reports.ints()
    assert np.allclose(reports.values(), [mechanism.decode(output) for output in reports.ints()])


def test_broken_sums_are_refused() -> None:
    mechanism = BOOKS["one simplex"]
    data = accumulator_for(mechanism).add(randomize_many(mechanism, vectors(mechanism, 3), FixedKeystream(5))).to_bytes()
    for broken in (data[:-1], data + b"\0", data[:27] + b"\x03" + data[28:], data[:19] + bytes(8) + data[27:], b""):
        with pytest.raises(Malformed):
            accumulator_from_bytes(mechanism, broken)
    with pytest.raises(WrongRecipe):
        accumulator_from_bytes(BOOKS["folded"], data)
    with pytest.raises(Malformed):  # bits beyond the output
        accumulator_for(mechanism).fold(np.full((1, 17), 255, np.uint8))


def test_batches_round_and_refuse_as_single_values_do() -> None:
    mechanism = BOOKS["one simplex"]
    rows = vectors(mechanism, 30)
    assert encode_many(mechanism, rows).tolist() == [mechanism.encode(row) for row in rows]
    assert encode_many(mechanism, rows.astype(np.float32)).tolist() == [mechanism.encode(row) for row in rows.astype(np.float32)]
    assert encode_many(mechanism, rows.tolist()).tolist() == encode_many(mechanism, rows).tolist()
    for bad in (np.nan, np.inf, 3.01, -918273645.5, 1e300):
        broken = rows.copy()
        broken[7, 3] = bad
        with pytest.raises(OutOfDomain) as refused:
            randomize_many(mechanism, broken)
        assert "918273645" not in str(refused.value)
    for wrong in (rows[:, :-1], rows[0], rows > 0, [["a"] * 20]):
        with pytest.raises(OutOfDomain):
            randomize_many(mechanism, wrong)


@pytest.mark.parametrize("name", BOOKS)
def test_intervals_cover_short_sparse_and_few_vectors(name: str) -> None:
    """95 % intervals of each coordinate and of the distance: at least 90 %, five standard errors below 95 with so many runs."""
    mechanism = BOOKS[name]
    dimension, radius = mechanism.domain.dimension, float(mechanism.domain.radius)
    axis, short, flat = np.zeros(dimension), np.zeros(dimension), np.full(dimension, radius / math.sqrt(dimension))
    axis[0], short[1] = radius, -0.2 * radius
    covered, near, first, runs = 0.0, 0, 0, 0
    for vector in (axis, short, flat, 0 * flat):
        for n in (1, 2, 20):
            for seed in range(20 if dimension > 1000 else 60):
                estimate = estimated(mechanism, np.tile(vector, (n, 1)), 1000 * n + seed)
                low, high = estimate.interval()
                inside = (low <= vector) & (vector <= high)
                covered, first, runs = covered + inside.mean(), first + bool(inside[0]), runs + 1
                near += float(np.linalg.norm(estimate.value - vector)) <= estimate.distance()
                shortest, longest = estimate.norm(0.999999)
                assert shortest <= np.linalg.norm(vector) + 1e-9
                assert longest >= np.linalg.norm(vector) - 1e-9
    slack = 5 * math.sqrt(0.95 * 0.05 / runs)
    assert covered / runs > 0.95 - 0.01
    assert first / runs > 0.95 - slack
    assert near / runs > 0.95 - slack


def test_standard_errors_are_those_that_are_seen() -> None:
    mechanism = BOOKS["several rotations"]
    rows = vectors(mechanism, 4000)
    estimate = estimated(mechanism, rows)
    off = (estimate.value - rows.mean(axis=0)) / estimate.standard_error
    assert 0.6 < float((off**2).mean()) < 1.5  # a hundred squares: six standard errors on either side
    assert estimate.distance() > float(np.linalg.norm(estimate.value - rows.mean(axis=0)))
    population = mean(randomize_many(mechanism, rows, FixedKeystream(0)), target="population")
    assert np.all(population.standard_error >= estimate.standard_error)


def test_the_largest_coordinates_come_first_with_intervals_for_all() -> None:
    mechanism = NearestCodes(domain=Ball(50), epsilon=10)
    vector = np.zeros(50)
    vector[[7, 30]] = 0.8, -0.6
    estimate = estimated(mechanism, np.tile(vector, (500, 1)))
    top = estimate.top(2)
    assert [row["coordinate"] for row in top] == [7, 30]
    assert all(row["low"] < vector[row["coordinate"]] < row["high"] for row in top)
    assert estimate.top(1, 0.5)[0]["low"] > top[0]["low"]
    for wrong in (0, 51):
        with pytest.raises(InvalidParameter):
            estimate.top(wrong)
    with pytest.raises(InvalidParameter):
        estimate.distance(1)


def test_fast_rotations_are_biased_less_than_the_intervals_allow() -> None:
    """Four equal coordinates in 128 dimensions, the worst shape that was seen; the standard error is a fifth of the allowance."""
    mechanism = NearestCodes(domain=Ball(127), epsilon=16, codes=128, nearest=1)
    vector = np.zeros(127)
    vector[:4] = 0.5
    # Along the vector the nearest word varies little: its score is what the constant is about.
    reports = randomize_many(mechanism, np.broadcast_to(vector, (100_000, 127)), FixedKeystream(6)).values()
    along = reports @ vector
    bias, error = float(along.mean()) - 1, float(along.std()) / math.sqrt(len(along))
    assert error < 0.25 * BIAS / mechanism.width
    assert abs(bias) < BIAS / mechanism.width + error


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed: the JavaScript client is not tested here")
@pytest.mark.parametrize("name", ["every place taken", "folded"])
def test_the_browser_draws_the_same_from_the_same_coins(name: str) -> None:
    """Wide vectors, whose indices are too long for the files of vectors."""
    mechanism = BOOKS[name]
    rows = np.round(vectors(mechanism, 3), 6)
    drawn = [FixedCoins(place).below(mechanism.channel.total) for place in range(3)]
    script = f"""
      import {{ channelFrom }} from "{(SDK / "channels" / "index.js").as_uri()}";
      import {{ domainFrom, inputOf }} from "{(SDK / "domains" / "index.js").as_uri()}";
      import {{ parseJson }} from "{(SDK / "json.js").as_uri()}";
      let text = ""; for await (const part of process.stdin) text += part;
      const {{ channel: compiled, domain: recipe, rows, drawn }} = parseJson(text, {{ reals: true }});
      const [channel, domain] = [channelFrom(compiled), domainFrom(recipe)];
      rows.forEach((row, place) => {{
        const coins = {{ below: () => BigInt(drawn[place]) }};
        console.log(String(channel.draw(inputOf(domain, channel, row.map(Number)), coins)));
      }});
    """
    asked = {"channel": mechanism.channel.compiled(), "domain": mechanism.domain.recipe(), "rows": rows.tolist(), "drawn": drawn}
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    class Scripted:
        def __init__(self, number: int) -> None:
            self.number = number

        def below(self, n: int) -> int:
            return self.number

    ours = [mechanism.randomize(row, Scripted(number)).output for row, number in zip(rows, drawn, strict=True)]
    assert [int(line) for line in done.stdout.split()] == ours
