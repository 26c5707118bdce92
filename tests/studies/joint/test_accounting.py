"""Privacy against colluders: exact, equal to enumeration, and not what is printed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import pytest

from deniable.core import Epsilon, Pair, correlation_floor
from deniable.errors import InvalidParameter
from deniable.studies import account, bounded_pair, optimum, published_pair
from deniable.studies.joint.accounting import secret_pairing_ratio, secret_ratio_bounds
from deniable.studies.joint.enumeration import secret_grouping_ratio
from deniable.studies.joint.positive_correlation import positive_correlation_ratio_bounds, truth_bounds
from deniable.studies.joint.secret_pairing import colluding_partner_bounds, printed_ratio, secret_pairing_ratio_bounds


def pairings(users: list[int]) -> Iterator[list[tuple[int, int]]]:
    """All ways to pair the users."""
    if not users:
        yield []
        return
    first, rest = users[0], users[1:]
    for place, partner in enumerate(rest):
        for others in pairings(rest[:place] + rest[place + 1 :]):
            yield [(first, partner), *others]


def pair_patterns(pair: Pair) -> list[Fraction]:
    """The chances of both, one and none telling the truth."""
    return [Fraction(weight, pair.total) for weight in (pair.both, pair.one, pair.neither)]


def brute_force(pair: Pair, n: int, m: int) -> Fraction | None:
    """User 0 is honest, 1 to m collude: sum over all pairings, for all indicators, straight from the table."""
    joint = {(1, 1): pair.both, (1, 0): pair.one, (0, 1): pair.one, (0, 0): pair.neither}
    alone = {1: pair.truthful, 0: pair.lying}
    all_pairings = list(pairings(list(range(n))))
    worst = Fraction(1)
    for held in itertools.product((0, 1), repeat=m):
        odds = []
        for mine in (1, 0):
            known = dict(enumerate((mine, *held)))
            sums = 0
            for pairing in all_pairings:
                chance = 1
                for a, b in pairing:
                    if a in known and b in known:
                        chance *= joint[known[a], known[b]]
                    elif a in known or b in known:
                        chance *= alone[known[a] if a in known else known[b]]
                    else:
                        chance *= pair.total
                sums += chance
            odds.append(sums)
        if odds == [0, 0]:
            continue
        if 0 in odds:
            return None
        worst = max(worst, Fraction(odds[0], odds[1]), Fraction(odds[1], odds[0]))
    return worst


CASES = [("4/5", "-1/5"), ("4/5", "-1/4"), ("51/100", "-1/2"), ("4/5", "3/10"), ("4/5", "1"), ("1/20", "9/10"), ("1/2", "1/2")]
SMALL = [(n, m) for n in (2, 4, 6, 8) for m in range(n)]


@pytest.mark.parametrize(("n", "m"), SMALL)
@pytest.mark.parametrize(("p", "rho"), CASES)
def test_the_secret_number_equals_brute_force(n: int, m: int, p: str, rho: str) -> None:
    pair = Pair.exactly(p, rho)
    wanted = brute_force(pair, n, m)
    assert secret_grouping_ratio(pair_patterns(pair), n, m) == wanted
    bounds = secret_ratio_bounds(pair, n, m)
    assert (bounds is None) == (wanted is None)
    if bounds is not None and wanted is not None:
        assert bounds[0] <= wanted <= bounds[1]
        assert bounds[1] - bounds[0] < Fraction(1, 1 << 80)


@pytest.mark.parametrize("wrong_answers", [1, 4])
@pytest.mark.parametrize("p", ["51/100", "4/5", "1/3"])
def test_all_lies_are_the_worst_for_negative_correlations(p: str, wrong_answers: int) -> None:
    for n, strength in itertools.product((4, 10, 20), (Fraction(1, 5), Fraction(1, 2), Fraction(1))):
        pair = Pair.exactly(p, strength * correlation_floor(Fraction(p)))
        for m in range(n):
            wanted = secret_grouping_ratio(pair_patterns(pair), n, m, wrong_answers)
            bounds = secret_pairing_ratio_bounds(pair, n, m, wrong_answers)
            assert (wanted is None) == (bounds is None)
            assert wanted is None or bounds is None or bounds[0] <= wanted <= bounds[1]


def test_four_users_and_two_colluders_break_the_printed_theorem() -> None:
    pair = Pair.exactly("4/5", "-1/5")
    assert printed_ratio(pair, 4, 2) == Fraction(68, 7)  # 9.714…
    assert secret_pairing_ratio(pair, 4, 1) == printed_ratio(pair, 4, 1)
    assert brute_force(pair, 4, 2) == Fraction(52, 3)  # 17.333…
    accounted = account(pair, 4, 2)
    assert accounted.epsilon_secret_pairing == pytest.approx(math.log(52 / 3))
    assert accounted.epsilon_secret_pairing > accounted.epsilon_printed


@pytest.mark.parametrize(("m", "wanted"), [(0, 1), (1, 1.000137), (100, 1.013861), (500, 1.073244), (1000, 1.157845)])
def test_the_published_setting_for_ten_thousand_users(m: int, wanted: float) -> None:
    accounted = account(published_pair(1), 10_000, m)
    assert accounted.epsilon_secret_pairing == pytest.approx(wanted, abs=6e-7)
    assert accounted.epsilon_known_pairing == math.inf
    assert accounted.exposed_fraction == pytest.approx(m / 9999 / (1 + math.e))


def test_half_the_users_know_everything_at_the_published_setting() -> None:
    assert math.isfinite(account(published_pair(1), 1000, 499).epsilon_secret_pairing)
    assert account(published_pair(1), 1000, 500).epsilon_secret_pairing == math.inf


@pytest.mark.parametrize("m", [1, 1000, 10**6, 5 * 10**6, 10**7 - 1])
def test_ten_million_users_are_accounted_for(m: int) -> None:
    accounted = account(bounded_pair(1, 2), 10**7, m)
    assert accounted.epsilon_marginal <= accounted.epsilon_secret_pairing <= accounted.epsilon_known_pairing + 1e-12


def test_bounds_are_exact_without_correlation() -> None:
    low, high = colluding_partner_bounds(1000, 300, Fraction(1)) or (Fraction(0), Fraction(0))
    assert low <= Fraction(300, 999) <= high


def test_independent_answers_do_not_care_about_colluders() -> None:
    accounted = account(bounded_pair(1, 1), 1000, 900)
    assert accounted.epsilon_secret_pairing == pytest.approx(accounted.epsilon_marginal, abs=1e-15)
    assert accounted.epsilon_known_pairing == pytest.approx(accounted.epsilon_marginal, abs=1e-15)
    assert accounted.exposed_fraction == accounted.weakened_fraction == 0


def test_an_odd_number_is_one_more_with_an_empty_seat() -> None:
    pair = bounded_pair(1, 2)
    assert account(pair, 99, 10, leftover=True).epsilon_secret_pairing == account(pair, 100, 10).epsilon_secret_pairing


@pytest.mark.parametrize("wrong_answers", [1, 4, 999])
@pytest.mark.parametrize("p", ["1/1000", "1/20", "1/3", "1/2", "4/5", "99/100"])
def test_positive_correlations_equal_the_search_over_all_indicators(p: str, wrong_answers: int) -> None:
    for n, rho in itertools.product((4, 10, 40), ("1/100", "1/2", "99/100", "1")):
        pair = Pair.exactly(p, rho)
        for m in {1, 2, 3, n // 2 - 1, n // 2, n - 2, n - 1}:
            wanted = secret_grouping_ratio(pair_patterns(pair), n, m, wrong_answers)
            bounds = positive_correlation_ratio_bounds(pair, n, m, wrong_answers)
            assert (bounds is None) == (wanted is None)
            if bounds is not None and wanted is not None:
                assert bounds[0] <= wanted <= bounds[1]
                assert bounds[1] - bounds[0] < wanted / (1 << 80)


def test_all_the_same_is_not_always_the_worst() -> None:
    """Two rare truths nearly always meet; one alone sits with somebody honest."""
    pair, n, m = Pair.exactly("1/20", "9/10"), 6, 4
    same, odd = (truth_bounds(pair, n, m, True, odd_one=odd_one)[0] for odd_one in (False, True))
    assert odd / (1 - odd) > 3 * same / (1 - same)


@pytest.mark.parametrize("p", ["1/2", "4/5", "99/100"])
def test_for_bits_all_truths_are_the_worst_of_a_positive_correlation(p: str) -> None:
    """What the proof says: over all indicators, and beside the lying side."""
    for n, m, rho in [(12, 5, "1/3"), (12, 6, "9/10"), (30, 29, "1/2"), (30, 16, "1")]:
        pair = Pair.exactly(p, rho)
        truth = truth_bounds(pair, n, m, True, odd_one=False)
        wanted = secret_grouping_ratio(pair_patterns(pair), n, m)
        assert wanted is not None
        assert truth[0] / (1 - truth[0]) <= wanted <= truth[1] / (1 - truth[1])


@pytest.mark.parametrize("m", [1, 1000, 10**6, 5 * 10**6, 10**7 - 1])
@pytest.mark.parametrize(("p", "rho"), [("4/5", "1/5"), ("1/1000", "9/10")])
def test_ten_million_users_with_a_positive_correlation_are_accounted_for(p: str, rho: str, m: int) -> None:
    accounted = account(Pair.rounded(p, rho), 10**7, m, wrong_answers=999)
    assert accounted.epsilon_marginal <= accounted.epsilon_secret_pairing <= accounted.epsilon_known_pairing + 1e-12
    assert accounted.epsilon_secret_pairing_at_least == pytest.approx(accounted.epsilon_secret_pairing, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "m", "message"), [(101, 3, "n must be even"), (100, 100, "m, the number"), (100, -1, "m, the"), (0, 0, "n must")]
)
def test_bad_crowds_are_refused(n: int, m: int, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        account(published_pair(1), n, m)


@pytest.mark.parametrize(("m", "ones"), [(0, 100), (500, 100), (1000, 100), (3000, 100), (900, 1000), (200, 5000)])
def test_the_optimum_is_private_and_no_worse_than_alone(m: int, ones: int) -> None:
    best = optimum(1, 10_000, m, ones)
    ratio = secret_pairing_ratio(best.pair, 10_000, m)
    assert ratio is not None
    assert Epsilon(1).allows(ratio)
    assert best.variance <= 10_000 * math.e / (math.e - 1) ** 2 * (1 + 1e-9)
    if m == 500:
        assert best.printed_epsilon > 1.003  # the printed constraint would have let through more than it says
        assert best.pair.neither == 0
    if ones == 5000 or m == 3000:
        assert best.pair.correlation == 0
