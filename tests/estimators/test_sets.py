"""Shares of items, sizes, keys and their means: unbiased, and intervals that hold for few people and rare keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.batch import Reports, draw_many
from deniable.core import Interval, ItemSet, KeyValue, Mechanism, make_mechanism
from deniable.errors import NotSupported
from deniable.estimators import (
    item_noise,
    item_shares,
    key_distributions,
    key_means,
    key_shares,
    shares,
    size_shares,
    usual_questions,
)
from deniable.privacy import FixedKeystream

SETS = ["padding-sampling", "padding-oue", "priv-set", "set-selection"]
MAPS = ["pckv-grr", "pckv-ue"]
LEVEL = 0.95


def people(n: int, seed: int = 0) -> list[list[int]]:
    """Common and rare items, and one that nobody has; at most three each."""
    common = (0.7, 0.3, 0.1, 0.02, 0.0, 0.15)
    draws = np.random.default_rng(seed).random((n, 6))
    return [np.flatnonzero(row < common)[:3].tolist() for row in draws]


def keyed(n: int, seed: int = 0) -> list[dict[int, float]]:
    """Keys from common to rare, with means all over the interval and at its ends."""
    random = np.random.default_rng(seed)
    maps = []
    for row in random.random((n, 5)):
        keys = np.flatnonzero(row < (0.8, 0.3, 0.1, 0.02, 0.01))[:2].tolist()
        maps.append({key: round(float(np.clip(random.normal((0.5, -0.9, 1, 0, -1)[key], 0.4), -1, 1)) * 8) / 8 for key in keys})
    return maps


def runs(mechanism: Mechanism, values: list[Any], count: int, seed: int = 1) -> list[Reports]:
    inputs = np.array([mechanism.encode(value) for value in values], np.int64)
    stream = FixedKeystream(seed)
    return [Reports(mechanism, draw_many(mechanism.channel, inputs, stream)) for _ in range(count)]


def covered(estimate: Any, surveys: list[Reports], truth: Any) -> Any:
    ends = [estimate(reports).interval(LEVEL) for reports in surveys]
    return np.mean([(low <= truth + 1e-9) & (truth - 1e-9 <= high) for low, high in ends], axis=0)


@pytest.mark.parametrize("name", SETS)
def test_items_and_sizes_are_unbiased_with_the_stated_variance(name: str) -> None:
    """Means of 80 surveys within 5 standard errors: false alarms below 1e-6 each."""
    n, sets = 400, people(400)
    mechanism = make_mechanism(name, domain=ItemSet(6, at_most=3), epsilon=2)
    surveys = runs(mechanism, sets, 80)
    items = np.array([item_shares(reports).value for reports in surveys])
    truth = np.array([sum(item in one for one in sets) / n for item in range(6)])
    noise = np.sqrt([item_noise(mechanism, share) / n for share in truth])
    assert (np.abs(items.mean(axis=0) - truth) < 5 * noise / np.sqrt(80)).all()
    assert items.std(axis=0) == pytest.approx(noise, rel=0.45)
    sizes = np.array([size_shares(reports).value for reports in surveys])
    large = np.array([sum(len(one) == size for one in sets) / n for size in range(4)])
    error = np.sqrt(np.mean([size_shares(reports).variance for reports in surveys], axis=0))
    assert (np.abs(sizes.mean(axis=0) - large) < 5 * error / np.sqrt(80)).all()
    assert sizes.std(axis=0) == pytest.approx(error, rel=0.45)
    assert sizes.sum(axis=1) == pytest.approx(np.ones(80), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 3])
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("name", SETS)
def test_intervals_of_items_and_sizes_hold_for_few_people(name: str, n: int, epsilon: int) -> None:
    """95 % intervals hold in at least 90 % of 300 surveys, for every item and size: 5 standard errors below would be 88.7 %."""
    sets = people(n)
    surveys = runs(make_mechanism(name, domain=ItemSet(6, at_most=3), epsilon=epsilon), sets, 300)
    items = np.array([sum(item in one for one in sets) / n for item in range(6)])
    sizes = np.array([sum(len(one) == size for one in sets) / n for size in range(4)])
    assert covered(item_shares, surveys, items).min() >= 0.9
    assert covered(size_shares, surveys, sizes).min() >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("name", MAPS)
def test_intervals_of_keys_and_means_hold_for_few_people_and_rare_keys(name: str, n: int, epsilon: int) -> None:
    """95 % intervals hold in at least 90 % of 300 surveys, for every key that somebody has."""
    maps = keyed(n)
    surveys = runs(make_mechanism(name, domain=KeyValue(5, Interval(-1, 1, cells=16), at_most=2), epsilon=epsilon), maps, 300)
    shared = np.array([sum(key in one for one in maps) / n for key in range(5)])
    means = np.array([np.mean([one[key] for one in maps if key in one] or [0]) for key in range(5)])
    assert covered(key_shares, surveys, shared).min() >= 0.9
    assert covered(key_means, surveys, means)[shared > 0].min() >= 0.9


@pytest.mark.parametrize("name", MAPS)
def test_keys_are_unbiased_and_means_near(name: str) -> None:
    """5 standard errors of 100 surveys: false alarms below 1e-6 each."""
    n, maps = 1000, keyed(1000)
    surveys = runs(make_mechanism(name, domain=KeyValue(5, Interval(-1, 1, cells=16), at_most=2), epsilon=3), maps, 100)
    found = [key_shares(reports) for reports in surveys]
    truth = np.array([sum(key in one for one in maps) / n for key in range(5)])
    error = np.sqrt(np.mean([one.variance for one in found], axis=0) / 100)
    assert (np.abs(np.mean([one.value for one in found], axis=0) - truth) < 5 * error).all()
    common = float(np.mean([one[0] for one in maps if 0 in one]))
    assert np.mean([key_means(reports).value[0] for reports in surveys]) == pytest.approx(common, abs=0.05)


def test_the_mean_of_a_key_that_nobody_has_may_be_anything() -> None:
    mechanism = make_mechanism("pckv-grr", domain=KeyValue(["mail", "maps"], Interval(0, 60, cells=6), at_most=1), epsilon=1)
    estimate = key_means(Reports(mechanism, draw_many(mechanism.channel, np.zeros(30, np.int64), FixedKeystream(2))))
    low, high = estimate.interval()
    assert (low == 0).all()
    assert (high == 60).all()
    assert ((estimate.value >= 0) & (estimate.value <= 60)).all()


def test_questions_suit_their_domains() -> None:
    assert usual_questions(ItemSet(3, at_most=1)) == ("items", "sizes")
    assert usual_questions(KeyValue(3, at_most=1)) == ("keys", "key-means", "key-distributions")
    single = make_mechanism("k-rr", epsilon=1).randomize_many([0, 1])
    for estimate in (item_shares, size_shares, key_shares, key_means, key_distributions):
        with pytest.raises(NotSupported):
            estimate(single)
    with pytest.raises(NotSupported):
        shares(make_mechanism("priv-set", domain=ItemSet(3, at_most=1), epsilon=1).randomize_many([[0]]))


def test_sums_of_parts_are_the_sums_of_all() -> None:
    for name in [*SETS, *MAPS]:
        domain: Any = ItemSet(6, at_most=3) if name in SETS else KeyValue(5, Interval(-1, 1, cells=16), at_most=2)
        mechanism = make_mechanism(name, domain=domain, epsilon=1)
        (first, second) = runs(mechanism, people(40) if name in SETS else keyed(40), 2)
        both = mechanism.accumulator().add(first).merge(mechanism.accumulator().add(second))
        again = type(both).from_bytes(mechanism, both.to_bytes())
        assert again.n == 80
        assert (again.sums == both.sums).all()
