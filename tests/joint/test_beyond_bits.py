"""More than bits, more than two: k-ary pairs, unary and hashed reports, groups."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.channels.pair import Pair
from deniable.errors import InvalidParameter, NotSupported
from deniable.exact import Epsilon
from deniable.joint import (
    Group,
    HashedPair,
    KaryPair,
    UnaryPair,
    account,
    bounded_pair,
    feasible_rho,
    least_correlation,
    variance_joint,
)
from deniable.joint.accounting import known_pairing_ratio
from deniable.joint.sampling import shuffle
from deniable.testing.coins import FixedCoins
from deniable.testing.keystream import FixedKeystream
from deniable.testing.statistics import FALSE_ALARM, goodness_of_fit

RUNS = 1500


def within_three_errors(estimates: np.ndarray[Any, Any], truth: float, variance: float) -> bool:
    """Is the measured squared error the stated variance, within three standard errors of its own?"""
    squares = (estimates - truth) ** 2
    return bool(abs(squares.mean() - variance) < 3 * squares.std(ddof=1) / math.sqrt(len(squares)))


def published_cells(k: int, p: Fraction, q: Fraction, rho: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    return p * p + rho * p * q, p * q - rho * p * q / (k - 1), q * q + rho * p * q / (k - 1) ** 2


@pytest.mark.parametrize(("k", "rho"), [(2, "-1/5"), (4, "1/2"), (10, "-1/3"), (100, "99")])
def test_k_ary_tables_are_the_published_ones(k: int, rho: str) -> None:
    pair = KaryPair.at(k, 1, rho)
    both, one, neither = published_cells(k, pair.truth, pair.other, pair.rho)
    assert Fraction(pair.pair.both, pair.pair.total) == both
    assert Fraction(pair.pair.one, pair.pair.total) == one * (k - 1)
    assert Fraction(pair.pair.neither, pair.pair.total) == neither * (k - 1) ** 2
    assert both + 2 * (k - 1) * one + (k - 1) ** 2 * neither == 1
    assert float(pair.rho) == pytest.approx(float(Fraction(rho)))
    assert pair.pair.correlation == pair.rho / (k - 1)


@pytest.mark.parametrize("k", [2, 3, 10, 1000])
def test_k_ary_tables_exist_exactly_in_their_range(k: int) -> None:
    p = Fraction(3, k + 2)
    q = (1 - p) / (k - 1)
    low, high = feasible_rho(k, p)
    assert low == max(-p / q, -((k - 1) ** 2) * q / p)
    assert high == k - 1
    assert min(published_cells(k, p, q, low)) == 0
    assert min(published_cells(k, p, q, low - Fraction(1, 10**6))) < 0
    assert min(published_cells(k, p, q, high)) == 0


@pytest.mark.parametrize("k", [2, 3, 5, 50])
@pytest.mark.parametrize(("epsilon", "collusion"), [("1/10", "1/2"), (1, 1), (1, 2), (3, 8)])
def test_bounded_k_ary_tables_keep_both_promises(k: int, epsilon: Any, collusion: Any) -> None:
    pair = KaryPair.bounded(k, epsilon, collusion)
    ratio = known_pairing_ratio(pair.pair, k - 1)
    assert ratio is not None
    assert Epsilon(collusion).allows(ratio)
    assert Epsilon(epsilon).allows(pair.truth / pair.other)
    assert pair.pair.correlation <= 0
    if k == 2 and collusion != epsilon:
        assert pair.pair == bounded_pair(epsilon, collusion)


def test_k_ary_variance_for_two_values_is_theorem_4() -> None:
    pair = bounded_pair(1, 2)
    assert KaryPair(2, pair).variance(100, 30) == variance_joint(pair, 100, 30)


def test_k_ary_reports_have_their_mean_and_variance() -> None:
    pair, stream, held = KaryPair.bounded(4, 1, 3), FixedKeystream(21), [140, 30, 20, 10]
    values, n = np.repeat(np.arange(4), held), 200
    found = []
    for _ in range(2 * RUNS):
        shuffle(values, stream)
        found.append(pair.estimate(np.bincount(pair.answer(values, stream), minlength=4)).value)
    estimates = np.array(found)
    for value in range(4):
        assert within_three_errors(estimates[:, value], held[value], float(pair.variance(n, held[value])))


def test_unary_draws_have_the_marginals_of_oue_and_the_stated_joint_law() -> None:
    joint, coins, draws = UnaryPair(2, Pair(3, 1, 0)), FixedCoins(22), 40_000
    counts = np.zeros((2, 4), int)
    for _ in range(draws):
        first, second = joint.draw(0, 1, coins)
        for bit in range(2):
            counts[bit, 2 * (first >> bit & 1) + (second >> bit & 1)] += 1
    # Bit 0 is the first user's own (1 with chance 1/2) and not the second's (1 with chance q = 1/5).
    p, keep = Fraction(4, 5), Fraction(5, 8)
    own_true_other_lies = Fraction(1, 5) * keep
    law = [p * 1 - 0 - (Fraction(3, 5) * keep), Fraction(1, 5) - own_true_other_lies, Fraction(3, 5) * keep, own_true_other_lies]
    assert sum(law) == 1
    assert law[2] + law[3] == Fraction(1, 2)
    assert law[1] + law[3] == Fraction(1, 5)
    assert goodness_of_fit(counts[0].tolist(), [int(400 * chance) for chance in law]) > FALSE_ALARM
    assert goodness_of_fit(counts[1][[0, 2, 1, 3]].tolist(), [int(400 * chance) for chance in law]) > FALSE_ALARM


def test_unary_counts_have_their_mean_and_variance() -> None:
    joint, stream, held = UnaryPair.published(3, 1), FixedKeystream(23), [150, 40, 10]
    values, q = np.repeat(np.arange(3), held), float(joint.pair.lie)
    found = []
    for _ in range(RUNS):
        shuffle(values, stream)
        found.append((joint.counts(values, stream) - 200 * q) / (0.5 - q))
    for value, estimates in enumerate(np.array(found).T):
        assert within_three_errors(estimates, held[value], joint.variance(200, held[value]))


def test_unary_privacy_is_oues_alone_and_nothing_with_a_known_partner() -> None:
    published, milder = UnaryPair.published(50, 1), UnaryPair(50, bounded_pair(1, 2))
    assert published.account(1000, 5).epsilon_marginal == pytest.approx(1)
    assert published.account(1000, 5).epsilon_known_pairing == math.inf
    assert 1 < milder.account(1000, 5).epsilon_known_pairing < 4
    assert milder.account(1000, 0).epsilon_secret_pairing == pytest.approx(1)


def test_unary_known_privacy_equals_enumeration() -> None:
    joint = UnaryPair(2, Pair(5, 2, 1))
    worst = Fraction(0)
    for partner in itertools.product((True, False), repeat=2):
        for shown in itertools.product((0, 1), repeat=2):
            chances = []
            for value in (0, 1):
                chance = Fraction(1)
                for bit in range(2):
                    truth, lie = joint.pair.given(partner[bit])
                    told = Fraction(truth, truth + lie)
                    one = told * joint.keep if bit == value else 1 - told
                    chance *= one if shown[bit] else 1 - one
                chances.append(chance)
            worst = max(worst, chances[0] / chances[1], chances[1] / chances[0])
    assert joint.account(10, 1).epsilon_known_pairing == pytest.approx(math.log(worst))


def test_hashed_reports_gain_on_frequent_values_only() -> None:
    joint, stream = HashedPair(6, KaryPair.at(3, 1, "-1")), FixedKeystream(24)
    held = [90, 6, 1, 1, 1, 1]
    values = np.repeat(np.arange(6), held)
    plain = HashedPair(6, KaryPair.at(3, 1, 0))
    assert joint.variance(100, 90) < plain.variance(100, 90) * 0.9
    assert joint.variance(100, 1) == pytest.approx(plain.variance(100, 1))
    found = []
    for _ in range(RUNS):
        shuffle(values, stream)
        reports = joint.answer(values, stream)
        found.append([joint.estimate(reports, 0), joint.estimate(reports, 1)])
    for value, estimates in enumerate(np.array(found).T):
        assert within_three_errors(estimates, held[value], joint.variance(100, held[value]))


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_groups_reach_the_least_correlation_and_no_table_goes_below(size: int) -> None:
    group = Group.mixed(size, 1, Fraction(1))
    assert group.correlation == least_correlation(size, group.lie)
    source = np.random.Generator(np.random.PCG64(1))
    for _ in range(200):
        other = Group(tuple(int(weight) for weight in source.integers(0, 50, size + 1) + np.eye(size + 1, dtype=int)[1]))
        assert least_correlation(size, other.lie) <= other.correlation <= 1


def test_pairs_are_groups_of_two() -> None:
    pair = Pair(5, 2, 1)
    group = Group((5, 4, 1))
    assert (group.truth, group.correlation) == (pair.truth, pair.correlation)
    assert group.variance(100, 10) == variance_joint(pair, 100, 10)
    assert group.known_ratio() == known_pairing_ratio(pair)


def test_groups_of_two_are_accounted_like_pairs() -> None:
    for pair, group in ((Pair(5, 2, 1), Group((5, 4, 1))), (Pair(3, 1, 0), Group((3, 2, 0)))):
        for m in (0, 3, 9):
            theirs, ours = account(pair, 20, m).to_dict(), group.account(20, m).to_dict()
            del theirs["epsilon_printed"], ours["epsilon_printed"]
            assert ours == pytest.approx(theirs)


def test_one_liar_among_three_exposes_the_others() -> None:
    found = Group((1, 3, 0, 0)).account(12, 2)
    # One other member colludes: settled when it lied (1/4). Two: settled when one of them lied (1/2).
    one, two = Fraction(2 * 9, math.comb(11, 2)), Fraction(1, math.comb(11, 2))
    assert found.exposed_fraction == pytest.approx(float(one / 4 + two / 2))
    assert found.epsilon_known_pairing == math.inf


def partitions(users: list[int], size: int) -> Any:
    if not users:
        yield []
        return
    for chosen in itertools.combinations(users[1:], size - 1):
        rest = [user for user in users[1:] if user not in chosen]
        for others in partitions(rest, size):
            yield [(users[0], *chosen), *others]


@pytest.mark.parametrize("m", range(6))
def test_secret_grouping_equals_brute_force(m: int) -> None:
    group, worst = Group((4, 6, 3, 1)), Fraction(1)
    for held in itertools.product((0, 1), repeat=m):
        chances = []
        for mine in (1, 0):
            known = (mine, *held)
            chance = Fraction(0)
            for truths in itertools.product((0, 1), repeat=6 - len(known)):
                told = (*known, *truths)
                for groups in partitions(list(range(6)), 3):
                    chance += math.prod(group.pattern(sum(1 - told[user] for user in each)) for each in groups)
            chances.append(chance)
        worst = max(worst, chances[0] / chances[1], chances[1] / chances[0])
    assert group.secret_ratio(6, m) == worst


@pytest.mark.parametrize("size", [3, 5])
def test_bounded_groups_keep_both_promises(size: int) -> None:
    group = Group.bounded(size, 1, 2)
    known = group.known_ratio()
    assert known is not None
    assert Epsilon(2).allows(known)
    assert Epsilon(1).allows(group.marginal_ratio())
    assert math.log(known) > 1.999
    assert group.correlation < 0


def test_group_draws_follow_the_table() -> None:
    group, coins = Group((4, 6, 3, 1)), FixedCoins(25)
    counts = [0] * 8
    for _ in range(30_000):
        first, second, third = group.indicators(coins)
        counts[4 * (1 - first) + 2 * (1 - second) + (1 - third)] += 1
    assert goodness_of_fit(counts, [int(42 * group.pattern(place.bit_count())) for place in range(8)]) > FALSE_ALARM


def test_group_variance_is_matched_within_three_standard_errors() -> None:
    group, coins, stream = Group.mixed(3, 1, Fraction(1)), FixedCoins(26), FixedKeystream(26)
    users, p, q = np.repeat([1, 0], [27, 3]), float(group.truth), float(group.lie)
    found = []
    for _ in range(4000):
        shuffle(users, stream)
        told = np.array([told for _ in range(10) for told in group.indicators(coins)])
        found.append((np.count_nonzero(users == told) - 30 * q) / (p - q))
    assert within_three_errors(np.array(found), 27, float(group.variance(30, 27)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: KaryPair.at(4, 1, -3), "rho must lie between"),
        (lambda: KaryPair.at(1, 1, 0), "k must be"),
        (lambda: KaryPair.bounded(3, 2, 1), "epsilon_collusion"),
        (lambda: KaryPair.bounded(3, 1, 2).answer([0, 3]), "from 0 to 2"),
        (lambda: KaryPair.bounded(3, 1, 2).variance(11, 3), "n must be even"),
        (lambda: UnaryPair(1, bounded_pair(1, 2)), "k must be"),
        (lambda: Group((1, 2)), "2 to 16 members"),
        (lambda: Group.mixed(3, 1, Fraction(2)), "strength"),
        (lambda: Group.bounded(3, 2, 1), "epsilon_collusion"),
        (lambda: Group((4, 6, 3, 1)).variance(10, 3), "multiple of the group size 3"),
    ],
)
def test_bad_tables_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        wrong()


def test_large_groups_are_refused_not_guessed() -> None:
    with pytest.raises(NotSupported, match="at most 120 users"):
        Group((4, 6, 3, 1)).secret_ratio(300, 2)
