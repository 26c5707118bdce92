"""How the numbers of a key are distributed among those who have it: exact moments, and intervals that hold for rare keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.batch import Reports, draw_many, encode_many
from deniable.core import Interval, KeyValue, Mechanism, make_mechanism
from deniable.errors import NotSupported
from deniable.estimators import PairLaw, accumulated, key_distributions, key_means, key_shares
from deniable.privacy import FixedKeystream

DOMAIN = KeyValue(["tea", "coffee", "milk", "cocoa"], Interval(1, 5, cells=4), at_most=2)
NUMBERS = [1.0, 2.0, 3.0, 4.0, 5.0]
Maps = list[dict[str, float]]

UGLY: dict[str, Any] = {
    "one person has the key": lambda n: [{"tea": 5.0}] + [{"milk": 2.0}, {}] * (n // 2 - 1) + [{}],
    "everyone the same": lambda n: [{"tea": 4.0, "milk": 1.0}] * n,
    "both ends": lambda n: [{"tea": 1.0}, {"tea": 5.0, "coffee": 3.0}] * (n // 2),
    "nobody has anything": lambda n: [{}] * n,
    "a rare key beside a common one": lambda n: [{"cocoa": 5.0}] * max(n // 20, 1) + [{"tea": 1.0}] * (n - max(n // 20, 1)),
}


def runs(mechanism: Mechanism, maps: Maps, count: int, seed: int = 1) -> list[Reports]:
    inputs, stream = encode_many(mechanism, maps), FixedKeystream(seed)
    return [Reports(mechanism, draw_many(mechanism.channel, inputs, stream)) for _ in range(count)]


def truths(maps: Maps) -> tuple[Any, Any, Any]:
    """Shares of keys, means, and shares of numbers; nan for a key that nobody has."""
    having = [[one[key] for one in maps if key in one] for key in DOMAIN.labels]
    shares = np.array([len(numbers) / len(maps) for numbers in having])
    means = np.array([np.mean(numbers) if numbers else np.nan for numbers in having])
    parts = [[numbers.count(number) / len(numbers) if numbers else np.nan for number in NUMBERS] for numbers in having]
    return shares, means, np.array(parts).reshape(-1)


@pytest.mark.parametrize("own", [None, 0, 2])
def test_the_moments_of_a_report_are_those_of_every_output(own: int | None) -> None:
    mechanism = make_mechanism("pair-set", domain=KeyValue(["tea", "milk"], Interval(1, 3, cells=2), at_most=1), epsilon=1)
    channel, weights = mechanism.channel, np.array([0.3, -1.0, 2.0])
    index = mechanism.encode({"milk": 2} if own is None else {"tea": 1.0 + own})
    law = PairLaw.of(accumulated(mechanism.randomize_many([{}])))
    outputs = [output for output in range(channel.outputs) if channel.possible(output)]
    chances = np.array([channel.weight(index, output) / channel.total for output in outputs])
    named = np.array([sum(weights[place] for place in range(3) if output >> place & 1) for output in outputs])
    sums = (named - law.q * weights.sum()) / (law.p - law.q)
    middle = chances @ sums
    expected = [middle, chances @ (sums - middle) ** 2, chances @ (sums - middle) ** 3]
    assert [float(moment) for moment in law.moments(weights, own)] == pytest.approx(expected, abs=1e-9)
    assert middle == pytest.approx(0 if own is None else weights[own], abs=1e-9)


def test_pairs_and_keys_are_unbiased() -> None:
    """Means of 100 surveys within 5 standard errors: false alarms below 1e-6 each."""
    maps = UGLY["both ends"](400)
    surveys = runs(make_mechanism("pair-set", domain=DOMAIN, epsilon=2), maps, 100)
    estimates = [key_shares(reports) for reports in surveys]
    error = np.sqrt(np.mean([one.variance for one in estimates], axis=0) / 100)
    assert (np.abs(np.mean([one.value for one in estimates], axis=0) - truths(maps)[0]) < 5 * error).all()
    assert np.std([one.value for one in estimates], axis=0) == pytest.approx(10 * error, rel=0.4)


def held(estimate: Any, surveys: list[Reports], truth: Any) -> float:
    """How often the 95 % interval of the worst value holds the truth."""
    known = ~np.isnan(truth)
    ends = [estimate(reports).interval(0.95) for reports in surveys]
    within = np.mean([(low <= truth + 1e-9) & (truth - 1e-9 <= high) for low, high in ends], axis=0)
    return float(within[known].min()) if known.any() else 1.0


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 3])
@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("shape", UGLY)
def test_intervals_hold_for_few_people_rare_keys_and_equal_answers(shape: str, n: int, epsilon: Any) -> None:
    """Of 300 surveys at 95 %; fewer than 89.5 % for one of 28 values have a chance below 1e-4, and the draws are fixed."""
    maps = UGLY[shape](n)
    surveys = runs(make_mechanism("pair-set", domain=DOMAIN, epsilon=epsilon), maps, 300)
    shares, means, parts = truths(maps)
    assert held(key_shares, surveys, shares) >= 0.895
    assert held(key_means, surveys, means) >= 0.895
    assert held(key_distributions, surveys, parts) >= 0.895


def test_many_reports_show_the_distribution_of_a_common_key_and_nothing_of_one_that_nobody_has() -> None:
    """5 standard errors, as shown."""
    maps = [{"tea": 1.0}, {"tea": 5.0}, {"tea": 5.0, "milk": 2.0}, {}] * 3000
    estimate = key_distributions(runs(make_mechanism("pair-set", domain=DOMAIN, epsilon=3), maps, 1)[0])
    assert estimate.labels is not None
    assert list(estimate.labels[:2]) == [("tea", 1.0), ("tea", 2.0)]
    assert np.abs(estimate.value[:5] - [1 / 3, 0, 0, 0, 2 / 3]).max() < 5 * estimate.standard_error[:5].max()
    assert estimate.standard_error[:5].max() < 0.05
    low, high = estimate.interval()
    assert (low[15:] == 0).all()
    assert (high[15:] == 1).all()


def test_reports_of_ends_are_refused_with_the_way_to_a_distribution() -> None:
    ends = make_mechanism("pckv-grr", domain=DOMAIN, epsilon=1).randomize_many([{"tea": 2}])
    with pytest.raises(NotSupported, match="pair-set"):
        key_distributions(ends)
    fine = make_mechanism("pair-set", domain=KeyValue(2, Interval(0, 1, cells=256), at_most=1), epsilon=1)
    with pytest.raises(NotSupported, match="fewer cells"):
        key_distributions(fine.randomize_many([{}]))
