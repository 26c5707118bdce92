"""More than bits, more than two: k-ary pairs, unary and hashed reports, groups."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.core import Epsilon, Pair
from deniable.errors import InvalidParameter, NotSupported
from deniable.privacy import FixedCoins, FixedKeystream, goodness_of_fit
from deniable.privacy.conformance.statistics import FALSE_ALARM
from deniable.studies import Group, KaryPair, UnaryPair, account, bounded_pair, feasible_rho, least_correlation, variance_joint
from deniable.studies.joint.accounting import known_pairing_ratio
from deniable.studies.joint.sampling import shuffle

from .partitions import partitions
from .squared_errors import within_three_errors

RUNS = 1500


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
    accounted = Group((1, 3, 0, 0)).account(12, 2)
    # One other member colludes: settled when it lied (1/4). Two: settled when one of them lied (1/2).
    one, two = Fraction(2 * 9, math.comb(11, 2)), Fraction(1, math.comb(11, 2))
    assert accounted.exposed_fraction == pytest.approx(float(one / 4 + two / 2))
    assert accounted.epsilon_known_pairing == math.inf


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


def test_too_many_colluders_are_bounded_not_guessed() -> None:
    group = Group((4, 6, 3, 1))
    with pytest.raises(NotSupported, match="at most 160 colluders"):
        group.secret_ratio(300, 161)
    found, fewer = group.account(300, 200), group.account(300, 160)
    assert found.epsilon_secret_pairing == found.epsilon_known_pairing
    assert found.epsilon_secret_pairing_at_least == fewer.epsilon_secret_pairing == fewer.epsilon_secret_pairing_at_least
    assert fewer.epsilon_marginal < fewer.epsilon_secret_pairing < found.epsilon_known_pairing


def test_the_number_of_users_does_not_limit_groups() -> None:
    found = [Group((4, 6, 3, 1)).secret_ratio(n, 5) for n in (60, 600, 6_000_000)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[2] is not None
    assert found[0] > found[1] > found[2] > Group((4, 6, 3, 1)).marginal_ratio()
