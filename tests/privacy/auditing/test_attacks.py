"""Attacks succeed as the law says, never beyond the bounds; fakes push as the formulas say and are seen when they are clumsy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.core import Categories, Interval, Mechanism, TwoLevel, make_mechanism, mechanism_class
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import mean, shares
from deniable.privacy import (
    FixedKeystream,
    attribute_inference,
    count_gain,
    mean_gain,
    plausibility_test,
    reconstruct,
    worst_report,
)
from deniable.privacy.auditing.plausibility import nearest_population

K = 16


def made(name: str, epsilon: float = 1.0, k: int = K) -> Mechanism:
    found: Mechanism = make_mechanism(name, domain=Categories(k), epsilon=epsilon)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["k-rr", "oue", "olh", "hadamard", "subset"])
def test_repetition_gives_the_value_away_within_the_bound(name: str) -> None:
    """On fixed coins; the successes differ by many standard deviations, and so do they from the bounds."""
    attack = reconstruct(made(name), repeats=(1, 8, 256), users=800, keystream=FixedKeystream(name))
    right = [guess.right for guess in attack.guesses]
    assert right[0] < right[1] < right[2]
    assert right[2] > 0.95
    assert all(guess.interval[0] <= guess.bound for guess in attack.guesses)
    assert attack.reports_until(0.97) == 256
    assert attack.reports_until(1.1) is None
    assert 1 <= attack.fewest_reports(0.9) <= 256


def test_one_report_of_k_rr_is_guessed_exactly_at_the_bound() -> None:
    """One binomial count of 20,000; false alarm below 1e-6 at five standard deviations."""
    found = reconstruct(made("k-rr"), repeats=(1,), users=20_000, keystream=FixedKeystream(1)).guesses[0]
    assert found.right == pytest.approx(found.bound, abs=5 * math.sqrt(found.bound / 20_000))
    assert found.bound == pytest.approx(math.e / (math.e + K - 1))


@pytest.mark.parametrize("name", ["padding-oue", "pckv-ue", "priv-set", "set-selection"])
def test_one_report_of_a_set_is_guessed_as_often_as_the_weights_allow(name: str) -> None:
    """The best guess of a uniform value: the largest weight of every output. Five standard deviations of one binomial count."""
    mechanism = next(iter(mechanism_class(name).examples()))
    channel, users = mechanism.channel, 4000
    best = sum(max(channel.weight(index, output) for index in range(channel.inputs)) for output in range(channel.outputs))
    share = best / (channel.inputs * channel.total)
    found = reconstruct(mechanism, repeats=(1,), users=users, keystream=FixedKeystream(name)).guesses[0]
    assert found.right == pytest.approx(share, abs=5 * math.sqrt(share / users))


def test_sets_too_many_to_try_are_refused() -> None:
    many = next(one for one in mechanism_class("pckv-ue").examples() if one.channel.inputs > 128)
    with pytest.raises(NotSupported, match="tries at most 128"):
        reconstruct(many)


def test_too_many_values_cannot_be_tried() -> None:
    with pytest.raises(NotSupported, match="tries every value"):
        reconstruct(make_mechanism("window", epsilon=1))


def test_inference_is_between_knowing_nothing_and_everything() -> None:
    joint = np.array([[4, 3, 2, 1], [1, 2, 3, 4]])
    for name in ("k-rr", "hadamard"):
        attack = attribute_inference(made(name, 2.0, 4), joint)
        assert attack.without < attack.with_report < attack.with_value
        assert attack.with_report <= attack.bound
    brute = attribute_inference(made("k-rr", 2.0, 4), joint)
    e = math.exp(2)
    law = (np.ones((4, 4)) + (e - 1) * np.eye(4)) / (e + 3)
    assert brute.with_report == pytest.approx((joint / 20 @ law).max(axis=0).sum())
    with pytest.raises(InvalidParameter, match="joint"):
        attribute_inference(made("k-rr", 2.0, 4), [[1, 2]])


@pytest.mark.parametrize(("name", "targets"), [("k-rr", 1), ("k-rr", 3), ("oue", 3), ("subset", 1), ("subset", 6), ("olh", 1)])
def test_gains_are_the_published_ones(name: str, targets: int) -> None:
    """Cao, Jia and Gong (2021) for k-rr and unary reports and hashing; the rest by the same sum."""
    epsilon, users, fakes, share = 1.0, 950, 50, 0.1
    e, part = math.exp(epsilon), fakes / (users + fakes)
    gain = count_gain(made(name), users=users, fakes=fakes, targets=range(targets), share=share)
    if name == "k-rr":
        assert gain.gain == pytest.approx(part * (1 - share) + part * (K - targets) / (e - 1))
    elif name == "oue":
        assert gain.gain == pytest.approx(part * (2 * targets - share) + 2 * part * targets / (e - 1))
    assert gain.exact
    assert "share of" in gain.words


def worst_output(mechanism: Mechanism, name: str, targets: int) -> Any:
    if name == "k-rr":
        return np.zeros(100, np.uint8)
    bits = np.zeros(-(-K // 8), np.uint8)
    bits[0] = (1 << targets) - 1
    return np.tile(bits, (100, 1))


@pytest.mark.parametrize(("name", "targets"), [("k-rr", 1), ("oue", 3)])
def test_fakes_really_reach_the_gain(name: str, targets: int) -> None:
    """Fakes only: with nobody honest but one, the estimate moves by exactly what the formula says per fake."""
    from deniable.batch import Reports

    mechanism = made(name)
    estimate = shares(Reports(mechanism, worst_output(mechanism, name, targets)))
    gain = count_gain(mechanism, users=1, fakes=10**9, targets=range(targets))
    assert float(estimate.value[:targets].sum()) == pytest.approx(gain.per_fake)


@pytest.mark.parametrize("name", ["duchi", "hm", "pm"])
def test_a_mean_moves_as_far_as_its_largest_report(name: str) -> None:
    mechanism = make_mechanism(name, domain=Interval(0, 10), epsilon=1)
    gain = mean_gain(mechanism, users=900, fakes=100, mean=5.0)
    assert gain.gain > 0.1 * (10 - 5)  # more than honest people with the largest value could
    if name == "duchi":
        reach = (math.e + 1) / (math.e - 1)
        assert gain.gain == pytest.approx(0.1 * 5 * reach, rel=1e-6)
        everyone = mechanism.randomize_many(np.full(50, 10.0))
        everyone.outputs[:] = 1
        assert float(mean(everyone).value) == pytest.approx(5 + gain.per_fake, rel=1e-6)


def test_gains_refuse_bad_questions() -> None:
    with pytest.raises(InvalidParameter, match="targets"):
        count_gain(made("k-rr"), users=10, fakes=1, targets=[K])
    with pytest.raises(InvalidParameter, match="users"):
        count_gain(made("k-rr"), users=0, fakes=1)
    with pytest.raises(NotSupported, match="does not report numbers"):
        mean_gain(made("k-rr"), users=10, fakes=1)


def test_the_search_finds_the_worst_report_of_a_linear_estimate() -> None:
    weights = np.array([0.0, 5.0, -3.0, 2.0])
    output, gain = worst_report([10, 10, 10, 10], lambda counts: float(counts @ weights / counts.sum()), fakes=40)
    assert output == 1
    assert gain.gain == pytest.approx(2.0)
    assert not gain.exact


@pytest.mark.parametrize("name", ["k-rr", "oue", "sue", "subset", "olh", "hadamard"])
def test_honest_reports_are_plausible_and_clumsy_fakes_are_not(name: str) -> None:
    """False alarms: at most 1e-6 each, on fixed coins."""
    from deniable.batch import randomize_many

    mechanism = made(name)
    for values in (np.zeros(20_000, int), np.arange(20_000) % K):
        honest = mechanism.accumulator()
        honest.add(randomize_many(mechanism, values, FixedKeystream(name)))
        assert not plausibility_test(honest).implausible
    poisoned = mechanism.accumulator()
    reports = randomize_many(mechanism, np.arange(20_000) % K, FixedKeystream(name))
    reports.outputs[:12_000] = reports.outputs[0]  # many fakes that all send the same
    poisoned.add(reports)
    assert plausibility_test(poisoned).implausible


def test_a_value_that_nobody_reports_is_implausible() -> None:
    mechanism = made("k-rr", 0.5)
    sums = mechanism.accumulator()
    reports = mechanism.randomize_many(np.arange(50_000) % K)
    reports.outputs[reports.outputs == 3] = 4  # fewer reports of 3 than liars alone would give
    sums.add(reports)
    outcome = plausibility_test(sums)
    assert outcome.implausible
    assert outcome.worst == 3
    assert "IMPLAUSIBLE" in outcome.words


def test_a_value_that_more_than_everybody_supports_is_implausible() -> None:
    """Hashed fakes with fresh hash functions look like anybody's but for the one count they push."""
    mechanism = made("olh")
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    reports = mechanism.randomize_many(np.arange(20_000) % K)
    reports.outputs[:14_000] = [channel.sets.inside(3, seed) for seed in range(14_000)]
    sums = mechanism.accumulator()
    sums.add(reports)
    outcome = plausibility_test(sums)
    assert outcome.implausible
    assert outcome.worst == 3


def test_the_nearest_population_of_possible_counts_explains_them() -> None:
    rows = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    population = np.array([0.5, 0.3, 0.2])
    assert nearest_population(population @ rows * 1e6, rows) == pytest.approx(population, abs=1e-6)
