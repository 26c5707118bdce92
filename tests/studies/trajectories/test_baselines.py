"""Claims about the registered baselines: strawman, planar Laplace, exponential mechanism and staircase response."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.batch.ranked import RankedSampler
from deniable.core import LSRR, Epsilon, Interval, Points, Ranked, Rectangle, Sectors, Table, TwoLevel, column_ratio
from deniable.core.mechanisms.spatial._place_lattice import distance_steps, lattice, square_diameter
from deniable.core.mechanisms.spatial.exponential_cells import ExponentialCells
from deniable.core.mechanisms.spatial.planar_laplace import PlanarLaplace, offset_weights
from deniable.core.mechanisms.spatial.strawman import Strawman
from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.studies import Paths, average_error, perturb

GOLDEN: dict[str, dict[str, Any]] = {
    row["id"]: row for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())
}
STRAWMAN = ["strawman.AE.eps2", "strawman.AE.eps6", "strawman.AE.eps8"]
SIGMAS = 5.0
"""Five standard errors: a false alarm in 1.7 million runs (and the coins are fixed)."""


def grid(cells: int) -> Rectangle:
    return Rectangle(Interval(0, 1, cells=cells), Interval(0, 1, cells=cells))


def uniform(seed: int, *shape: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).random(shape)


def expected_error(mechanism: PlanarLaplace | ExponentialCells, locations: NDArray[np.float64]) -> tuple[float, float]:
    """The mean distance to the answer over given locations, exactly in the answers, and its standard error."""
    channel = mechanism.channel
    assert isinstance(channel, Table)
    law = np.array(channel.rows, np.float64) / float(channel.total)
    answers = np.array([mechanism.decode(output) for output in range(channel.outputs)])
    rows = np.array([mechanism.encode(tuple(place)) for place in locations.tolist()])
    apart = np.hypot(*(answers[None] - locations[:, None]).transpose(2, 0, 1))
    errors = (law[rows] * apart).sum(axis=1)
    return float(errors.mean()), float(errors.std() / math.sqrt(len(errors)))


@pytest.mark.parametrize("row", [GOLDEN[name] for name in STRAWMAN], ids=STRAWMAN)
def test_the_strawman_has_the_error_of_a_correct_randomized_response(row: dict[str, Any]) -> None:
    mechanism = Strawman(epsilon=row["inputs"]["eps"], sectors=row["inputs"]["k"])
    true = Paths.of(uniform(1, 3000, 100, 2))
    error = average_error(true, perturb(true, mechanism, keystream=FixedKeystream(row["id"])))
    assert error.standard_error < 0.0008
    assert error.value == pytest.approx(row["value"]["correct"], abs=row["tol"] + SIGMAS * error.standard_error)
    assert float(mechanism.epsilons[0]) == pytest.approx(row["value"]["eps_d"], rel=1e-9)


@pytest.mark.parametrize("row", [GOLDEN[name] for name in STRAWMAN], ids=STRAWMAN)
def test_the_released_randomized_response_has_a_much_higher_level(row: dict[str, Any]) -> None:
    k, truth = row["inputs"]["k"], math.exp(row["value"]["eps_d"])
    level = math.log(k * (k - 2 + truth))
    assert level == pytest.approx(row["value"]["eps_d_effective"], rel=1e-6)
    # Run at that level, our strawman has the error of the released one: its accuracy was bought with privacy.
    rest = Fraction(row["inputs"]["eps"]) - Fraction(row["value"]["eps_d"])
    whole = Fraction(level) + rest
    mechanism = Strawman(epsilon=Epsilon(whole), split=Fraction(level) / whole, sectors=k)
    true = Paths.of(uniform(2, 3000, 100, 2))
    error = average_error(true, perturb(true, mechanism, keystream=FixedKeystream(str(level))))
    assert error.value == pytest.approx(row["value"]["buggy"], abs=2 * row["tol"] + SIGMAS * error.standard_error)


def test_the_strawman_knows_a_direction_to_a_sector_only() -> None:
    direction, _ = Strawman(epsilon=20).windows
    assert isinstance(direction.sets, Sectors)
    start = 682
    assert {y for y in range(4092) if direction.weight(start + 5, y) == direction.high} == set(range(start, start + 682))
    assert direction.weight(start, 0) == direction.weight(start + 681, 0) == direction.low


@pytest.mark.parametrize("wrong", [{"sectors": 7}, {"direction": "circular-window"}, {"sectors": 1}, {"distance": "laplace"}])
def test_a_strawman_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Strawman(epsilon=1, **wrong)


@pytest.mark.slow
@pytest.mark.parametrize("row", [GOLDEN[name] for name in STRAWMAN], ids=STRAWMAN)
def test_planar_laplace_has_the_error_of_clipped_noise_at_epsilon_over_the_diameter(row: dict[str, Any]) -> None:
    mechanism = PlanarLaplace(epsilon=row["inputs"]["eps"])
    error, standard_error = expected_error(mechanism, uniform(3, 20_000, 2))
    assert error == pytest.approx(row["value"]["planar_laplace"], abs=row["tol"] + SIGMAS * standard_error)


def test_planar_laplace_weights_are_those_of_the_clipped_noise() -> None:
    domain = Rectangle(Interval(0, 2, cells=4), Interval(0, 1, cells=3))
    mechanism = PlanarLaplace(domain=domain, epsilon=5)
    channel = mechanism.channel
    assert isinstance(channel, Table)
    law = np.array(channel.rows, np.float64) / float(channel.total)
    # Brute force: every offset of a large lattice, clipped to the corners of the cells.
    up, across = np.arange(-400, 401), np.arange(-400, 401)
    for cell in (0, 6, 11):
        row, column = divmod(cell, 4)
        rows, columns = np.meshgrid(up, across, indexing="ij")
        noise = np.exp(-5 / math.sqrt(5) * np.hypot((columns - column - 0.5) / 2, (rows - row - 0.5) / 3))
        landed = np.clip(rows, 0, 3) * 5 + np.clip(columns, 0, 4)
        expected = np.bincount(landed.ravel(), noise.ravel()) / noise.sum()
        # Simpson's lumps stand for sums: the border is a little off, the inside is proportional.
        assert law[cell] == pytest.approx(expected, abs=0.01)


def test_planar_laplace_noise_beyond_the_region_is_all_on_its_border() -> None:
    mechanism = PlanarLaplace(domain=grid(12), epsilon=2)
    places = np.array([mechanism.decode(output) for output in range(13 * 13)])
    border = ((places == 0) | (places == 1)).any(axis=1)
    row = np.array(list(mechanism.channel.row(66)), float) / float(mechanism.channel.total)
    assert row[border].sum() > 0.7
    assert {(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)} <= {tuple(place) for place in places.tolist()}


def test_offsets_weigh_less_the_longer_they_are() -> None:
    points = np.array(offset_weights(grid(6), Fraction(3)), float)[:6, :6]
    length = np.hypot(*(np.indices((6, 6)) + 0.5))
    rates = np.log(points[0, 0] / points) / (length - length[0, 0] + (length == length[0, 0]))
    assert rates[length > length[0, 0]] == pytest.approx(3 / math.sqrt(2) / 6, rel=1e-6)


@pytest.mark.parametrize("epsilon", [1, 4, 10])
def test_the_exponential_mechanism_may_take_nearly_twice_the_published_scale(epsilon: int) -> None:
    published = ExponentialCells(domain=grid(12), epsilon=epsilon, calibrate="published").certificate()
    exact = ExponentialCells(domain=grid(12), epsilon=epsilon).certificate()
    assert published.holds
    assert exact.holds
    assert published.epsilon_exact < 0.52 * epsilon
    assert exact.epsilon_exact > 0.985 * epsilon


def test_the_exponential_mechanism_on_uneven_places_keeps_its_promise() -> None:
    crowd = [(i / 100, j / 100) for i in range(6) for j in range(6)]
    mechanism = ExponentialCells(domain=Points([*crowd, (1, 1), (1, 0)]), epsilon=6)
    ratio = column_ratio(mechanism.channel)
    assert ratio is not None
    assert Epsilon(6).allows(ratio)
    assert mechanism.certificate().ratio == ratio
    # Here the rows' sums differ widely: twice the published scale would not be sound.
    doubled = mechanism.weights_at(Fraction(6)).max_ratio()
    assert doubled is not None
    assert not Epsilon(6).allows(doubled)


@pytest.mark.slow
def test_near_answers_of_the_exponential_mechanism_are_likelier() -> None:
    error, _ = expected_error(ExponentialCells(domain=grid(24), epsilon=10), uniform(5, 2000, 2))
    coarse, _ = expected_error(ExponentialCells(domain=grid(24), epsilon=1), uniform(5, 2000, 2))
    assert error < 0.25 < 0.45 < coarse


def test_staircase_groups_have_fixed_sizes_and_equal_steps() -> None:
    mechanism = LSRR(domain=grid(12), epsilon=3)
    channel = mechanism.channel
    assert isinstance(channel, Ranked)
    first, middle, last = channel.weights
    assert last * 2 < middle * 2 == pytest.approx(first + last, abs=2)
    for x in (0, 71, 143):
        row = list(channel.row(x))
        assert [row.count(weight) for weight in channel.weights] == list(mechanism.sizes)
        near = [y for y, weight in enumerate(row) if weight == first]
        assert max(channel.square(x, y) for y in near) <= min(channel.square(x, y) for y in range(144) if y not in near)
    assert Epsilon(3).allows(channel.max_ratio())
    assert column_ratio(channel) == channel.max_ratio()


def test_staircase_groups_cut_at_a_distance_exceed_epsilon() -> None:
    # The published groups for places 0, 1 and 10 on a line: near is what lies within 2.
    for epsilon in (0.5, 2.0):
        level = math.exp(epsilon)
        rows = [[level, level, 1], [level, level, 1], [1, 1, level]]
        law = [[weight / sum(row) for weight in row] for row in rows]
        worst = max(max(column) / min(column) for column in zip(*law, strict=True))
        assert worst == pytest.approx(level * (2 * level + 1) / (level + 2))
        assert worst > level * 1.1


@pytest.mark.parametrize("wrong", [[3], [0, 5], [2, 2], "23", [2.0, 3.0], [True, 4], 5])
def test_groups_that_are_no_sizes_are_refused(wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match="groups must"):
        LSRR(domain=Points([(i, 0) for i in range(5)]), epsilon=1, groups=wrong)


def test_ranks_in_bulk_are_those_of_the_scalar_sort_also_on_ties() -> None:
    mechanism = LSRR(domain=grid(7), epsilon=1)
    channel = mechanism.channel
    assert isinstance(channel, Ranked)
    sampler = RankedSampler(channel)
    for index in (0, 24, 30):
        order = sorted(range(49), key=lambda place: (channel.square(index, place), place))
        assert sampler.places_of(index, np.arange(49)).tolist() == order
        assert sampler.places_of(index, np.array([5, 2, 5])).tolist() == [order[5], order[2], order[5]]


def test_the_lattice_keeps_distances_to_a_millionth() -> None:
    places = [(3.5, -2.0), (3.7, 8.0), (-40.0, 1.0)]
    columns, rows = lattice(Points(places))
    assert max(*columns, *rows) == 1 << 20
    scale = (1 << 20) / 43.7
    for i, (x, y) in enumerate(places):
        assert abs(math.hypot(columns[i] - columns[0], rows[i] - rows[0]) - scale * math.hypot(x - 3.5, y + 2)) < 3
    apart = math.hypot(43.7, 7.0)
    assert math.isqrt(square_diameter((columns, rows))) == pytest.approx(scale * apart, abs=3)
    assert distance_steps(25, 100) == 512


def test_the_diameter_is_found_on_the_hull() -> None:
    points = np.random.default_rng(7).integers(0, 1 << 20, (300, 2))
    apart = points[:, None] - points[None]
    columns, rows = (tuple(axis.tolist()) for axis in points.T)
    assert square_diameter((columns, rows)) == (apart**2).sum(axis=2).max()


def test_sectors_are_randomized_response_with_a_uniform_cell() -> None:
    channel = TwoLevel.at(Sectors(12, 3), Epsilon(2))
    rows = [list(channel.row(x)) for x in range(12)]
    assert {sum(row) for row in rows} == {channel.total}
    for x in range(12):
        assert sorted(channel.sets.inside(x, j) for j in range(4)) == [y for y in range(12) if rows[x][y] == channel.high]
        assert sorted(channel.sets.outside(x, j) for j in range(8)) == [y for y in range(12) if rows[x][y] == channel.low]
    with pytest.raises(InvalidParameter, match="multiple"):
        Sectors(10, 3)
