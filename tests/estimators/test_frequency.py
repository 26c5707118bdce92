"""Counts and shares: unbiased, with errors that mean what they say. Fixed streams, so nothing here is left to chance."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch import Joined, accumulator_for, randomize_many
from deniable.core import Binary, Categories, Exponential, Hadamard, Interval, Mechanism, Projective, Record, Report, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import counts, shares, support_law
from deniable.estimators.covariance import MOST_VALUES, people_in_line
from deniable.estimators.frequency import _spread
from deniable.estimators.table_decoder import TableDecoder
from deniable.privacy import FixedKeystream

from .simulated import ALL, CATEGORICAL, mechanism_of, outputs_of_runs, sums_of_runs

TRUTH = np.repeat(np.arange(6), [3000, 1500, 900, 500, 100, 0])
# Small enough to try every output; the projective plane over 3 has 13 points and many lines, Hadamard rows 1 ^ 2 = 3.
ENUMERABLE = [
    ("randomized-response", 2, 1),
    ("exponential", 5, 1),
    ("k-rr", 5, 1),
    ("sue", 5, 1),
    ("oue", 6, 0.5),
    ("sign-bits", 4, 2),
    ("hadamard", 6, 1),
    ("hadamard", 7, 3),
    ("subset", 6, 0.5),
    ("subset", 4, 2),
    ("projective", 11, 1),
    ("projective", 13, 0.5),
    ("projective", 6, 1),
]
UNEVEN = Exponential(domain=Categories(3), epsilon=2, scores=[[3, 1, 0, 0], [0, 2, 1, 0], [0, 0, 1, 2]])


def every_estimate(mechanism: Mechanism) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """law[x, y] and the counts estimated from the single report y."""
    channel = mechanism.channel
    possible = [y for y in range(channel.outputs) if channel.weight(0, y) > 0]
    law = np.array([[channel.weight(x, y) / channel.total for y in possible] for x in range(channel.inputs)])
    found = [counts(accumulator_for(mechanism).add(Report(mechanism.fingerprint, y))).value for y in possible]
    return law, np.array(found)


@pytest.mark.parametrize("mechanism", [*(mechanism_of(*case) for case in ENUMERABLE), UNEVEN], ids=repr)
def test_counts_are_exactly_unbiased(mechanism: Mechanism) -> None:
    law, found = every_estimate(mechanism)
    assert law @ found == pytest.approx(np.eye(len(law)), abs=1e-8)


@pytest.mark.parametrize("mechanism", [*(mechanism_of(*case) for case in ENUMERABLE), UNEVEN], ids=repr)
def test_the_covariance_is_that_of_the_law(mechanism: Mechanism) -> None:
    law, found = every_estimate(mechanism)
    size = len(law)
    people = np.arange(1.0, size + 1)
    noise = TableDecoder(mechanism).count_noise if mechanism.name == "exponential" else support_law(mechanism).count_noise
    # Reports are independent, so covariances of single reports add up.
    expected = sum(people[x] * (found.T * law[x] @ found - np.outer(np.eye(size)[x], np.eye(size)[x])) for x in range(size))
    scale = np.abs(expected).max()
    assert noise(people, True) / scale == pytest.approx(expected / scale, abs=1e-9)
    assert noise(people, False) / scale == pytest.approx(np.diagonal(expected) / scale, abs=1e-9)
    # A population of these shares: the mean of one report's estimate is the vector of shares.
    n = int(people.sum())
    mixed = people @ law / n
    drawn = n * (found.T * mixed @ found - np.outer(people, people) / n**2)
    spread = _spread(noise, np.ones(size), people, n, "population", 1.0, full=True) * (n - 1) / n
    assert spread / scale == pytest.approx(drawn / scale, abs=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_counts_are_near_the_truth(name: str) -> None:
    # 6 standard errors: a false alarm has probability 2e-9 per value.
    mechanism = mechanism_of(name, 6, 1)
    people = np.minimum(TRUTH, 1) if name == "randomized-response" else TRUTH
    estimate = counts(randomize_many(mechanism, people, FixedKeystream(name)))
    off = estimate.value - np.bincount(people, minlength=len(estimate.value))
    assert np.abs(off / estimate.standard_error).max() < 6
    assert estimate.n == len(TRUTH)
    assert estimate.covariance is not None
    assert np.linalg.eigvalsh(estimate.covariance).min() > -1e-6 * estimate.variance.max()


@pytest.mark.parametrize("name", ["k-rr", "oue", "olh", "hadamard", "subset", "projective", "exponential"])
def test_the_variance_is_what_many_surveys_show(name: str) -> None:
    # 80,000 surveys of 25 people: a variance is off by 3 % with probability 2e-9 (6 standard deviations).
    mechanism, runs = mechanism_of(name, 5, 1), 80_000
    people = np.repeat(np.arange(5), [10, 7, 5, 3, 0])
    sums = sums_of_runs(mechanism, outputs_of_runs(mechanism, np.tile(people, (runs, 1)), f"variance {name}"))
    true = np.bincount(people, minlength=5).astype(float)
    if name == "exponential":
        decoder = TableDecoder(mechanism)
        found, noise = np.asarray(sums @ decoder.inverse.T, np.float64), decoder.count_noise
    else:
        law = support_law(mechanism)
        sets = getattr(mechanism.channel, "sets", None)
        if sums.shape[1] != 5:
            assert sets is not None
            sums = sums @ np.array([[sets.contains(v, y) for v in range(5)] for y in range(sums.shape[1])], np.int64)
        found, noise = np.asarray((sums - len(people) * law.q) / law.gap, np.float64), law.count_noise
    assert found.var(axis=0) / noise(true, False) == pytest.approx(np.ones(5), abs=0.03)
    # A covariance is off by as much of the standard errors' product.
    scale = np.sqrt(np.outer(noise(true, False), noise(true, False)))
    assert np.cov(found.T) / scale == pytest.approx(noise(true, True) / scale, abs=0.03)


def test_tables_are_inverted_with_little_variance() -> None:
    # Five outputs for three values: many inverses are unbiased. For a uniform population the plain one has 1.5 % more variance.
    scores = [[3, 0, 0, 0, 2], [0, 3, 0, 0, 2], [0, 0, 3, 1, 2]]
    mechanism = Exponential(domain=Categories(3), epsilon=4, scores=scores)
    people = np.ones(3)
    best = np.trace(TableDecoder(mechanism).count_noise(people, True))
    plain = TableDecoder(mechanism)
    plain.inverse = np.linalg.pinv(plain.law.T)
    assert plain.inverse @ plain.law.T == pytest.approx(np.eye(3))
    assert best < np.trace(plain.count_noise(people, True)) * 0.99


def test_lines_hold_whole_triples() -> None:
    for sets in (Hadamard(7), Projective(13, 3, 3), Projective(40, 3, 4), Projective(8, 3, 3)):
        people = np.arange(1.0, sets.size + 1)
        members = [{y for y in range(sets.outputs) if sets.contains(v, y)} for v in range(sets.size)]
        slow = [
            [
                sum(people[x] for x in range(sets.size) if x not in (v, w) and members[v] & members[w] <= members[x])
                for w in range(sets.size)
            ]
            for v in range(sets.size)
        ]
        off_diagonal = ~np.eye(sets.size, dtype=bool)
        assert people_in_line(sets, people)[off_diagonal].tolist() == np.array(slow)[off_diagonal].tolist()


def test_sums_and_reports_give_the_same() -> None:
    mechanism = mechanism_of("olh", 6, 1)
    reports = randomize_many(mechanism, TRUTH, FixedKeystream("same"))
    sums = accumulator_for(mechanism).add(reports)
    assert counts(sums).value.tolist() == counts(reports).value.tolist()
    assert shares(sums).value * len(TRUTH) == pytest.approx(counts(sums).value)
    assert shares(sums).standard_error * len(TRUTH) == pytest.approx(counts(sums).standard_error)
    assert shares(sums).covariance == pytest.approx(counts(sums).covariance / len(TRUTH) ** 2)  # type: ignore[operator]


def test_very_many_values_have_a_diagonal_only() -> None:
    mechanism = mechanism_of("hadamard", MOST_VALUES + 1, 1)
    estimate = counts(randomize_many(mechanism, np.arange(1000), FixedKeystream(1)))
    assert estimate.covariance is None
    few = counts(randomize_many(mechanism_of("hadamard", MOST_VALUES, 1), np.arange(1000), FixedKeystream(1)))
    assert few.covariance is not None
    assert estimate.variance.mean() == pytest.approx(few.variance.mean(), rel=0.01)


@pytest.mark.parametrize("name", CATEGORICAL)
def test_one_report_is_a_wide_interval(name: str) -> None:
    mechanism = mechanism_of(name, 4, 1)
    one = accumulator_for(mechanism).add(mechanism.randomize(2))
    for found in (shares(one), shares(one, target="population")):
        low, high = found.interval()
        assert np.isfinite(low).all()
        assert (high - low > 0.9).all()
        low, high = found.interval(method="exact")
        assert (high - low == 1).any()
    low, high = shares(one, target="population").interval()
    assert (low <= 0).all()
    assert (high >= 0.5).all()


def test_labels_are_the_values_of_the_domain() -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(["cat", "dog"]), epsilon=1)
    assert counts(randomize_many(mechanism, ["cat"], FixedKeystream(1))).labels == ("cat", "dog")
    labels = counts(randomize_many(mechanism_of("olh", 3, 1), [1], FixedKeystream(1))).labels
    assert labels is not None
    assert list(labels) == [0, 1, 2]


def test_what_cannot_be_counted_is_refused() -> None:
    mechanism = mechanism_of("k-rr", 6, 1)
    with pytest.raises(InvalidParameter, match="no reports"):
        counts(accumulator_for(mechanism))
    with pytest.raises(InvalidParameter, match="target"):
        counts(randomize_many(mechanism, [1]), target="everyone")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="Accumulator or Reports"):
        counts([mechanism.randomize(1)])  # type: ignore[arg-type]
    window = make_mechanism("window", domain=Interval(0, 1, cells=16), epsilon=1)
    with pytest.raises(NotSupported, match="does not report categories"):
        counts(randomize_many(window, [0.5]))
    flat = Exponential(domain=Categories(3), epsilon=1, scores=[[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    with pytest.raises(NotSupported, match="cannot be inverted"):
        counts(randomize_many(flat, [0, 1]))


def test_records_are_counted_field_by_field() -> None:
    person = make_mechanism("product", domain=Record({"yes": Binary(), "group": Categories(4)}), epsilon=2)
    sums = accumulator_for(person).add(person.randomize_many({"yes": [0, 1, 1], "group": [3, 2, 1]}))
    with pytest.raises(NotSupported, match="field"):
        counts(sums)
    assert isinstance(sums, Joined)
    assert len(counts(sums.parts["group"]).value) == 4
