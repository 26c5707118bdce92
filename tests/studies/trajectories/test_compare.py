"""Claims about the comparison of mechanisms: who is there, who is best, who is quick, and that promises hold."""

from __future__ import annotations

import numpy as np
import pytest
from tests.outside_data import FOLDER, needs

from deniable.cli.trajectory_data import load
from deniable.core import Epsilon, Interval, Rectangle
from deniable.errors import InvalidEpsilon, InvalidParameter, OutOfDomain
from deniable.studies import Comparison, Paths, Places, average_error, compare, contestant, random_paths, regridded
from deniable.studies.trajectories.baselines.contestants import CONTESTANTS

ASKED = {"nearest-cells", "tracs-c", "tracs-d", "strawman", "planar-laplace", "ngram", "l-srr", "atp"}
REGION = ["nearest-cells", "tracs-c", "tracs-d", "strawman", "planar-laplace", "exponential-cells"]
OURS = ["nearest-cells", "tracs-c", "tracs-d"]
UNIT = Rectangle()


def grid_places(cells: int) -> Places:
    return Places.grid(Rectangle(Interval(0, 1, cells=cells), Interval(0, 1, cells=cells)))


@pytest.fixture(scope="module")
def few() -> list[Comparison]:
    return compare(random_paths(20, 15), UNIT, [2, 8], places=grid_places(16))


@pytest.mark.slow
def test_every_mechanism_is_there_with_every_number_and_a_promise_that_holds(few: list[Comparison]) -> None:
    assert set(CONTESTANTS) >= ASKED
    assert {(row.mechanism, row.epsilon) for row in few} == {(name, epsilon) for name in CONTESTANTS for epsilon in (2.0, 8.0)}
    for row in few:
        assert row.holds
        assert 0 < row.epsilon_exact <= row.epsilon * (1 + 1e-12)
        numbers = {name: value for name, value in row.to_dict().items() if isinstance(value, float)}
        assert all(np.isfinite(value) and value >= 0 for value in numbers.values()), row
        assert 0 <= row.range_query <= 100
        assert row.direction_error <= np.pi
        assert (row.paths, row.locations, row.places) == (20, 300, 256)


def test_answers_lie_in_the_region_or_at_places() -> None:
    true, places = random_paths(5, 10), grid_places(8)
    known = {tuple(place) for place in places.coordinates.tolist()}
    for name in CONTESTANTS:
        made = contestant(name, UNIT, places, Epsilon(3))
        done = made.perturb(true)
        assert np.array_equal(done.starts, true.starts)
        assert done.places.min() >= 0
        assert done.places.max() <= 1
        assert (made.space == "places") == ({tuple(place) for place in done.places.tolist()} <= known)


@pytest.mark.slow
def test_the_disc_is_best_among_those_that_answer_anywhere() -> None:
    # Many locations, so that no luck decides: the gaps are tens of standard errors.
    rows = compare(random_paths(100, 100), UNIT, [4, 10], mechanisms=REGION, places=grid_places(8))
    for epsilon in (4.0, 10.0):
        mine = {row.mechanism: row for row in rows if row.epsilon == epsilon}
        others = [row for name, row in mine.items() if name != "nearest-cells"]
        assert all(
            mine["nearest-cells"].average_error + 10 * row.average_error_standard_error < row.average_error for row in others
        )
    bounds = {4.0: 0.195, 10.0: 0.029}
    for row in rows:
        if row.mechanism == "nearest-cells":
            assert row.average_error < bounds[row.epsilon] + 5 * row.average_error_standard_error


@pytest.mark.slow
def test_more_epsilon_means_less_error_for_everyone(few: list[Comparison]) -> None:
    for name in set(CONTESTANTS) - {"ngram"}:  # ngram hardly gets better at all
        first, second = (row for row in few if row.mechanism == name)
        assert second.average_error < first.average_error + 6 * (
            first.average_error_standard_error + second.average_error_standard_error
        )
    disc = [row for row in few if row.mechanism == "nearest-cells"]
    assert disc[1].average_error < disc[0].average_error / 2


@needs("chicago_checkins.csv", "tokyo_checkins.csv")
@pytest.mark.parametrize(
    ("city", "box"), [("chicago", "-88,41.6,-87.5,42"), ("tokyo", "139.47,35.51,139.91,35.87")], ids=["chicago", "tokyo"]
)
def test_the_disc_is_best_on_real_check_ins_from_epsilon_four_on(city: str, box: str) -> None:
    data = load(str(FOLDER / f"{city}_checkins.csv"), box)
    before = float("inf")
    for epsilon in (4, 6, 8, 10):
        errors = {}
        for name in REGION:
            made = contestant(name, data.region, data.places, Epsilon(epsilon))
            assert made.certificate().holds
            errors[name] = average_error(data.paths, made.perturb(data.paths)).value
        assert min(errors, key=errors.__getitem__) == "nearest-cells"
        assert errors["nearest-cells"] < before
        before = errors["nearest-cells"]


def test_the_comparison_tells_how_far_it_is() -> None:
    told: list[tuple[str, int]] = []
    compare(random_paths(2, 5), UNIT, [1, 2], mechanisms=["tracs-c", "ngram"], progress=lambda *step: told.append(step))
    assert sum(done for _, done in told) == 2 * 2 * 10
    assert {name for name, _ in told} == {"tracs-c", "ngram"}


def test_left_out_places_are_those_of_the_paths() -> None:
    (row,) = compare(Paths.of([[(0.1, 0.1), (0.9, 0.9)], [(0.1, 0.1)]]), UNIT, [1], mechanisms=["l-srr"])
    assert row.places == 2


def test_questions_that_make_no_sense_are_refused() -> None:
    true = random_paths(1, 3)
    with pytest.raises(InvalidParameter, match="there are nearest-cells"):
        compare(true, UNIT, [1], mechanisms=["magic"])
    with pytest.raises(InvalidEpsilon):
        compare(true, UNIT, [0])
    with pytest.raises(InvalidParameter, match="at least one mechanism"):
        compare(true, UNIT, [])
    with pytest.raises(InvalidParameter, match="at least one location"):
        compare(Paths.of([[]]), UNIT, [1])
    with pytest.raises(OutOfDomain, match="private"):
        compare(Paths.of([[(2, 2)]]), UNIT, [1])


def test_grids_have_square_cells() -> None:
    tall = regridded(Rectangle(Interval(0, 1, cells=9), Interval(-5, 5, cells=9)), 200)
    assert (tall.x.cells, tall.y.cells) == (20, 200)
    flat = regridded(Rectangle(Interval(0, 1000, cells=4), Interval(0, 1, cells=4)), 64)
    assert (flat.x.cells, flat.y.cells) == (64, 2)


def test_random_paths_are_repeatable_and_within_the_unit_square() -> None:
    assert np.array_equal(random_paths(3, 4).places, random_paths(3, 4).places)
    assert not np.array_equal(random_paths(3, 4).places, random_paths(3, 4, seed=1).places)
    assert random_paths(3, 4).lengths.tolist() == [4, 4, 4]
    for wrong in ((0, 1), (1, 0), (True, 1), (1 << 13, 1 << 13)):
        with pytest.raises(InvalidParameter):
            random_paths(*wrong)
