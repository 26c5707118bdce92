"""Exact intervals, checked by adding up every probability."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable.batch import randomize_many
from deniable.core import Categories, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import clopper_pearson, counts, shares
from deniable.estimators.binomial_tails import lower_tail_of, upper_tail_of
from deniable.estimators.frequency import OWN
from deniable.estimators.intervals import SupportInterval, two_binomials
from deniable.privacy import FixedKeystream

from .simulated import mechanism_of

CHANCES = [(0.73, 0.27), (0.5, 0.05), (0.98, 0.02), (0.3, 0.29), (0.999, 0.001)]


def law(people: int, n: int, p: float, q: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The chances of every support count, by convolution."""
    own = stats.binom.pmf(np.arange(people + 1), people, p)
    others = stats.binom.pmf(np.arange(n - people + 1), n - people, q)
    return np.convolve(own, others)


@pytest.mark.parametrize(("p", "q"), CHANCES)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_these_users_are_covered_whoever_they_are(n: int, p: float, q: float) -> None:
    every = np.arange(n + 1)
    for level in (0.5, 0.95):
        exact = two_binomials(every, n, p, q, (1 - level) / 2)
        # What very many reports get: the binomial of the same mean.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("deniable.estimators.intervals.MOST_TERMS", 0)
            stand_in = SupportInterval(every, n, p, q, 1.0, these_users=True).interval(level)
        for low, high in (exact, stand_in):
            for people in range(n + 1):
                covered = law(people, n, p, q)[(low <= people + 1e-9) & (people - 1e-9 <= high)].sum()
                assert covered >= level - 1e-9


@pytest.mark.parametrize(("p", "q"), CHANCES)
def test_tails_are_those_of_the_sum_of_two_binomials(p: float, q: float) -> None:
    for people in (0, 1, 150, 299, 300):
        chances = law(people, 300, p, q)
        for own in (1.0, 0.25):
            lower = [lower_tail_of(supported, people, 300, p, q, own) for supported in range(301)]
            upper = [upper_tail_of(supported, people, 300, p, q, own) for supported in range(301)]
            assert lower == pytest.approx(np.cumsum(chances) - (1 - own) * chances, abs=1e-10)
            assert upper == pytest.approx(np.cumsum(chances[::-1])[::-1] - (1 - own) * chances, abs=1e-10)


@pytest.mark.parametrize("n", [1, 5, 60])
def test_a_population_is_covered_whatever_its_share(n: int) -> None:
    p, q = 0.6, 0.2
    low, high = SupportInterval(np.arange(n + 1), n, p, q, 1 / n, these_users=False).interval(0.9)
    for share in np.linspace(0, 1, 201):
        chances = stats.binom.pmf(np.arange(n + 1), n, q + share * (p - q))
        assert chances[(low <= share + 1e-12) & (share - 1e-12 <= high)].sum() >= 0.9 - 1e-9


def test_clopper_pearson_is_scipys() -> None:
    low, high = clopper_pearson(np.array([0, 3, 20]), 20, 0.025)
    for i, successes in enumerate((0, 3, 20)):
        expected = stats.binomtest(successes, 20).proportion_ci(0.95, method="exact")
        assert (low[i], high[i]) == pytest.approx((expected.low, expected.high))


def test_exact_and_normal_intervals_agree_on_many_reports() -> None:
    mechanism = mechanism_of("oue", 4, 1)
    estimate = counts(randomize_many(mechanism, np.repeat(np.arange(4), 5000), FixedKeystream(1)))
    for ours, theirs in zip(estimate.interval(method="exact"), estimate.interval(method="wald"), strict=True):
        assert ours == pytest.approx(theirs, abs=0.03 * float(estimate.standard_error.max()))
    wide = shares(randomize_many(mechanism, np.repeat(np.arange(4), 5000), FixedKeystream(1)), target="population")
    for ours, theirs in zip(wide.interval(method="exact"), wide.interval(method="wald"), strict=True):
        assert ours == pytest.approx(theirs, abs=0.05 * float(wide.standard_error.max()))


def test_exact_intervals_stay_within_what_is_possible() -> None:
    mechanism = mechanism_of("hadamard", 4, 0.5)
    estimate = shares(randomize_many(mechanism, [1, 1, 2], FixedKeystream(1)))
    low, high = estimate.interval(method="exact")
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (estimate.interval(method="wald")[0] < 0).any()


def test_tables_have_no_exact_interval() -> None:
    estimate = counts(randomize_many(mechanism_of("exponential", 4, 1), [1, 2, 3], FixedKeystream(1)))
    with pytest.raises(NotSupported, match="wald"):
        estimate.interval(method="exact")
    with pytest.raises(InvalidParameter, match="method"):
        estimate.interval(method="bootstrap")  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
@pytest.mark.parametrize("these_users", [True, False])
def test_shares_of_few_reports_hold_as_often_as_they_say(epsilon: float, these_users: bool) -> None:
    # Exactly, by summing over every possible support; normal intervals held in 85 % of surveys here.
    n, odds = 50, math.exp(epsilon)
    every = np.arange(n + 1)
    for p, q in ((0.5, 1 / (odds + 1)), (odds / (odds + 4), 1 / (odds + 4)), (odds / (odds + 1), 1 / (odds + 1))):
        low, high = SupportInterval(every, n, p, q, 1.0, these_users, OWN).interval(0.95)
        assert (low < high).all(), "an interval is never a single count"
        for people in range(0, n + 1, 5):
            chances = law(people, n, p, q) if these_users else stats.binom.pmf(every, n, q + (p - q) * people / n)
            assert chances @ ((low <= people + 1e-9) & (people - 1e-9 <= high)) > 0.935


def test_a_projected_share_of_nothing_is_not_certain() -> None:
    mechanism = make_mechanism("oue", domain=Categories(8), epsilon=1)
    found = shares(randomize_many(mechanism, np.zeros(200, np.int64), FixedKeystream("none"))).projected("simplex")
    low, high = found.interval()
    assert (high > 0.01).all()
    assert (low >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("these_users", [True, False])
def test_normal_ends_agree_with_the_exact_ones_of_many_reports(these_users: bool) -> None:
    n, p, q = 1 << 20, 0.5, 0.2
    supported = np.array([n // 5, n // 4, n // 3, n // 2])
    for ours, theirs in zip(
        SupportInterval(supported, n, p, q, 1 / n, these_users, OWN).interval(0.95),
        SupportInterval(supported, n, p, q, 1 / n, these_users).interval(0.95),
        strict=True,
    ):
        assert np.abs(ours - theirs).max() < 2e-3
