"""Made-up paths: walks on a grid, one private answer a person, unbiased models, and walks that follow them."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch import Floats, SystemKeystream
from deniable.core import Interval, Rectangle
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.privacy import CountingCoins, FixedCoins, FixedKeystream
from deniable.studies import MovementSurvey, Paths
from deniable.studies.trajectories.grid_walks import GridMoves, Walks
from deniable.studies.trajectories.synthesis import QUESTIONS


def square(cells: int) -> Rectangle:
    return Rectangle(Interval(0, cells, cells=cells), Interval(0, cells, cells=cells))


def commuters(count: int) -> Paths:
    """From the lower left, right along the bottom, then up: four to eight cells; some stay at home."""
    draws = np.random.default_rng(7)
    made = []
    for _ in range(count):
        if draws.random() < 0.2:
            made.append([(0.5, 0.5)])
            continue
        ahead, up = 1 + draws.integers(0, 4), draws.integers(0, 4)
        made.append([(0.5 + i, 0.5) for i in range(ahead + 1)] + [(0.5 + ahead, 0.5 + j + 1) for j in range(up)])
    return Paths.of(made)


def test_jumps_are_filled_with_steps_to_neighbours() -> None:
    draws = np.random.default_rng(1)
    paths = Paths.of([draws.random((n, 2)) * 9 for n in (1, 2, 5, 12)])
    walks = Walks.of(paths, square(9))
    for path in range(4):
        steps = [walks.step(path, i) for i in range(int(walks.lengths[path]) - 1)]
        cells = [walks.cell(path, last=False), *(end for _, end in steps)]
        assert [start for start, _ in steps] == cells[:-1]
        assert cells[-1] == walks.cell(path, last=True)
        row, column = np.divmod(np.array(cells), 9)
        if len(cells) > 1:
            assert np.maximum(np.abs(np.diff(row)), np.abs(np.diff(column))).min() == 1
            assert np.maximum(np.abs(np.diff(row)), np.abs(np.diff(column))).max() == 1
    with pytest.raises(InvalidParameter, match="that many steps"):
        walks.step(0, 0)


def test_steps_are_numbered_without_gaps() -> None:
    moves = GridMoves(3, 4)
    assert len(moves) == 2 * (3 * 3 + 2 * 4 + 2 * 2 * 3)
    assert [moves.number(int(a), int(b)) for a, b in moves.pairs] == list(range(len(moves)))


def test_every_report_has_all_of_epsilon_and_no_more() -> None:
    survey = MovementSurvey(square(5), epsilon=2)
    for mechanism in survey.mechanisms.values():
        assert mechanism.privacy.exact == 2
        assert mechanism.certificate().holds
    assert survey.length_starts == (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
    assert MovementSurvey(square(5), epsilon=2, longest=20).length_starts[-2:] == (16, 20)


def test_one_person_makes_one_report_by_coins_alone() -> None:
    survey = MovementSurvey(square(4), epsilon=1)
    path = [(0.5, 0.5), (3.5, 3.5)]
    first = survey.randomize(path, FixedCoins(1))
    assert survey.randomize(path, FixedCoins(1)) == first
    coins = CountingCoins(FixedCoins(2))
    answer = survey.randomize(path, coins)
    assert coins.asked[0] == 4
    assert answer.report.recipe == survey.mechanisms[answer.question].fingerprint
    assert len({survey.randomize(path).question for _ in range(200)}) == 4


def expected(survey: MovementSurvey, paths: Paths) -> dict[str, Floats]:
    """The true shares, counted slowly."""
    walks = Walks.of(paths, survey.region)
    found = {name: np.zeros(survey.mechanisms[name].domain.size) for name in QUESTIONS}
    for person in range(len(paths)):
        length = int(walks.lengths[person])
        found["length"][max(i for i, start in enumerate(survey.length_starts) if start <= length)] += 1
        found["start"][walks.cell(person, last=False)] += 1
        found["end"][walks.cell(person, last=True)] += 1
        if length == 1:
            found["move"][-1] += 1
        for i in range(length - 1):
            found["move"][survey.moves.number(*walks.step(person, i))] += 1 / (length - 1)
    return {str(name): counts / len(paths) for name, counts in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4])
def test_the_model_is_unbiased_with_intervals_that_hold(epsilon: float) -> None:
    survey, paths = MovementSurvey(square(5), epsilon=epsilon, longest=12), commuters(20_000)
    model = survey.estimate(survey.randomize_many(paths, FixedKeystream(f"model {epsilon}")))
    true = expected(survey, paths)
    for name, found in zip(QUESTIONS, (model.lengths, model.starts, model.moves, model.ends), strict=True):
        assert 4_600 < found.n < 5_400
        # Below 10**-6 for all of them together: 6 standard errors on about 300 values.
        assert (np.abs(found.value - true[name]) < 6 * found.standard_error).all()
        assert (np.abs(found.value - true[name]) > 0.2 * found.standard_error).any()


@pytest.mark.slow
def test_made_up_paths_start_walk_and_end_as_the_real_ones() -> None:
    survey, paths = MovementSurvey(square(5), epsilon=10, longest=12), commuters(20_000)
    model = survey.estimate(survey.randomize_many(paths, FixedKeystream("good")))
    made = model.synthesize(10_000, FixedKeystream("made"))
    assert len(made) == 10_000
    true, seen = expected(survey, paths), expected(survey, made)
    apart = {name: 0.5 * np.abs(true[name] - seen[name]).sum() for name in QUESTIONS}
    assert apart["start"] < 0.03
    assert apart["length"] < 0.15
    assert apart["end"] < 0.1
    assert apart["move"] < 0.2
    uneven = 0.5 * np.abs(true["end"] - 1 / 25).sum()
    assert apart["end"] < uneven / 4


def test_made_up_steps_go_to_neighbours_inside_the_region() -> None:
    survey = MovementSurvey(square(4), epsilon=0.5, longest=8)
    model = survey.estimate(survey.randomize_many(commuters(400).with_places(commuters(400).places * 0.7), SystemKeystream()))
    made = model.synthesize(300)
    walks = Walks.of(made, survey.region)
    assert walks.steps.max() == 1
    assert made.lengths.max() <= 8
    assert (walks.lengths == made.lengths).all()
    assert model.next_cell.shape == (len(survey.moves),)
    sums = np.bincount(survey.moves.pairs[:, 0], model.next_cell)
    assert np.allclose(sums, 1)


def test_what_cannot_be_asked_is_refused() -> None:
    survey = MovementSurvey(square(4), epsilon=1)
    with pytest.raises(OutOfDomain, match="empty path"):
        survey.randomize([])
    with pytest.raises(OutOfDomain) as caught:
        survey.randomize([(0.5, 77.25)])
    assert "77.25" not in str(caught.value)
    for region in (square(50), "here"):
        with pytest.raises(InvalidParameter, match="region"):
            MovementSurvey(region, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="longest"):
        MovementSurvey(square(4), epsilon=1, longest=1)
    reports = survey.randomize_many(commuters(50).with_places(commuters(50).places * 0.7), FixedKeystream("few"))
    with pytest.raises(InvalidParameter, match="length is missing"):
        survey.estimate({name: reports[name] for name in QUESTIONS[1:]})
    with pytest.raises(InvalidParameter, match="another recipe"):
        MovementSurvey(square(4), epsilon=2).estimate(reports)
    with pytest.raises(InvalidParameter, match="count"):
        survey.estimate(reports).synthesize(0)
