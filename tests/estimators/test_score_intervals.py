"""Score intervals against the exact law of the reports: how often they hold is summed up, not drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Binary, Categories, Interval, Record, SampleOne
from deniable.estimators import HierarchicalHistogram, attribute_shares, shares
from deniable.estimators.score_intervals import ScoreIntervals, of_supports, of_table
from deniable.privacy import FixedKeystream


def chances(epsilon: float, k: int = 4) -> tuple[float, float]:
    """p and q of k-ary randomized response."""
    odds = math.exp(epsilon)
    return odds / (odds + k - 1), 1 / (odds + k - 1)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
@pytest.mark.parametrize("n", [10, 50])
def test_every_number_of_people_is_covered_exactly_often_enough(n: int, epsilon: float) -> None:
    p, q = chances(epsilon)
    supports = np.arange(n + 1)
    low, high = of_supports((supports / n - q) / (p - q), p, q, n, sampled=0.0).interval(0.95)
    covered = []
    for people in range(n + 1):
        own, others = stats.binom.pmf(supports[: people + 1], people, p), stats.binom.pmf(supports[: n - people + 1], n - people, q)
        law = np.convolve(own, others)
        covered.append(law @ ((low <= people / n + 1e-9) & (people / n - 1e-9 <= high)))
    assert min(covered) >= 0.935


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_shares_of_a_population_are_covered_exactly_often_enough(epsilon: float) -> None:
    n, (p, q) = 50, chances(epsilon)
    supports = np.arange(n + 1)
    low, high = of_supports((supports / n - q) / (p - q), p, q, n, sampled=1.0).interval(0.95)
    for share in np.linspace(0, 1, 41):
        law = stats.binom.pmf(supports, n, q + share * (p - q))
        assert law @ ((low <= share + 1e-9) & (share - 1e-9 <= high)) >= 0.935


def test_a_table_of_two_values_is_the_same_as_its_supports() -> None:
    p, q = chances(1, 2)
    law = np.array([[p, q], [q, p]])
    value = np.array([0.3, 0.7])
    both = of_table(value, value, np.linalg.inv(law).T, law, 200, 0.0, 1.0)
    plain = of_supports(value, p, q, 200, 0.0)
    assert np.allclose(both.interval(0.95), plain.interval(0.95), atol=0.25 / (200 * (p - q)) + 2e-3)


def test_an_estimate_beyond_what_is_possible_has_an_interval_that_is_not_empty() -> None:
    p, q = chances(1)
    low, high = of_supports(np.array([-0.4, 1.4]), p, q, 50, 0.0).interval(0.95)
    assert (low[0], high[1]) == (0.0, 1.0)
    assert high[0] > 0.05
    assert low[1] < 0.95


def test_fields_that_some_answered_are_wider_than_those_who_answered() -> None:
    """The share of all, from half of them, is less sure than the share of that half."""
    both = SampleOne(domain=Record({"smokes": Binary(), "city": Categories(3)}), epsilon=4)
    people = {"smokes": np.arange(200) % 2, "city": np.arange(200) % 3}
    sums = accumulator_for(both).add(randomize_many(both, people, FixedKeystream(1)))
    everyone = attribute_shares(sums)["smokes"].interval()
    half = shares(sums.parts["smokes"]).interval()  # type: ignore[attr-defined]
    assert (everyone[1] - everyone[0] > 1.3 * (half[1] - half[0])).all()


@pytest.mark.parametrize("oracle", ["hadamard", "oue"])
def test_quantiles_of_a_tree_lie_between_edges_that_hold_them(oracle: str) -> None:
    """People who are all at 0 have the quantile 0, which a normal interval around a bin's middle missed."""
    tree = HierarchicalHistogram(Interval(0, 1), epsilon=4, fan_out=4, levels=2, oracle=oracle)  # type: ignore[arg-type]
    sums = tree.accumulate(tree.randomize_many(np.zeros(2000), FixedKeystream(1)))
    low, high = sums.quantiles((0.1, 0.5, 0.9)).interval()
    assert (low == 0).all()
    assert (high <= 0.25).all()
    least, most = sums.range_share(0.0, 0.2).interval()
    assert least <= 1 <= most + 1e-9
    assert least > 0.9
    assert isinstance(sums.shares().sure, ScoreIntervals)
