"""Repeated questions: more reports of one person remove the second layer's noise and never the first's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch import Reports, accumulator_for, randomize_many
from deniable.batch.packing import outputs_from_ints
from deniable.core import LAYER, Categories, Rappor, make_mechanism
from deniable.core.mechanisms.categorical.sue import SymmetricUnaryEncoding
from deniable.errors import InvalidParameter, NotSupported, WrongRecipe
from deniable.estimators import Target, shares, shares_over_rounds, shares_per_user, support
from deniable.privacy import FixedKeystream

WEEKLY = Rappor(domain=Categories(4), epsilon=1, permanent=3)
TRUTH = np.array([0.5, 0.3, 0.2, 0.0])


def several(people: NDArray[np.int64], sent: NDArray[np.int64], draws: np.random.Generator) -> tuple[Reports, NDArray[np.int64]]:
    """Reports of people who keep their bits, and who sent them. Test randomness: repeatable, not private."""
    chances = np.full((len(people), 4), 1 - WEEKLY.kept / LAYER)
    chances[np.arange(len(people)), people] = WEEKLY.kept / LAYER
    kept = draws.random((len(people), 4)) < chances
    users = np.repeat(np.arange(len(people)), sent)
    bits = draws.random((len(users), 4)) < np.where(kept[users], WEEKLY.ones / LAYER, WEEKLY.zeros / LAYER)
    return Reports(WEEKLY, np.packbits(bits, axis=1, bitorder="little")), users


def rounds_of(reports: Reports, users: NDArray[np.int64], count: int) -> list[Reports]:
    people = len(np.unique(users))
    return [Reports(WEEKLY, reports.outputs.reshape(people, count, -1)[:, j]) for j in range(count)]


@pytest.mark.parametrize("target", ["these users", "population"])
def test_one_round_is_the_same_as_shares(target: Target) -> None:
    people = np.repeat(np.arange(4), [500, 300, 200, 0])
    reports = randomize_many(WEEKLY, people, FixedKeystream(1))
    plain = shares(reports, target=target)
    for found in (shares_over_rounds([reports], target=target), shares_per_user(reports, np.arange(1000), target=target)):
        assert np.allclose(found.value, plain.value)
        assert np.allclose(found.variance, plain.variance, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["these users", "population"])
@pytest.mark.parametrize("count", [1, 3, 30])
def test_variances_are_those_of_many_repetitions(count: int, target: Target) -> None:
    """400 repetitions: a ratio of variances is off by 0.07 (one deviation) per value; the bounds are 5.4 of them.

    Tails below 1e-7 for each of 4 values, 6 for the means: false alarms below 1e-6.
    """
    draws, n = np.random.default_rng(count), 300
    fixed = np.repeat(np.arange(4), np.round(TRUTH * n).astype(int))
    values, claimed = [], []
    for _ in range(400):
        people = fixed if target == "these users" else draws.choice(4, size=n, p=TRUTH)
        reports, users = several(people, np.full(n, count), draws)
        estimate = shares_over_rounds(rounds_of(reports, users, count), target=target)
        assert np.allclose(estimate.value, shares_per_user(reports, users, target=target).value)
        values.append(estimate.value)
        claimed.append(estimate.variance)
    ratio = np.var(values, axis=0, ddof=1) / np.mean(claimed, axis=0)
    assert ratio.min() > 0.62
    assert ratio.max() < 1.45
    assert np.abs((np.mean(values, axis=0) - TRUTH) / (np.std(values, axis=0) / 20)).max() < 6


def test_counting_reports_as_if_they_were_people_would_be_wrong() -> None:
    # 30 reports each: the naive variance of `shares` on all of them is several times too small.
    draws = np.random.default_rng(9)
    reports, users = several(np.zeros(400, int), np.full(400, 30), draws)
    honest, naive = shares_per_user(reports, users), shares(reports)
    assert honest.n == 400
    assert (honest.variance / naive.variance).min() > 3


def test_the_variance_falls_to_that_of_the_kept_bits() -> None:
    people = np.zeros(1000, int)
    sums = accumulator_for(WEEKLY).add(randomize_many(WEEKLY, people, FixedKeystream(2)))
    many = shares_over_rounds([sums] * 10_000).variance[3]
    few = shares_over_rounds([sums] * 2).variance[3]
    kept = support(SymmetricUnaryEncoding(domain=Categories(4), epsilon=3)).variance(1000) / 1000**2
    assert many == pytest.approx(kept, rel=0.01)
    assert few > 2 * many


def test_users_with_many_reports_count_once() -> None:
    # 300 people have value 0 and send 40 reports, 300 have value 1 and send 2. 6 standard errors.
    draws = np.random.default_rng(4)
    people, sent = np.repeat([0, 1], 300), np.repeat([40, 2], 300)
    reports, users = several(people, sent, draws)
    order = draws.permutation(len(users))
    shuffled = Reports(WEEKLY, reports.outputs[order])
    estimate = shares_per_user(shuffled, [f"user {who}" for who in users[order]])
    assert estimate.n == 600
    assert np.abs((estimate.value - [0.5, 0.5, 0, 0]) / estimate.standard_error).max() < 6
    assert np.allclose(estimate.value, shares_per_user(reports, users).value)


def test_what_does_not_fit_together_is_refused() -> None:
    reports = randomize_many(WEEKLY, np.zeros(10, int), FixedKeystream(1))
    other = Rappor(domain=Categories(4), epsilon=1, permanent=4)
    with pytest.raises(InvalidParameter, match="at least one round"):
        shares_over_rounds([])
    with pytest.raises(InvalidParameter, match="one report of everyone"):
        shares_over_rounds([reports, randomize_many(WEEKLY, np.zeros(9, int))])
    with pytest.raises(WrongRecipe):
        shares_over_rounds([reports, randomize_many(other, np.zeros(10, int))])
    with pytest.raises(InvalidParameter, match="sender of every report"):
        shares_per_user(reports, np.arange(9))
    with pytest.raises(InvalidParameter, match="no reports"):
        shares_per_user(Reports(WEEKLY, outputs_from_ints(WEEKLY.channel, [])), [])
    with pytest.raises(NotSupported, match="rappor"):
        shares_over_rounds([make_mechanism("sue", epsilon=1).randomize_many([1])])
    with pytest.raises(InvalidParameter, match="Reports"):
        shares_per_user([1], [1])  # type: ignore[arg-type]


def test_one_user_gives_a_wide_interval() -> None:
    one = randomize_many(WEEKLY, [0], FixedKeystream(1))
    for target in ("these users", "population"):
        low, high = shares_per_user(one, ["ann"], target=target).interval()
        assert (high - low).min() > 0.99  # all that is possible
