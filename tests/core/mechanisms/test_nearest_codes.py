"""Nearest code words: the ranking in integers, the public constant, the published error, the limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.batch import among_nearest, draw_many
from deniable.core import UNIT, Ball, NearestCodes, index_of, limit_error, mechanism_from_recipe
from deniable.core.channels.nearest_codes import hadamard, seed_keys, signed
from deniable.core.mechanisms.vectors._code_law import code_law, incomplete_beta, sphere_tail
from deniable.errors import InvalidParameter
from deniable.privacy import FixedCoins, FixedKeystream

SEEDS = [FixedCoins(7).below(1 << 128), 0, (1 << 128) - 1, 12345]


def unit(*numbers: float) -> list[float]:
    length = math.hypot(*numbers)
    return [number / length for number in numbers]


def test_the_limit_is_the_published_one() -> None:
    published = {1: 6.33, 4: 0.435, 8: 0.133, 16: 0.048}
    for epsilon, error in published.items():
        assert limit_error(math.exp(epsilon))[0] == pytest.approx(error, rel=0.005)


@pytest.mark.parametrize("dimension", [512, 4096])
@pytest.mark.parametrize("epsilon", [1, 2, 4, 8])
def test_the_error_is_within_three_percent_of_the_limit_with_few_bits(dimension: int, epsilon: int) -> None:
    mechanism = NearestCodes(domain=Ball(dimension), epsilon=epsilon)
    assert mechanism.codes is not None
    assert mechanism.error() / dimension <= 1.03 * limit_error(math.exp(epsilon))[0]
    assert mechanism.codes.bit_length() - 1 <= math.ceil(epsilon * math.log2(math.e)) + 4


def test_one_simplex_is_within_fifteen_percent_and_many_words_reach_sixteen() -> None:
    for epsilon in (1, 2, 4, 8):
        mechanism = NearestCodes(domain=Ball(512), epsilon=epsilon, codes=512)
        assert mechanism.error() / 512 <= 1.15 * limit_error(math.exp(epsilon))[0]
    assert NearestCodes(domain=Ball(512), epsilon=8, codes=512, nearest=1).error() / 512 == pytest.approx(0.149, rel=0.03)
    assert NearestCodes(domain=Ball(512), epsilon=16).error() / 512 <= 1.25 * limit_error(math.exp(16))[0]


@pytest.mark.parametrize(("codes", "nearest"), [(8, 1), (64, 12), (128, 2), (256, 5), (512, 1), (512, 20)])
def test_the_constant_is_that_of_a_uniform_rotation(codes: int, nearest: int) -> None:
    """Against directions drawn uniformly in 64 dimensions; false alarms: 1e-6 (five standard errors)."""
    width, runs = 64, 8_000
    generator = np.random.default_rng(codes)
    if codes <= 2 * width:
        rotated = generator.normal(size=(runs, 1, width))
    else:  # several rotations
        rotated = generator.normal(size=(runs, codes // (2 * width), width))
    rotated /= np.linalg.norm(rotated, axis=2, keepdims=True)
    if codes <= width:
        scores = rotated[:, 0, :codes] - rotated[:, 0, :codes].mean(axis=1, keepdims=True)
    else:
        both = rotated.reshape(runs, -1)
        scores = np.concatenate([both, -both], axis=1)
    top = np.sort(scores, axis=1)[:, -nearest:]
    sums, squares = top.sum(axis=1), (top**2).sum(axis=1)
    odds = 50.0
    total = nearest * odds + codes - nearest
    law = code_law(width, codes, nearest, odds)
    # For several rotations the constant is corrected to the first order in 1/64.
    slack = 0.0 if codes <= 2 * width else 0.002
    assert law.mean == pytest.approx((odds - 1) / total * sums.mean(), rel=slack + 5 * sums.std() / sums.mean() / math.sqrt(runs))
    everything = (scores**2).sum(axis=1).mean()
    along = ((odds - 1) * squares.mean() + everything) / total
    assert law.along == pytest.approx(along, rel=2 * slack + 0.01)


def test_special_functions_have_known_values() -> None:
    assert incomplete_beta(5, 1, 0.3) == pytest.approx(0.3**5)
    assert incomplete_beta(1, 5, 0.3) == pytest.approx(1 - 0.7**5)
    assert incomplete_beta(2000, 3000, 0.4) == pytest.approx(0.5, abs=0.02)
    assert sphere_tail(1, 3) == pytest.approx(1 - 1 / math.sqrt(3))  # uniform on [-1, 1] in three dimensions


def test_the_transform_is_its_own_inverse_up_to_a_factor() -> None:
    vector = [FixedCoins(3).below(1000) - 500 for _ in range(128)]
    assert hadamard(hadamard(vector)) == [128 * value for value in vector]
    keys = seed_keys(SEEDS[0])
    assert signed(signed(vector, keys, 1), keys, 1) == vector


@pytest.mark.parametrize("mechanism", list(NearestCodes.examples()), ids=str)
def test_scores_are_products_with_the_words_themselves(mechanism: NearestCodes) -> None:
    """Ranking and reading use one rotation: the scores are those of the words that `direction` gives, up to rounding."""
    sets, dimension = mechanism.sets, mechanism.domain.dimension
    steps = [((31 * place) % 17 - 8) * 20_000 for place in range(dimension)]
    for seed in SEEDS[:2]:
        scores = np.array(sets._scores(index_of(steps), seed), float)
        # What the extra coordinate adds is the same kind of number; ask for the ranking to agree with a straight line.
        filling = math.isqrt((1 << 44) - sum(step * step for step in steps))
        wider = type(sets)(dimension + 1, sets.width_bits, sets.code_bits, sets.nearest)
        words = np.array([wider.direction(seed * sets.codes + word) for word in range(sets.codes)], float)
        products = words @ np.array([*steps, filling], float)
        assert np.corrcoef(products, scores)[0, 1] > 0.999999


def test_as_many_words_are_favoured_under_every_seed() -> None:
    for mechanism in NearestCodes.examples():
        sets = mechanism.sets
        for seed in SEEDS:
            for index in (0, 1, sets.inputs - 1, sets.inputs * 3 // 7):  # also what is no vector of the ball
                assert len(sets._favoured(index, seed)) == sets.nearest


@pytest.mark.parametrize("place", [1, 6])
def test_inside_and_outside_list_every_word_once(place: int) -> None:
    mechanism = next(NearestCodes.examples())
    sets, seed, index = mechanism.sets, SEEDS[0], mechanism.encode(unit(place, 1, -2))
    inside = [sets.inside(index, seed * sets.nearest + rank) for rank in range(sets.nearest)]
    others = sets.codes - sets.nearest
    outside = [sets.outside(index, seed * others + rank) for rank in range(others)]
    assert sorted([*inside, *outside]) == list(range(seed * sets.codes, (seed + 1) * sets.codes))
    assert [sets.rank(index, output) for output in inside] == [(True, rank) for rank in range(sets.nearest)]
    assert [sets.rank(index, output) for output in outside] == [(False, rank) for rank in range(others)]


def test_recipes_hold_what_was_chosen() -> None:
    chosen = NearestCodes(domain=Ball(100), epsilon=4)
    parameters = chosen.recipe()["parameters"]
    assert parameters == {"codes": chosen.codes, "nearest": chosen.nearest}
    assert chosen.nearest is not None
    assert mechanism_from_recipe(chosen.recipe()) == chosen


@pytest.mark.parametrize(
    "wrong", [{"codes": 3}, {"codes": 1}, {"codes": 1 << 17}, {"nearest": 0}, {"codes": 8, "nearest": 5}, {"codes": True}]
)
def test_impossible_books_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter):
        NearestCodes(domain=Ball(3), epsilon=1, **wrong)


def test_a_reading_is_unbiased_over_seeds() -> None:
    """The mean of 1,500 scalar readings, five standard errors: false alarms 1e-5 over 3 coordinates, on fixed coins."""
    mechanism, coins = NearestCodes(domain=Ball(3, radius=2), epsilon=6, codes=64), FixedCoins(5)
    value = [2 * number for number in unit(0.6, 0.0, -0.3)]
    readings = np.array([mechanism.decode(mechanism.randomize(value, coins).output) for _ in range(1500)])
    errors = 2 * math.sqrt(mechanism.law.most_variance / len(readings))
    assert np.all(np.abs(readings.mean(axis=0) - value) < 5 * errors)
    seen = ((readings - value) ** 2).sum(axis=1).mean()
    assert seen == pytest.approx(mechanism.error(), rel=0.15)


@pytest.mark.parametrize("place", range(3))
def test_arrays_of_reports_are_looked_up_as_single_ones_are(place: int) -> None:
    """Ties too: of equally near words those with the smaller numbers are the nearest ones, as for the vector 0."""
    mechanism = list(NearestCodes.examples())[place]
    sets = mechanism.sets
    values = [index_of([first, *[0] * (sets.dimension - 1)]) for first in (UNIT, -UNIT, UNIT // 2, 0)]
    outputs = draw_many(mechanism.channel, np.array(values * 10, object), FixedKeystream(place))
    numbers = [int.from_bytes(row.tobytes(), "little") for row in outputs]
    for value in values:
        assert among_nearest(sets, value, outputs).tolist() == [sets.contains(value, number) for number in numbers]
