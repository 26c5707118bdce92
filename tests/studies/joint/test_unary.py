"""Joint answers inside optimized unary encoding: law, variance, and privacy between its bounds."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.core import Pair
from deniable.privacy import FixedCoins, FixedKeystream, goodness_of_fit
from deniable.privacy.conformance.statistics import FALSE_ALARM
from deniable.studies import UnaryPair, bounded_pair
from deniable.studies.joint.sampling import shuffle

from .partitions import partitions
from .squared_errors import within_three_errors

RUNS = 1500


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


def worst_unary_ratio(joint: UnaryPair, n: int, m: int) -> Fraction:
    """User 0 is honest, 1 to m collude: all indicators of all bits, all reports, all pairings, straight from the law."""
    pair, k, worst = joint.pair, joint.k, Fraction(0)
    cells = {(1, 1): pair.both, (1, 0): pair.one, (0, 1): pair.one, (0, 0): pair.neither}
    for flat in itertools.product((0, 1), repeat=m * k):
        held = [flat[k * user : k * user + k] for user in range(m)]
        for shown in itertools.product((0, 1), repeat=k):
            chances = [Fraction(0)] * 2
            for pairs in partitions(list(range(n)), 2):
                base, known = Fraction(1), None
                for one, other in pairs:
                    if one == 0:
                        known = held[other - 1] if other <= m else None
                        base *= 1 if known is None else math.prod(pair.truth if told else pair.lie for told in known)
                    elif one <= m and other <= m:
                        both = zip(held[one - 1], held[other - 1], strict=True)
                        base *= math.prod(Fraction(cells[indicators], pair.total) for indicators in both)
                    elif one <= m:
                        base *= math.prod(pair.truth if told else pair.lie for told in held[one - 1])
                for value in (0, 1):
                    chance = base
                    for bit in range(k):
                        truth, lie = (pair.truthful, pair.lying) if known is None else pair.given(known[bit] == 1)
                        told = Fraction(truth, truth + lie)
                        one_shown = told * joint.keep if bit == value else 1 - told
                        chance *= one_shown if shown[bit] else 1 - one_shown
                    chances[value] += chance
            worst = max(worst, chances[0] / chances[1], chances[1] / chances[0])
    return worst


@pytest.mark.parametrize("table", [Pair(5, 2, 1), Pair(9, 1, 3)])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_unary_secret_privacy_of_one_colluder_is_exact(table: Pair, k: int) -> None:
    joint = UnaryPair(k, table)
    for n in (4, 6):
        found, wanted = joint.account(n, 1), math.log(worst_unary_ratio(joint, n, 1))
        assert found.epsilon_secret_pairing == pytest.approx(wanted, abs=1e-12)
        assert found.epsilon_secret_pairing_at_least == found.epsilon_secret_pairing


@pytest.mark.slow
@pytest.mark.parametrize("table", [Pair(5, 2, 1), Pair(9, 1, 3), Pair(30, 9, 1)])
def test_unary_secret_privacy_of_more_colluders_lies_between_its_bounds(table: Pair) -> None:
    for k, m in ((2, 2), (2, 3), (3, 2)):
        joint = UnaryPair(k, table)
        found, wanted = joint.account(6, m), math.log(worst_unary_ratio(joint, 6, m))
        assert found.epsilon_secret_pairing_at_least <= wanted + 1e-12
        assert wanted <= found.epsilon_secret_pairing + 1e-12
        assert found.epsilon_secret_pairing_at_least > found.epsilon_marginal


def test_many_bits_betray_the_pairing() -> None:
    found = UnaryPair(200, bounded_pair(1, 2)).account(1000, 10)
    assert found.epsilon_known_pairing - found.epsilon_secret_pairing_at_least < 0.01
