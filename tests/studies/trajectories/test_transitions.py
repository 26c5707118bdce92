"""Tables of trips and steps: unbiased, with a spread between paths that is the true one, and distances from them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from deniable.batch import Integers, Reports, draw_many, randomize_many
from deniable.core import Interval, Rectangle, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.privacy import FixedKeystream
from deniable.studies import length_distribution, origin_destination, transition_table
from deniable.studies.trajectories.step_intervals import StepLaw


def rectangle(columns: int, rows: int) -> Rectangle:
    return Rectangle(Interval(0, columns, cells=columns), Interval(0, rows, cells=rows))


def mechanism(epsilon: float) -> Any:
    """Four cells that are the map's own: nothing is assumed about how places are spread within them."""
    return make_mechanism("nearest-cells", domain=rectangle(2, 2), epsilon=epsilon, area="1/4")


def people(count: int, draws: np.random.Generator) -> tuple[Integers, Integers]:
    """Paths of one to five cells, each step likely to the next cell; and where they begin."""
    lengths = draws.integers(1, 6, count)
    first = draws.choice(4, count, p=[0.5, 0.3, 0.2, 0.0])
    cells = [np.concatenate([[f], f + np.cumsum(draws.random(n - 1) < 0.7)]) % 4 for f, n in zip(first, lengths, strict=True)]
    return np.concatenate(cells).astype(np.int64), np.concatenate([[0], np.cumsum(lengths)])


def truth(cells: Integers, starts: Integers) -> tuple[Any, Any]:
    """Shares of trips and of steps, counted."""
    trips, steps = np.zeros((4, 4)), np.zeros((4, 4))
    for begin, end in itertools.pairwise(starts):
        if end - begin >= 2:
            trips[cells[begin], cells[end - 1]] += 1
        for a, b in zip(cells[begin : end - 1], cells[begin + 1 : end], strict=True):
            steps[a, b] += 1
    return trips.ravel() / trips.sum(), steps.ravel() / steps.sum()


@pytest.mark.parametrize("which", ["trips", "steps"])
def test_tables_are_unbiased_and_their_intervals_hold_for_these_users(which: str) -> None:
    cells, starts = people(300, np.random.default_rng(1))
    true = truth(cells, starts)[which == "steps"]
    made, count = mechanism(3), 400
    outputs = np.split(draw_many(made.channel, np.tile(cells, count), FixedKeystream(which)), count)
    table = origin_destination if which == "trips" else transition_table
    found = [table(Reports(made, one), starts, cells=2) for one in outputs]
    values, errors = np.array([one.value for one in found]), np.array([one.standard_error for one in found])
    assert (np.abs(values.mean(axis=0) - true) < 5.5 * values.std(axis=0) / np.sqrt(count)).all()
    # 400 runs at 95 %: below 89 % once in 10**6 times. Wider than need be, since the users are the same in every run.
    assert (np.abs(values - true) <= 1.959964 * errors).mean(axis=0).min() > 0.89
    assert found[0].n == int((np.diff(starts) >= 2).sum())
    assert found[0].table.shape == (4, 4)
    assert found[0].projected().value.min() >= 0


@pytest.mark.slow
@pytest.mark.parametrize("which", ["trips", "steps"])
def test_the_spread_between_paths_is_that_of_other_people_too(which: str) -> None:
    made, draws = mechanism(3), np.random.default_rng(2)
    table = origin_destination if which == "trips" else transition_table
    values, claimed = [], []
    for run in range(400):
        cells, starts = people(100, draws)
        found = table(Reports(made, draw_many(made.channel, cells, FixedKeystream(f"{which} {run}"))), starts, cells=2)
        values.append(found.value)
        claimed.append(np.asarray(found.covariance))
    expected, seen = np.mean(claimed, axis=0), np.cov(np.array(values).T)
    # A variance of 400 runs is within 40 % of the truth but once in 10**6 times.
    ratio = np.diag(expected) / np.diag(seen)
    assert ratio.min() > 0.6
    # Nobody leaves from the last cell. With few paths its shares come out above 0 half of the time, and so does the
    # spread that follows from them: there it may only be too large.
    assert ratio[:12].max() < 1.4
    row = np.arange(16) // 4 == 0
    assert row @ expected @ row == pytest.approx(row @ seen @ row, rel=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["trips", "steps"])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_intervals_of_few_paths_hold_where_rare_products_have_not_come_up(which: str, epsilon: int) -> None:
    """Normal intervals from the spread between 40 paths held in 8 to 60 % of such surveys for some pairs at epsilon 4."""
    made, draws, runs = mechanism(epsilon), np.random.default_rng(5), 60
    covered = np.zeros(16)
    for run in range(runs):
        cells, starts = people(40, draws)
        reports = Reports(made, draw_many(made.channel, cells, FixedKeystream(f"few {which} {run}")))
        shares = (origin_destination if which == "trips" else transition_table)(reports, starts, cells=2)
        low, high = shares.interval()
        true = truth(cells, starts)[which == "steps"]
        covered += (low <= true) & (true <= high)
    # 60 runs at 95 %: an interval holds in fewer than 46 of them less than once in 10**7 times.
    assert covered.min() >= 46


@pytest.mark.slow
def test_the_law_of_steps_bounds_what_is_seen() -> None:
    """Variances of pairs and of sums of pairs, over runs with the same likely shares: no smaller than simulated ones."""
    made, draws, runs = mechanism(3), np.random.default_rng(6), 400
    far = np.array([[float(u != v) for u in range(4) for v in range(4)]])
    values = []
    for run in range(runs):
        cells, starts = people(60, draws)
        steps = transition_table(Reports(made, draw_many(made.channel, cells, FixedKeystream(f"law {run}"))), starts, cells=2)
        values.append(steps.value)
    everyone, paths = people(20_000, np.random.default_rng(7))
    law = StepLaw(steps.law.laid, truth(everyone, paths)[1], steps.law.steps)
    seen = np.cov(np.array(values).T)
    bound = law.covariance()
    # A variance of 400 runs is within 40 % of the truth but once in 10**6 times; the law takes each person's steps for one.
    assert (np.diag(bound) > 0.6 * np.diag(seen)).all()
    assert float((far @ bound @ far.T)[0, 0]) > 0.6 * float((far @ seen @ far.T)[0, 0])
    for question, variance in zip(law.pairs().questions, np.diag(seen), strict=True):
        assert question.moments(question.likely)[0] > 0.6 * variance
    for question in law.sums(far).questions:
        assert question.moments(question.likely)[0] == pytest.approx(float((far @ bound @ far.T)[0, 0]), rel=1e-9)


def test_rows_of_a_table_are_where_people_go_next() -> None:
    cells, starts = people(20_000, np.random.default_rng(3))
    true = truth(cells, starts)[1].reshape(4, 4)
    made = mechanism(4)
    trips = transition_table(Reports(made, draw_many(made.channel, cells, FixedKeystream("next"))), starts, cells=2)
    low, high = trips.next_cells.interval(1 - 1e-7)
    expected = (true / true.sum(axis=1, keepdims=True)).ravel()
    assert ((low <= expected) & (expected <= high)).all()
    assert np.allclose(trips.next_cells.value.reshape(4, 4).sum(axis=1), 1)
    assert float(trips.next_cells.standard_error.max()) < 0.05


def test_rows_nobody_leaves_from_are_unknown() -> None:
    made = mechanism(4)
    cells, starts = np.tile([0, 1], 400), np.arange(0, 801, 2)
    rows = transition_table(Reports(made, draw_many(made.channel, cells, FixedKeystream("one way"))), starts, cells=2).next_cells
    assert rows.value.reshape(4, 4)[0, 1] > 0.8
    assert np.isnan(rows.value.reshape(4, 4)[3]).all()


def test_distances_are_those_between_even_places_of_the_cells() -> None:
    made, draws = make_mechanism("nearest-cells", domain=rectangle(6, 6), epsilon=9, area="1/36"), np.random.default_rng(4)
    cells = np.stack([draws.integers(0, 6, 4000), 30 + draws.integers(0, 6, 4000)], axis=1).ravel()
    starts = np.arange(0, 8001, 2)
    trips = origin_destination(Reports(made, draw_many(made.channel, cells, FixedKeystream("far"))), starts, cells=(2, 2))
    edges = [0, 2, 4, 6, 9]
    shares = trips.distances(edges)
    assert shares.value.sum() == pytest.approx(1, abs=0.05)
    places = draws.random((200_000, 4)) * 3 + np.array([0, 0, 0, 3])
    places[:, [0, 2]] += 3 * draws.integers(0, 2, (200_000, 2))
    slow = np.histogram(np.hypot(places[:, 2] - places[:, 0], places[:, 3] - places[:, 1]), edges)[0] / 200_000
    assert np.abs(shares.value - slow).max() < 0.08
    assert shares.assumes == "places are spread evenly within the map's cells" == trips.assumes
    low, high = shares.interval()
    assert ((low < shares.value) & (shares.value < high)).all()
    with pytest.raises(InvalidParameter, match="edges"):
        trips.distances([1, 1])


def test_large_tables_have_variances_only() -> None:
    made = make_mechanism("nearest-cells", domain=rectangle(7, 7), epsilon=8, area="1/49")
    cells = np.arange(200) % 49
    reports = Reports(made, draw_many(made.channel, cells, FixedKeystream("large")))
    trips = origin_destination(reports, np.arange(0, 201, 2), cells=7)
    assert trips.covariance is None
    with pytest.raises(NotSupported, match="at most 32 cells"):
        _ = trips.next_cells
    with pytest.raises(NotSupported, match="at most 32 cells"):
        trips.distances([0, 1])


def test_what_is_no_table_is_refused() -> None:
    made = mechanism(2)
    reports = randomize_many(made, [(0.5, 0.5)] * 4, FixedKeystream("no"))
    for starts in ([0, 2], [0, 3, 2, 4], [1, 4], [0]):
        with pytest.raises(InvalidParameter, match="starts"):
            origin_destination(reports, starts, cells=2)
    with pytest.raises(InvalidParameter, match="at least two paths"):
        origin_destination(reports, [0, 1, 2, 4], cells=2)
    with pytest.raises(InvalidParameter, match="Reports"):
        transition_table([1, 2], [0, 2])  # type: ignore[arg-type]


def test_lengths_are_known_and_only_sampling_is_left() -> None:
    estimate = length_distribution([0, 2, 2, 5, 7], target="population")
    assert estimate.value.tolist() == [0.25, 0, 0.5, 0.25]
    assert estimate.variance[2] == pytest.approx(0.25 / 3)
    assert length_distribution([0, 2, 2, 5, 7]).variance.max() == 0
    assert length_distribution([0, 2, 2, 5, 7], [1, 3, 9]).value.tolist() == [0.5, 0.25]
    with pytest.raises(InvalidParameter, match="starts"):
        length_distribution([3, 1])
    with pytest.raises(InvalidParameter, match="edges"):
        length_distribution([0, 1], [2])
