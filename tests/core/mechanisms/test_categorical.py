"""Claims about the categorical mechanisms: laws, published formulas, choices of size."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from deniable.core import (
    Bits,
    Categories,
    Epsilon,
    Exponential,
    HadamardResponse,
    KaryRandomizedResponse,
    Mechanism,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    SubsetSelection,
    Table,
    TwoLevel,
    log_float,
)
from deniable.core.channels.projective import is_prime
from deniable.core.mechanisms.categorical import projective, subset
from deniable.core.mechanisms.categorical._unary import UnaryMechanism
from deniable.core.mechanisms.categorical.blh import BinaryLocalHashing
from deniable.core.mechanisms.categorical.projective import ProjectiveGeometryResponse
from deniable.core.mechanisms.categorical.sign_bits import SignBits
from deniable.core.mechanisms.categorical.sue import SymmetricUnaryEncoding
from deniable.errors import InvalidParameter

GOLDEN: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())
}
UNARY: list[type[UnaryMechanism]] = [SymmetricUnaryEncoding, OptimizedUnaryEncoding, SignBits]
EPSILONS = ["1e-9", "1e-5", 0.05, 0.5, 1, 3, 8, 13, 20]


def chances(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """Pr[y in S_0 | x = 0] and Pr[y in S_0 | x = 1], by adding up the weights of a two-level channel."""
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    favoured = [y for y in range(channel.outputs) if channel.sets.possible(y) and channel.sets.contains(0, y)]
    return (
        Fraction(sum(channel.weight(0, y) for y in favoured), channel.total),
        Fraction(sum(channel.weight(1, y) for y in favoured), channel.total),
    )


def rare_variance(p: Fraction, q: Fraction) -> float:
    return float(q * (1 - q) / (p - q) ** 2)


# k-RR


@pytest.mark.parametrize(("name", "k", "epsilon"), [("2.1.kRR.100", 100, 1), ("6.3.1.krr10", 3600, 10), ("6.3.1.krr2", 3600, 2)])
def test_k_rr_tells_the_truth_as_often_as_published(name: str, k: int, epsilon: int) -> None:
    channel = KaryRandomizedResponse(domain=Categories(k), epsilon=epsilon).channel
    assert float(Fraction(channel.weight(5, 5), channel.total)) == pytest.approx(GOLDEN[name]["value"], rel=1e-6)


@pytest.mark.parametrize("name", ["7.3.krr100", "7.3.krr101"])
def test_k_rr_stays_near_the_truth_as_often_as_published(name: str) -> None:
    k = GOLDEN[name]["inputs"]["X"]
    channel = KaryRandomizedResponse(domain=Categories(k), epsilon=2).channel
    near = 61 if k == 101 else 60  # answers within .3 of the middle, itself included
    mass = channel.weight(50, 50) + (near - 1) * channel.weight(50, 0)
    assert float(Fraction(mass, channel.total)) == pytest.approx(GOLDEN[name]["value"], rel=1e-9)


# Unary encodings


@pytest.mark.parametrize("kind", UNARY)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_unary_weights_never_exceed_epsilon_and_waste_little_of_it(kind: type[UnaryMechanism], epsilon: Any) -> None:
    certificate = kind(domain=Categories(4), epsilon=epsilon).certificate()
    assert certificate.holds
    assert certificate.epsilon_exact == pytest.approx(float(Epsilon(epsilon)), rel=2e-6)


@pytest.mark.parametrize("kind", UNARY)
def test_a_unary_row_is_the_product_of_its_bits(kind: type[UnaryMechanism]) -> None:
    channel = kind(domain=Categories(3), epsilon=1).channel
    assert isinstance(channel, Bits)
    for x in range(3):
        assert sum(channel.row(x)) == channel.total
        for value in range(3):
            mass = sum(channel.weight(x, y) for y in range(8) if y >> value & 1)
            assert mass * channel.scale == (channel.own if value == x else channel.other) * channel.total


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_unary_probabilities_are_the_published_ones(epsilon: float) -> None:
    e, h = math.exp(epsilon), math.exp(epsilon / 2)
    wanted: list[tuple[UnaryMechanism, float, float]] = [
        (SymmetricUnaryEncoding(epsilon=epsilon), h / (h + 1), 1 / (h + 1)),
        (OptimizedUnaryEncoding(epsilon=epsilon), 0.5, 1 / (e + 1)),
        (SignBits(epsilon=epsilon), e / (e + 1), 0.5),
    ]
    for mechanism, p, q in wanted:
        bits = mechanism.channel
        assert isinstance(bits, Bits)
        assert (bits.own / bits.scale, bits.other / bits.scale) == pytest.approx((p, q), rel=1e-7)
    variances = []
    for kind in (SymmetricUnaryEncoding, OptimizedUnaryEncoding):
        bits = kind(epsilon=epsilon).channel
        assert isinstance(bits, Bits)
        variances.append(rare_variance(Fraction(bits.own, bits.scale), Fraction(bits.other, bits.scale)))
    assert variances == pytest.approx([h / (h - 1) ** 2, 4 * e / (e - 1) ** 2], rel=1e-6)
    assert variances[1] <= variances[0]


@pytest.mark.parametrize("name", ["lec.freq.c.eps0.1", "lec.freq.c.eps0.25"])
def test_the_tilt_of_sign_bits_is_tanh_of_half_epsilon(name: str) -> None:
    bits = SignBits(epsilon=GOLDEN[name]["inputs"]["eps"]).channel
    assert isinstance(bits, Bits)
    assert 2 * bits.own / bits.scale - 1 == pytest.approx(GOLDEN[name]["value"], rel=1e-7)


@pytest.mark.parametrize("name", ["lec.freq.eps_actual.eps0.25", "lec.freq.eps_actual.eps0.9"])
def test_signs_tilted_by_epsilon_itself_would_break_the_promise(name: str) -> None:
    row = GOLDEN[name]
    tilt = Fraction(str(row["inputs"]["eps"]))
    scale = 1 << 32
    bits = Bits(4, own=int(scale * (1 + tilt) / 2), other=scale // 2, scale=scale)
    assert log_float(bits.max_ratio()) == pytest.approx(row["value"], rel=1e-6)
    assert not Epsilon(row["inputs"]["eps"]).allows(bits.max_ratio())


def test_a_unary_report_reads_as_the_categories_whose_bit_is_one() -> None:
    mechanism = OptimizedUnaryEncoding(domain=Categories(["red", "green", "blue"]), epsilon=1)
    assert mechanism.decode(0b101) == ["red", "blue"]
    assert SignBits(domain=Categories(3), epsilon=1).signs(0b101) == [1, -1, 1]
    with pytest.raises(InvalidParameter, match="outputs"):
        mechanism.decode(8)


@pytest.mark.parametrize("kind", UNARY)
def test_unary_refuses_more_bits_than_a_report_holds(kind: type[UnaryMechanism]) -> None:
    with pytest.raises(InvalidParameter, match="domain"):
        kind(domain=Categories((1 << 20) + 1), epsilon=1)


# Local hashing


@pytest.mark.parametrize(("epsilon", "buckets"), [(0.1, 2), (0.5, 2), (1, 3), (2, 8), (4, 55), (11, 59875)])
def test_olh_has_floor_of_e_plus_one_buckets(epsilon: float, buckets: int) -> None:
    assert OptimizedLocalHashing(epsilon=epsilon).buckets == buckets


def test_olh_refuses_an_epsilon_with_too_many_buckets() -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        OptimizedLocalHashing(epsilon=11.2)


@pytest.mark.parametrize("kind", [BinaryLocalHashing, OptimizedLocalHashing])
def test_under_every_seed_hashing_is_randomized_response_on_the_bucket(
    kind: type[BinaryLocalHashing] | type[OptimizedLocalHashing],
) -> None:
    mechanism = kind(domain=Categories(50), epsilon=2)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    for seed in (0, 1, 12345, (1 << 32) - 1):
        outputs = range(seed * mechanism.buckets, (seed + 1) * mechanism.buckets)
        for x in range(50):
            row = [channel.weight(x, y) for y in outputs]
            assert row.count(channel.high) == 1
            assert sum(row) << 32 == channel.total
    assert mechanism.decode(7 * mechanism.buckets + 1) == (7, 1)


# Hadamard, projective, subset


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_hadamard_truth_and_chance_are_the_published_ones(epsilon: float) -> None:
    e = math.exp(epsilon)
    p, q = chances(HadamardResponse(domain=Categories(12), epsilon=epsilon))
    assert float(p) == pytest.approx(e / (e + 1), rel=1e-9)
    assert q == Fraction(1, 2)
    assert rare_variance(p, q) == pytest.approx((e + 1) ** 2 / (e - 1) ** 2, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "b"), [(1, 4), (2, 8), (3, 16)])
def test_hadamard_with_several_checks_is_as_good_as_its_formula_says(epsilon: float, b: int) -> None:
    e = math.exp(epsilon)
    p, q = chances(HadamardResponse(domain=Categories(12), epsilon=epsilon))
    assert float(p) == pytest.approx(e / (e + b - 1), rel=1e-9)
    assert q == Fraction(1, b)
    assert rare_variance(p, q) == pytest.approx((e + b - 1) ** 2 / ((b - 1) * (e - 1) ** 2), rel=1e-9)


@pytest.mark.parametrize(("k", "columns"), [(2, 4), (3, 4), (4, 8), (7, 8), (1000, 1024), (1024, 2048)])
def test_hadamard_has_the_least_power_of_two_above_k_columns(k: int, columns: int) -> None:
    assert HadamardResponse(domain=Categories(k), epsilon=0.5).channel.outputs == columns


@pytest.mark.parametrize(("k", "epsilon"), [(13, 0.7), (31, 1.4), (40, 3), (5, 6)])
def test_projective_chance_matches_the_formula_its_choice_rests_on(k: int, epsilon: float) -> None:
    mechanism = ProjectiveGeometryResponse(domain=Categories(k), epsilon=epsilon)
    p, q = chances(mechanism)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    summed = k * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)
    assert summed == projective.total_variance(k, *mechanism.space, Fraction(channel.high, channel.low))


@pytest.mark.parametrize("k", [2, 3, 10, 13, 100, 5000])
@pytest.mark.parametrize("epsilon", [0.1, 1, 2, 4])
def test_no_prime_below_a_thousand_beats_the_chosen_space(k: int, epsilon: float) -> None:
    odds = Epsilon(epsilon).bounds()[0]
    prime, dimension = ProjectiveGeometryResponse(domain=Categories(k), epsilon=epsilon).space
    chosen = projective.total_variance(k, prime, dimension, odds)
    for other in filter(is_prime, range(2, 1000)):
        enough = next(t for t in range(2, 20) if projective.points_of(other, t) >= k)
        assert chosen <= projective.total_variance(k, other, enough, odds)


def test_projective_variance_is_close_to_the_best_of_all_at_large_k() -> None:
    e = math.exp(2)
    each = projective.total_variance(10**6, *projective.best_space(10**6, Epsilon(2)), Epsilon(2).bounds()[0]) / 10**6
    assert float(each) == pytest.approx(4 * e / (e - 1) ** 2, rel=0.02)


def test_projective_refuses_an_epsilon_whose_field_would_be_huge() -> None:
    with pytest.raises(InvalidParameter, match="epsilon must be at most 20"):
        ProjectiveGeometryResponse(epsilon=Epsilon(30, allow_large=True))


@pytest.mark.parametrize("k", [2, 3, 7, 20, 60])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3, 6])
def test_the_subset_size_is_the_best_of_all_sizes(k: int, epsilon: float) -> None:
    odds = Epsilon(epsilon).bounds()[0]
    best = min(range(1, k), key=lambda size: subset.total_variance(k, size, odds))
    assert SubsetSelection(domain=Categories(k), epsilon=epsilon).chosen == best


def test_the_subset_law_by_enumeration() -> None:
    mechanism = SubsetSelection(domain=Categories(6), epsilon=0.5)
    channel, w = mechanism.channel, mechanism.chosen
    assert isinstance(channel, TwoLevel)
    sets = [sum(1 << v for v in chosen) for chosen in combinations(range(6), w)]
    for x in range(6):
        weights = {y: channel.weight(x, y) for y in range(64)}
        assert {y for y, weight in weights.items() if weight} == set(sets)
        assert {y for y, weight in weights.items() if weight == channel.high} == {y for y in sets if y >> x & 1}
    p, q = chances(mechanism)
    odds = Fraction(channel.high, channel.low)
    assert p == w * odds / (w * odds + 6 - w)
    assert q == (w - p) / 5


def test_a_subset_report_of_the_wrong_size_is_refused() -> None:
    mechanism = SubsetSelection(domain=Categories(["a", "b", "c", "d", "e", "f"]), epsilon=0.5)
    assert mechanism.decode(0b100001) == ["a", "f"]
    with pytest.raises(InvalidParameter, match="exactly 2"):
        mechanism.decode(0b111)
    with pytest.raises(InvalidParameter, match="domain"):
        SubsetSelection(domain=Categories(1 << 17), epsilon=1)


# Exponential


def test_the_exponential_mechanism_concentrates_as_published() -> None:
    channel = Exponential.distance(points=100, epsilon=4).channel
    near = sum(channel.weight(50, y) for y in range(20, 81))
    assert near / channel.total == pytest.approx(GOLDEN["exp.conc.eps4"]["value"], rel=1e-9)


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_the_exact_level_of_the_released_scores_is_the_golden_one(epsilon: int) -> None:
    row = GOLDEN[f"exp.actual_eps.D05.eps{epsilon}"]
    scores = [[Fraction(-abs(x - y), 100) for y in range(100)] for x in range(101)]
    half = Exponential(domain=Categories(101), epsilon=epsilon, scores=scores, sensitivity="0.5")
    assert half.certificate().holds
    assert half.certificate().epsilon_exact == pytest.approx(row["value"], rel=row["tol"])
    whole = Exponential(domain=Categories(101), epsilon=epsilon, scores=scores, sensitivity=1)
    assert whole.certificate().epsilon_exact == pytest.approx(row["value"] / 2, rel=row["tol"])


def test_exponential_weights_follow_the_formula() -> None:
    scores = [[3, 1, 0, 2], [0, 3, 1, 2], [1, 0, 3, 2]]
    channel = Exponential(domain=Categories(3), epsilon=2, scores=scores).channel
    for x, row in enumerate(scores):
        raw = [math.exp(2 * score / (2 * 3)) for score in row]
        assert [w / channel.total for w in channel.row(x)] == pytest.approx([w / sum(raw) for w in raw], rel=1e-12)


@pytest.mark.parametrize("epsilon", ["1e-9", 0.01, 1, 8, 20])
def test_random_score_tables_are_certified_also_with_far_away_outputs(epsilon: Any) -> None:
    chance = random.Random(7)
    for spread in (1, 1000, 10**9):
        shared = [chance.randrange(spread) for _ in range(6)]
        scores = [[far + Fraction(chance.randrange(1000), 1000) for far in shared] for _ in range(4)]
        for calibrate in ("sensitivity", "exact"):
            mechanism = Exponential(domain=Categories(4), epsilon=epsilon, scores=scores, calibrate=calibrate)
            assert mechanism.certificate().holds


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_exact_calibration_leaves_no_epsilon_unused(epsilon: float) -> None:
    exact = Exponential.distance(points=12, epsilon=epsilon, calibrate="exact")
    published = Exponential.distance(points=12, epsilon=epsilon)
    assert exact.certificate().holds
    assert exact.certificate().epsilon_exact == pytest.approx(epsilon, rel=2e-6)
    assert published.certificate().epsilon_exact == pytest.approx(epsilon / 2, rel=1e-9)


def test_exact_calibration_of_the_truth_score_is_k_rr() -> None:
    table = Exponential(domain=Categories(5), epsilon=1, calibrate="exact").channel
    plain = KaryRandomizedResponse(domain=Categories(5), epsilon=1).channel
    assert isinstance(table, Table)
    assert table.weight(2, 2) / table.total == pytest.approx(plain.weight(2, 2) / plain.total, rel=1e-6)


def test_a_sensitivity_too_small_for_the_scores_is_refused() -> None:
    mechanism = Exponential.distance(points=10, epsilon=1, sensitivity="0.25")
    with pytest.raises(InvalidParameter, match="sensitivity is too small"):
        mechanism.certificate()


@pytest.mark.parametrize(
    ("scores", "rule"),
    [
        ([[0, 1]], "one row per category"),
        ([[0, 1], [1]], "one length"),
        ([[0, float("nan")], [1, 0]], "finite"),
        ([[0, True], [1, 0]], "finite"),
        ([[0, 1], [0, 1]], "depend on the input"),
        ("ab", "rows of numbers"),
    ],
)
def test_bad_scores_are_refused_by_name(scores: Any, rule: str) -> None:
    with pytest.raises(InvalidParameter, match=f"scores.*{rule}"):
        Exponential(domain=Categories(2), epsilon=1, scores=scores)


@pytest.mark.parametrize("sensitivity", [0, -1, float("inf"), "wide"])
def test_a_bad_sensitivity_is_refused_by_name(sensitivity: Any) -> None:
    with pytest.raises(InvalidParameter, match="sensitivity"):
        Exponential(epsilon=1, sensitivity=sensitivity)
    with pytest.raises(InvalidParameter, match="calibrate"):
        Exponential(epsilon=1, calibrate="best")
