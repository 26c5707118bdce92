"""Fast decoders against the sums they stand for, and the most likely shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.batch import accumulator_for, randomize_many
from deniable.core import Categories, Projective, TwoLevel, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import likely_shares, shares, support_counts
from deniable.estimators.bayesian_update import likelihood_maps
from deniable.estimators.projective_decoder import hyperplane_sums
from deniable.estimators.walsh_hadamard import walsh_hadamard
from deniable.privacy import FixedKeystream

from .simulated import CATEGORICAL, mechanism_of


@given(st.integers(0, 7).flatmap(lambda order: st.lists(st.integers(-1000, 1000), min_size=1 << order, max_size=1 << order)))
def test_walsh_hadamard_is_the_sum_over_signs(column: list[int]) -> None:
    places = np.arange(len(column))
    signs = 1 - 2 * (np.bitwise_count(places[:, None] & places[None, :]).astype(np.int64) % 2)
    assert walsh_hadamard(np.array(column)).tolist() == (signs @ np.array(column)).tolist()


SPACES = [(2, 2), (2, 3), (2, 7), (3, 2), (3, 3), (3, 4), (3, 7), (5, 3), (5, 5), (7, 3), (11, 4), (13, 2), (17, 3), (67, 3)]


def slow_sums(space: Projective, points: NDArray[np.int64]) -> NDArray[np.int64]:
    digits = np.array([space.vector(point) for point in range(space.outputs)])
    return np.asarray((digits @ digits.T % space.prime == 0).astype(np.int64) @ points)


# Up to 500 is added in 32 bits, up to 2**40 in 64.
@pytest.mark.slow
@pytest.mark.parametrize("most", [500, 1 << 40])
@pytest.mark.parametrize(("prime", "dimension"), SPACES)
def test_hyperplane_sums_are_sums_over_hyperplanes(prime: int, dimension: int, most: int) -> None:
    space = Projective(1, prime, dimension)
    points = np.random.default_rng(prime).integers(0, most, space.outputs)
    slow = slow_sums(space, points)
    assert hyperplane_sums(space, points, space.outputs).tolist() == slow.tolist()
    # Fewer values than points, down to a last block of a single one, and real numbers.
    for fewer in {1, 2, space.outputs // 2 + 1, space.outputs // 5 + 1, (prime ** (dimension - 1) - 1) // (prime - 1) + 1}:
        assert hyperplane_sums(space, points, fewer).tolist() == slow[:fewer].tolist()
    assert hyperplane_sums(space, points / 7, space.outputs) == pytest.approx(slow / 7)


@pytest.mark.parametrize("total", [(1 << 31) - 1, 1 << 31, 1 << 32])
@pytest.mark.parametrize("debt", [0, 1 << 33])
def test_sums_beyond_32_bits_are_not_cut_off(total: int, debt: int) -> None:
    space = Projective(1, 3, 4)
    points = np.zeros(space.outputs, np.int64)
    points[5], points[7], points[11] = total - 4, 4 + debt, -debt
    assert hyperplane_sums(space, points, space.outputs).tolist() == slow_sums(space, points).tolist()


@pytest.mark.parametrize("name", CATEGORICAL)
@pytest.mark.parametrize("size", [2, 6, 9])
def test_support_is_counted_as_the_set_system_says(name: str, size: int) -> None:
    mechanism = mechanism_of(name, size, 1)
    reports = randomize_many(mechanism, np.arange(200) % size, FixedKeystream(name))
    sets = getattr(mechanism.channel, "sets", None)
    slow = [
        sum(bool(output >> value & 1) if sets is None else sets.contains(value, output) for output in reports.ints())
        for value in range(size)
    ]
    assert support_counts(accumulator_for(mechanism).add(reports)).tolist() == slow
    # Single reports count like a batch.
    assert support_counts(accumulator_for(mechanism).add([reports[i] for i in range(200)])).tolist() == slow


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 3, 5])
@pytest.mark.parametrize("name", ["hadamard", "projective"])
def test_support_of_many_values_is_counted_without_looking_at_every_pair(name: str, epsilon: float) -> None:
    # 10**5 values and 10**5 reports one by one would be 10**10 look-ups: this test would not end.
    mechanism = make_mechanism(name, domain=Categories(100_000), epsilon=epsilon)
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, np.arange(100_000), FixedKeystream(1)))
    found = support_counts(sums)
    channel = mechanism.channel
    assert isinstance(channel, TwoLevel)
    seen = [(y, int(sums.sums[y])) for y in np.flatnonzero(sums.sums).tolist()]
    for value in (0, 77_777, 99_999):
        assert found[value] == sum(times for y, times in seen if channel.sets.contains(value, y))


@pytest.mark.parametrize(
    ("name", "size"), [("k-rr", 5), ("hadamard", 6), ("projective", 10), ("projective", 13), ("exponential", 4)]
)
def test_likelihoods_are_the_channels_own(name: str, size: int) -> None:
    channel = mechanism_of(name, size, 1).channel
    law = np.array([[weight / channel.total for weight in channel.row(x)] for x in range(size)])
    forward, back = likelihood_maps(channel, name)
    values, outputs = np.arange(1.0, size + 1), np.sqrt(np.arange(channel.outputs))
    assert forward(values) == pytest.approx(values @ law)
    assert back(outputs) == pytest.approx(law @ outputs)


@pytest.mark.parametrize("name", ["randomized-response", "k-rr", "hadamard", "projective", "exponential"])
def test_no_possible_shares_are_likelier(name: str) -> None:
    mechanism = mechanism_of(name, 5, 1)
    size = mechanism.domain.size
    people = np.minimum(np.arange(300) % 9, size - 1)
    sums = accumulator_for(mechanism).add(randomize_many(mechanism, people, FixedKeystream(name)))
    estimate = likely_shares(sums, gap=1e-6)
    assert estimate.value.min() >= 0
    assert estimate.value.sum() == pytest.approx(1)
    assert estimate.parent is not None
    assert estimate.parent.value.tolist() == shares(sums).value.tolist()
    law = np.array([[weight / mechanism.channel.total for weight in mechanism.channel.row(x)] for x in range(size)])

    def log_likelihood(at: NDArray[np.float64]) -> float:
        return float(sums.sums @ np.log(at @ law))

    best = log_likelihood(estimate.value)
    others = np.random.default_rng(1).dirichlet(np.ones(size), 200)
    near = 0.99 * estimate.value + 0.01 * others
    assert max(log_likelihood(other) for other in [*others, *near, shares(sums).projected("simplex").value]) <= best + 2e-6


def test_where_the_unbiased_shares_are_possible_they_are_the_likeliest() -> None:
    mechanism = mechanism_of("k-rr", 4, 2)
    reports = randomize_many(mechanism, np.arange(4000) % 4, FixedKeystream("likely"))
    assert likely_shares(reports, gap=1e-9).value == pytest.approx(shares(reports).value, abs=1e-5)


def test_the_likelihood_needs_counts_of_outputs() -> None:
    for name in ("oue", "olh", "subset"):
        with pytest.raises(NotSupported, match="projected"):
            likely_shares(randomize_many(mechanism_of(name, 4, 1), [1, 2], FixedKeystream(1)))
    with pytest.raises(InvalidParameter, match="gap"):
        likely_shares(randomize_many(mechanism_of("k-rr", 4, 1), [1, 2], FixedKeystream(1)), gap=0)


def test_stopping_early_is_said() -> None:
    reports = randomize_many(mechanism_of("k-rr", 4, 1), [1] * 500 + [2] * 300, FixedKeystream(1))
    assert "stopped" in likely_shares(reports, steps=1).method
    assert "within" in likely_shares(reports).method
