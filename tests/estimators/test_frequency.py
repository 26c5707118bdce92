"""Counts and shares: unbiased, with errors that mean what they say. Fixed streams, so nothing here is left to chance."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.domains import Categories, Interval
from deniable.errors import InvalidParameter, NotSupported, WrongRecipe
from deniable.estimators import counts, shares
from deniable.estimators.estimate import Target, half_width
from deniable.estimators.frequency import support_counts, walsh_hadamard
from deniable.mechanisms import mechanism_class
from deniable.mechanisms.categorical.k_rr import KaryRandomizedResponse
from deniable.mechanisms.numeric.window import Window
from deniable.testing import FixedKeystream

NAMES = ["k-rr", "sue", "oue", "hadamard", "subset", "blh", "olh", "projective", "sign-bits"]
TRUTH = np.repeat(np.arange(6), [3000, 1500, 900, 500, 100, 0])


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_near_the_truth(name: str) -> None:
    # 6 standard errors: a false alarm has probability 2e-9 per value.
    mechanism = mechanism_class(name)(domain=Categories(6), epsilon=1)
    found = counts(mechanism, randomize_many(mechanism, TRUTH, FixedKeystream(name)))
    off = found.value - np.bincount(TRUTH, minlength=6)
    assert np.abs(off / found.standard_error).max() < 6
    assert found.n == len(TRUTH)


@pytest.mark.parametrize("name", NAMES)
def test_support_is_counted_as_the_set_system_says(name: str) -> None:
    mechanism = mechanism_class(name)(domain=Categories(6), epsilon=1)
    reports = randomize_many(mechanism, TRUTH[:200], FixedKeystream(name))
    sets = getattr(mechanism.channel, "sets", None)
    slow = [
        sum(bool(output >> value & 1) if sets is None else sets.contains(value, output) for output in reports.ints())
        for value in range(6)
    ]
    assert support_counts(mechanism, reports).counts.tolist() == slow
    # Single reports count like a batch.
    assert support_counts(mechanism, [reports[i] for i in range(200)]).counts.tolist() == slow


@pytest.mark.parametrize("target", ["these users", "population"])
@pytest.mark.parametrize("name", ["k-rr", "oue", "hadamard"])
def test_intervals_cover_as_often_as_they_say(name: str, target: Target) -> None:
    mechanism = mechanism_class(name)(domain=Categories(3), epsilon=1)
    stream, draws = FixedKeystream(name), np.random.default_rng(5)
    inside, rounds, chances = 0, 400, np.array([0.6, 0.3, 0.1])
    fixed = np.repeat(np.arange(3), [360, 180, 60])
    for _ in range(rounds):
        people = fixed if target == "these users" else draws.choice(3, size=600, p=chances)
        low, high = shares(mechanism, randomize_many(mechanism, people, stream), target=target).interval()
        inside += sum(bool(low[v] <= chances[v] <= high[v]) for v in (0, 2))
    # 800 tries at 95 %, two of them at a time dependent: 0.95 ± 5 standard deviations.
    assert 0.90 < inside / (2 * rounds) < 0.985


def test_walsh_hadamard_is_the_sum_over_signs() -> None:
    column = np.arange(16) ** 2
    signs = np.array([[(-1) ** (x & y).bit_count() for y in range(16)] for x in range(16)])
    assert walsh_hadamard(column).tolist() == (signs @ column).tolist()


def test_reports_of_another_recipe_are_refused() -> None:
    mechanism = KaryRandomizedResponse(domain=Categories(6), epsilon=1)
    other = KaryRandomizedResponse(domain=Categories(6), epsilon=2)
    with pytest.raises(WrongRecipe):
        counts(mechanism, randomize_many(other, TRUTH))
    with pytest.raises(WrongRecipe):
        counts(mechanism, [other.randomize(1)])
    with pytest.raises(InvalidParameter):
        counts(mechanism, [])
    with pytest.raises(InvalidParameter, match="target"):
        counts(mechanism, [mechanism.randomize(1)], target="everyone")  # type: ignore[arg-type]


def test_numbers_have_no_counts() -> None:
    mechanism = Window(domain=Interval(0, 1, cells=16), epsilon=1)
    with pytest.raises(NotSupported):
        counts(mechanism, [mechanism.randomize(0.5)])


def test_levels() -> None:
    assert half_width(0.95) == pytest.approx(1.959964, abs=1e-6)
    with pytest.raises(InvalidParameter):
        half_width(95)
