"""Shuffled reports: the bound by enumeration, and that randomized response attains it."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from deniable.core import Categories, Table, built_in_names, make_mechanism, mechanism_class
from deniable.errors import InvalidParameter, NotSupported
from deniable.privacy import attained_delta, attained_epsilon, shuffled_delta, shuffled_epsilon, shuffled_rounds
from deniable.privacy.blanket_law import BlanketLaw
from deniable.privacy.shuffling import Crowd, _divergence, law_of
from deniable.privacy.variation import overlap_of, ratio_of


def enumerated(crowd: Crowd, people: int, epsilon: float) -> float:
    """The divergence of (A + X, C - A + Y) and (A + Y, C - A + X), outcome by outcome."""
    first: dict[tuple[int, int], float] = defaultdict(float)
    second: dict[tuple[int, int], float] = defaultdict(float)
    own = ((1, 0, crowd.ratio * crowd.apart), (0, 1, crowd.apart), (0, 0, crowd.neither))
    for c in range(people):
        for a in range(c + 1):
            mass = binom.pmf(c, people - 1, 2 * crowd.clone) * binom.pmf(a, c, 0.5)
            for x, y, share in own:
                first[a + x, c - a + y] += mass * share
                second[a + y, c - a + x] += mass * share
    return sum(max(0.0, mass - math.exp(epsilon) * second[outcome]) for outcome, mass in first.items())


def crowd_of(level: float) -> Crowd:
    """The worst of all mechanisms with this epsilon."""
    apart = 1 / (1 + math.exp(level))
    return Crowd(math.exp(level), apart, 0.0, apart)


CROWDS = [crowd_of(1), crowd_of(4), Crowd(math.e, 1 / (math.e + 9), 8 / (math.e + 9), 0.1), Crowd(20.0, 1 / 22, 1 / 22, 0.3)]


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("people", [1, 2, 3, 12, 40])
def test_the_sum_is_the_divergence(crowd: Crowd, people: int) -> None:
    for epsilon in (0.0, 0.05, 0.3, 0.8, 0.99):
        assert _divergence(crowd, people, epsilon)[0] == pytest.approx(enumerated(crowd, people, epsilon), abs=1e-13)
    if crowd.neither == 0:
        exact = enumerated(crowd, people, 0.3)
        assert exact <= shuffled_delta(math.log(crowd.ratio), people, 0.3) <= 1.05 * exact + 1e-12


def shuffled_law(k: int, ratio: float, answers: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The law of the counts of k-ary randomized response, by going through all reports."""
    law: dict[tuple[int, ...], float] = defaultdict(float)
    low = 1 / (ratio + k - 1)
    for reports in product(range(k), repeat=len(answers)):
        mass = math.prod(ratio * low if report == answer else low for report, answer in zip(reports, answers, strict=True))
        law[tuple(reports.count(value) for value in range(k))] += mass
    return law


@pytest.mark.parametrize(("k", "people"), [(2, 5), (3, 2), (3, 5), (4, 4), (5, 4)])
def test_no_data_set_of_randomized_response_exceeds_the_bound(k: int, people: int) -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(k), epsilon=1.5)
    ratio = math.exp(1.5)
    for epsilon in (0.0, 0.3, 0.9):
        worst = 0.0
        for others in product(range(k), repeat=people - 1):
            if list(others) != sorted(others):
                continue
            first, second = shuffled_law(k, ratio, (0, *others)), shuffled_law(k, ratio, (1, *others))
            worst = max(worst, sum(max(0.0, mass - math.exp(epsilon) * second[counts]) for counts, mass in first.items()))
        assert worst <= shuffled_delta(mechanism, people, epsilon) + 1e-9  # the mechanism's weights are rounded to integers
        assert attained_delta(k, 1.5, people, epsilon) <= worst + 1e-12


def test_one_data_set_attains_the_lower_bound() -> None:
    first, second = shuffled_law(4, math.e, (0, 2, 2, 2)), shuffled_law(4, math.e, (1, 2, 2, 2))
    exact = sum(max(0.0, mass - math.exp(0.3) * second[counts]) for counts, mass in first.items())
    assert attained_delta(4, 1.0, 4, 0.3) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("name", "size"), [("hadamard", 3), ("subset", 4), ("projective", 5), ("k-rr", 4)])
def test_no_data_set_of_other_mechanisms_exceeds_their_bound(name: str, size: int) -> None:
    """Shuffled laws of three people, straight from the weights."""
    mechanism = make_mechanism(name, domain=Categories(size), epsilon=2)
    channel = mechanism.channel
    rows = [[channel.weight(x, y) / channel.total for y in range(channel.outputs)] for x in range(size)]
    for others in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2)):
        first, second = _counts(rows, (0, *others)), _counts(rows, (1, *others))
        for epsilon in (0.0, 0.5, 1.5):
            exact = sum(max(0.0, mass - math.exp(epsilon) * second[outcome]) for outcome, mass in first.items())
            assert exact <= shuffled_delta(mechanism, 3, epsilon) + 1e-12


def _counts(rows: list[list[float]], answers: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    law: dict[tuple[int, ...], float] = {(): 1.0}
    for answer in answers:
        wider: dict[tuple[int, ...], float] = defaultdict(float)
        for reports, mass in law.items():
            for output, share in enumerate(rows[answer]):
                if share:
                    wider[tuple(sorted((*reports, output)))] += mass * share
        law = wider
    return defaultdict(float, law)


def test_randomized_response_on_bits_is_a_lower_bound() -> None:
    ratio = math.e
    for people in (2, 6, 9):
        answers = (0,) * (people - 1)
        first, second = shuffled_law(2, ratio, (1, *answers)), shuffled_law(2, ratio, (0, *answers))
        exact = max(
            sum(max(0.0, mass - math.exp(0.3) * b[counts]) for counts, mass in a.items())
            for a, b in ((first, second), (second, first))
        )
        assert attained_delta(2, 1.0, people, 0.3) == pytest.approx(exact, abs=1e-13)
        assert exact <= shuffled_delta(1.0, people, 0.3)


@pytest.mark.parametrize("name", ["k-rr", "hadamard", "subset", "projective"])
def test_the_blanket_is_at_least_as_good_as_the_worst_of_its_level(name: str) -> None:
    mechanism = make_mechanism(name, domain=Categories(20), epsilon=2)
    assert shuffled_epsilon(mechanism, 1000, 1e-6) < shuffled_epsilon(2.0, 1000, 1e-6)


def test_the_bounds_are_tight_for_many_people() -> None:
    least = attained_epsilon(3, 4, 10**5, 1e-6)
    assert least <= shuffled_epsilon(4.0, 10**5, 1e-6) <= 1.02 * least
    ten = make_mechanism("k-rr", domain=Categories(10), epsilon=4)
    exact = attained_epsilon(10, 4, 10**5, 1e-6)
    assert exact * (1 - 1e-6) <= shuffled_epsilon(ten, 10**5, 1e-6) <= 1.005 * exact


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 2, 4])
def test_the_bound_for_bits_is_that_of_the_worst_data_set(level: float) -> None:
    bit = make_mechanism("randomized-response", epsilon=level)
    least = attained_epsilon(2, level, 10**4, 1e-6)
    assert least * (1 - 1e-6) <= shuffled_epsilon(bit, 10**4, 1e-6) <= 1.005 * least
    assert shuffled_epsilon(bit, 10**4, 1e-6) < shuffled_epsilon(float(level), 10**4, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("people", [1, 2, 3, 7, 30, 300])
def test_no_number_of_other_bits_is_worse_than_the_bound(people: int) -> None:
    bit = make_mechanism("randomized-response", epsilon=2)
    p, q = math.exp(2) / (1 + math.exp(2)), 1 / (1 + math.exp(2))
    for epsilon in (0.0, 0.4, 1.2):
        worst = 0.0
        for ones in range(people):
            law = np.convolve(binom.pmf(np.arange(ones + 1), ones, p), binom.pmf(np.arange(people - ones), people - 1 - ones, q))
            yes, no = (np.convolve(law, pair) for pair in ([q, p], [p, q]))
            worst = max(worst, *(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((yes, no), (no, yes))))
        assert worst <= shuffled_delta(bit, people, epsilon) + 1e-9  # the mechanism's weights are rounded to integers
        assert attained_delta(2, 2.0, people, epsilon) <= worst + 1e-12


def test_the_published_bound_without_revealing_is_exceeded_by_a_data_set() -> None:
    """The variation-ratio sum (Wang et al. 2024) is what one data set of k-ary randomized response has; others have more."""
    published = attained_delta(4, 1.5, 4, 1.2)
    worst = 0.0
    for others in product(range(4), repeat=3):
        first, second = shuffled_law(4, math.exp(1.5), (0, *others)), shuffled_law(4, math.exp(1.5), (1, *others))
        worst = max(worst, sum(max(0.0, mass - math.exp(1.2) * second[counts]) for counts, mass in first.items()))
    assert worst > 2 * published
    assert worst <= shuffled_delta(make_mechanism("k-rr", domain=Categories(4), epsilon=1.5), 4, 1.2) + 1e-9


def test_more_people_more_privacy() -> None:
    levels = [shuffled_epsilon(2.0, people, 1e-6) for people in (1, 10, 100, 1000, 10_000)]
    assert levels[0] == pytest.approx(2)
    assert levels == sorted(levels, reverse=True)


def test_what_cannot_be_said_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        shuffled_epsilon(1.0, 100, 1e-31)
    with pytest.raises(InvalidParameter, match="people"):
        shuffled_delta(1.0, 0, 0.1)
    with pytest.raises(InvalidParameter, match="epsilon"):
        shuffled_epsilon(50.0, 10, 1e-6)
    with pytest.raises(NotSupported, match="delta"):
        shuffled_epsilon(make_mechanism("gaussian", epsilon=1, delta="1e-6"), 10, 1e-3)


def test_every_mechanism_has_a_bound_of_its_own_or_that_of_its_level() -> None:
    window = make_mechanism("window", epsilon=1)
    assert shuffled_epsilon(window, 1000, 1e-6) < shuffled_epsilon(1.0, 1000, 1e-6)


def _exact(rows: list[list[float]], people: int, others: tuple[int, ...], epsilon: float, pair: tuple[int, int] = (0, 1)) -> float:
    first, second = _counts(rows, (pair[0], *others)), _counts(rows, (pair[1], *others))
    assert len(others) == people - 1
    return sum(max(0.0, mass - math.exp(epsilon) * second[outcome]) for outcome, mass in first.items())


def _random_channel(draw: np.random.Generator) -> list[list[int]]:
    """Rows of positive integers with one total."""
    inputs, outputs = int(draw.integers(2, 4)), int(draw.integers(2, 5))
    while True:
        rows = draw.integers(1, 30, (inputs, outputs))
        total = int(rows.sum(axis=1).max()) + 1
        rows[:, 0] += total - rows.sum(axis=1)
        if not (rows == rows[0]).all():
            return [[int(weight) for weight in row] for row in rows]


def _check_random_channels(count: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(count):
        weights = _random_channel(draw)
        channel = Table(weights)
        total, inputs, people = sum(weights[0]), len(weights), int(draw.integers(2, 5))
        rows = [[weight / total for weight in row] for row in weights]
        law = BlanketLaw.of(ratio_of(channel), *overlap_of(channel))
        others = tuple(int(x) for x in draw.integers(0, inputs, people - 1))
        x, y = (int(value) for value in draw.permutation(inputs)[:2])
        epsilon = float(draw.uniform(0, math.log(law.ratio)))
        exact = _exact(rows, people, others, epsilon, (x, y))
        assert exact <= law.delta(people, epsilon) * (1 + 1e-12) + 1e-15, (weights, others, epsilon)


def test_no_random_channel_exceeds_its_bound() -> None:
    _check_random_channels(60, 1)


@pytest.mark.slow
def test_no_random_channel_of_5000_exceeds_its_bound() -> None:
    _check_random_channels(5000, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", built_in_names())
def test_no_enumerated_mechanism_exceeds_its_bound(name: str) -> None:
    """Up to twelve people who all say the same, or two things: straight from the weights."""
    for mechanism in mechanism_class(name).examples():
        channel = mechanism.channel
        if (
            mechanism.delta
            or not mechanism.protects_all
            or channel.chained
            or channel.outputs > 8
            or channel.inputs > 8
            or ratio_of(channel) == 1
        ):
            continue
        rows = [[channel.weight(x, y) / channel.total for y in range(channel.outputs)] for x in range(channel.inputs)]
        last = channel.inputs - 1
        for people in (2, 3, 12 if channel.outputs <= 4 else 5):
            half = people // 2
            for others in ((0,) * (people - 1), (last,) * (people - 1), (0,) * half + (last,) * (people - 1 - half)):
                for share in (0.0, 0.3, 0.8):
                    epsilon = share * math.log(ratio_of(channel))
                    assert _exact(rows, people, others, epsilon, (0, last)) <= shuffled_delta(mechanism, people, epsilon) + 1e-12
        return
    pytest.skip("no example is small enough")


def test_the_bound_grows_with_what_it_is_given() -> None:
    """More variation, or less of a blanket, is never better: so what is not known exactly may be rounded."""
    for ratio in (1.5, math.e, 50.0):
        for people in (3, 1000):
            epsilon = 0.2 * math.log(ratio)
            most = (ratio - 1) / (ratio + 1)
            deltas = [BlanketLaw.of(ratio, share * most).delta(people, epsilon) for share in (0.2, 0.5, 0.8, 1.0)]
            assert deltas == sorted(deltas)
            assert deltas[-1] == BlanketLaw.of(ratio).delta(people, epsilon)
            blanket = (1 + most / 2) / ratio
            thinner, thicker = (
                BlanketLaw.of(ratio, most / 2, share).delta(people, epsilon) for share in (0, min(1.2 * blanket, 0.9))
            )
            assert thicker <= thinner * (1 + 1e-9)


def test_the_sum_is_the_divergence_far_out() -> None:
    """Down to 1e-15 and beyond, where adding up probabilities from above would drown in rounding."""
    for level, people, epsilon in ((1, 1000, 0.3), (0.5, 1000, 0.1), (4, 10**6, 0.1)):
        exact = _divergence(crowd_of(level), people, epsilon)[0]
        assert exact <= BlanketLaw.of(math.exp(level)).delta(people, epsilon) <= 1.001 * exact


def test_structure_and_enumeration_agree() -> None:
    for name, size in (("k-rr", 5), ("oue", 4), ("subset", 4), ("hadamard", 3), ("sue", 3)):
        channel = make_mechanism(name, domain=Categories(size), epsilon=1.3).channel
        rows = np.array([[weight / channel.total for weight in channel.row(x)] for x in range(channel.inputs)])
        variation, blanket = overlap_of(channel)
        assert variation == pytest.approx(max(np.abs(a - b).sum() / 2 for a in rows for b in rows), abs=1e-9)
        assert blanket <= rows.min(axis=0).sum() + 1e-12


def test_rounds_are_at_most_added_up() -> None:
    one = shuffled_epsilon(1.0, 10_000, 1e-7)
    assert shuffled_epsilon(1.0, 10_000, 1e-6) < shuffled_rounds(1.0, 10_000, 1e-6, 10) <= 10 * one
    many = shuffled_rounds(0.5, 10_000, 1e-6, 2000)
    assert many < 0.5 * 2000 * shuffled_epsilon(0.5, 10_000, 1e-6 / 2000)
    with pytest.raises(InvalidParameter, match="rounds"):
        shuffled_rounds(1.0, 100, 1e-6, 0)


def test_a_billion_people_are_no_trouble() -> None:
    sparse = make_mechanism("oue", domain=Categories(1000), epsilon=4)
    levels = [shuffled_epsilon(sparse, people, 1e-15) for people in (10**3, 10**6, 10**9)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] < 0.002
    assert law_of(sparse).ratio == pytest.approx(math.exp(4), rel=1e-6)
