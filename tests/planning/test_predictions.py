"""Predicted errors are within 5 % of simulated ones, and widths of intervals within 10 %: every mechanism and task, three sizes.

There are so many surveys that this is at least six standard errors of the simulated error, which is checked: a right
prediction fails with probability 2e-9, all of them together below 1e-6. The coins are fixed, so it fails always or never.
A sample of the matrix runs always; all of it takes minutes.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest

from deniable.core import Binary, Categories, Circle, Disc, Domain, Epsilon, Interval, Points, Record, Rectangle, Text, Whole
from deniable.planning import TASKS, LeftOut, Question, Way, ways
from deniable.privacy import FixedKeystream

WITHIN, WIDTHS_WITHIN = 0.05, 0.10
"""Errors; and the widths of a distribution's intervals, which are exact ones for few reports."""
DEVIATIONS = 6
MOST_SHORT = 8

Setting = tuple[str, Domain, dict[str, Any], float, int, int]
GRID = Rectangle(Interval(0, 1, cells=16), Interval(0, 1, cells=16))
PLACES = Points([(0, 0), (3, 1), (1, 4), (5, 5), (2, 2)])
PAIR = (["0.5", "0.3", "0.2"], ["0.35", "0.3", "0.35"])

# task, domain, more of the question, epsilon, users, surveys of the first look
FULL: list[Setting] = [
    ("frequency", Categories(4), {}, 1.0, 500, 400),
    ("frequency", Categories(32), {}, 0.5, 500, 200),
    ("frequency", Categories(128), {}, 3.0, 500, 100),
    *(("frequency", Categories(size), {"data": "worst"}, 1.0, 300, 800) for size in (3, 9, 40)),
    *(("frequency", Categories(6), {"attributes": fields}, 2.0, 900, 200) for fields in (2, 3, 4)),
    *(("frequency", Categories(12), {"repeats": rounds}, 4.0, 400, 300) for rounds in (2, 3, 5)),
    ("frequency", Categories(12), {"repeats": 5, "changing": False}, 2.0, 400, 300),
    *(("frequency", Binary(), {}, epsilon, 400, 800) for epsilon in (0.5, 1.0, 3.0)),
    *(("mean", Interval(-1, 1), {}, epsilon, 100, 800) for epsilon in (0.5, 2.0, 4.0)),
    *(("mean", Interval(0, 1), {"data": "worst"}, epsilon, 100, 800) for epsilon in (0.5, 2.0, 4.0)),
    *(("mean", Interval(0, 1, cells=4096), {"attributes": fields}, 2.0, 300, 400) for fields in (2, 3, 4)),
    *(("distribution", Interval(0, 10, cells=1024), {"bins": bins}, 2.0, 600, 12) for bins in (4, 8, 16)),
    *(("distribution", Circle(cells=720), {"bins": bins}, 2.0, 600, 12) for bins in (4, 8, 16)),
    *(("quantile", Interval(0, 10, cells=1024), {"bins": 8, "level": level}, 3.0, 1000, 600) for level in (0.3, 0.5, 0.7)),
    *(("location", GRID, {}, epsilon, 4000, 20) for epsilon in (1.0, 4.0, 7.0)),
    *(("location", PLACES, {}, epsilon, 1000, 40) for epsilon in (1.0, 2.0, 3.0)),
    *(("test", Categories(3), {"hypotheses": PAIR}, 1.0, users, 20_000) for users in (60, 120, 240)),
    ("heavy-hitters", Whole(12), {"words": 4}, 3.0, 4000, 200),
    ("heavy-hitters", Whole(16), {"words": 8}, 4.0, 6000, 200),
    ("heavy-hitters", Text(4), {"words": 3}, 4.0, 8000, 200),
    *(("location", Disc((3, -2), 5), {}, epsilon, 2000, 20) for epsilon in (1.0, 3.0, 6.0)),
    *(("workload", Categories(8), {"workload": name}, 1.0, 400, 400) for name in ("prefix", "marginals:2")),
    *(("workload", Categories(size), {"workload": "ranges"}, 2.0, 400, 400) for size in (4, 16)),
]
MORE: list[tuple[Setting, tuple[str, ...]]] = [
    *((("frequency", Categories(k), {"repeats": 5, "changing": False}, 2.0, 400, 300), ("rappor",)) for k in (5, 40)),
    (("distribution", Interval(0, 10, cells=1024), {"bins": 6}, 2.0, 600, 12), ("window", "ogpm")),
    (("distribution", Interval(0, 1, cells=4096), {"bins": 16}, 4.0, 300, 40), ("hierarchical-histogram",)),
    (("distribution", Interval(0, 1, cells=4096), {"bins": 64}, 3.0, 900, 40), ("hierarchical-histogram",)),
    *(
        (("quantile", Interval(0, 10, cells=1024), {"bins": 16, "level": level}, 3.0, 1000, 600), ("hierarchical-histogram",))
        for level in (0.3, 0.5, 0.7)
    ),
    *((("workload", Categories(size), {"workload": "ranges"}, 2.0, 400, 400), ("hierarchy",)) for size in (12, 24)),
    *((("workload", Categories(size), {"workload": "marginals:2"}, 2.0, 1000, 600), ("marginals",)) for size in (8, 16, 32)),
]
"""Settings for those that are no candidates in three of the others."""
SAMPLE: dict[str, tuple[str, ...]] = {
    "frequency": ("k-rr", "oue", "subset", "projective", "rs-fd", "rappor", "randomized-response"),
    "mean": ("duchi", "hm", "pm-sub", "sw", "sample-one", "product"),
    "distribution": ("sw", "k-rr", "circular-redesigned-sw", "hierarchical-histogram"),
    "quantile": ("k-rr", "sw"),
    "location": ("nearest-cells", "tracs-c", "tracs-d", "nearest-places"),
    "test": ("extremal", "k-rr"),
    "heavy-hitters": ("pem",),
    "workload": ("extremal", "hierarchical-histogram"),
}
"""What of the matrix runs always: of every other setting, the next of these that is a candidate."""


ELSEWHERE = {"vector", "items", "key-values", "key-distributions", "trend"}
"""Tasks whose predictions are compared with simulations in test_vector_plans.py, test_sets.py and test_trends.py."""


def question_of(setting: Setting) -> Question:
    task, domain, more, epsilon, users, _ = setting
    return Question(task=task, domain=domain, users=users, epsilon=epsilon, **more)  # type: ignore[arg-type]


def candidates(setting: Setting, *, slow: bool) -> list[Way]:
    question = question_of(setting)
    assert question.epsilon is not None
    return [way for way in ways(question, Epsilon(question.epsilon), slow=slow) if not isinstance(way, LeftOut)]


@cache
def sampled() -> list[tuple[Way, Setting]]:
    """One candidate of every other setting, taken in turn, so that every task and many mechanisms are looked at."""
    turn: Counter[str] = Counter()
    cases = []
    for setting in FULL[::2]:
        by_name = {way.name: way for way in reversed(candidates(setting, slow=False))}
        wanted = SAMPLE[setting[0]]
        step, name = next(
            (step, name) for step in range(len(wanted)) if (name := wanted[(turn[setting[0]] + step) % len(wanted)]) in by_name
        )
        turn[setting[0]] += step + 1
        cases.append((by_name[name], setting))
    return cases


def check(way: Way, setting: Setting) -> None:
    users, runs = setting[4:]
    predicted = way.predict(users).error
    within = WIDTHS_WITHIN if setting[0] == "distribution" else WITHIN
    name = f"{way.label} {setting[:1]} {setting[3:]}"
    tried = way.simulated(users, runs, FixedKeystream(name))
    for again in range(3):
        short = DEVIATIONS * tried.standard_error / (within * tried.error)
        if not 1 <= short < MOST_SHORT:
            break
        # As many surveys as it takes: some errors vary more than others.
        runs = round(1.3 * short**2 * runs)
        tried = way.simulated(users, runs, FixedKeystream(f"{name} again {again}"))
    assert DEVIATIONS * tried.standard_error < within * tried.error, f"{way.label}: too few surveys to tell ({tried})"
    assert abs(tried.error / predicted - 1) < within, (way.label, predicted, tried)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(FULL[::2])))
def test_predicted_errors_are_those_of_surveys(number: int) -> None:
    check(*sampled()[number])


@pytest.mark.slow
def test_the_sample_has_every_task() -> None:
    assert {setting[0] for _, setting in sampled()} == set(TASKS) - ELSEWHERE


def test_a_wrong_prediction_would_be_seen() -> None:
    setting = FULL[0]
    way = next(way for way in candidates(setting, slow=False) if way.name == "oue")
    off = Way(way.name, way.asked, way.estimator, lambda n: way.predict(round(n * 1.15)), way.losses)
    with pytest.raises(AssertionError):
        check(off, setting)


@pytest.mark.slow
def test_fields_of_different_sizes_are_planned_together() -> None:
    record = Record({"smokes": Binary(), "city": Categories(7)})
    question = Question(task="frequency", domain=record, users=1000, epsilon=2)
    found = [way for way in ways(question, Epsilon(2)) if isinstance(way, Way) and way.label in ("sample-one (k-rr)", "rs-fd")]
    assert len(found) == 2
    for way in found:
        check(way, ("frequency", record, {}, 2.0, 1000, 2500))


@pytest.mark.heavy
@pytest.mark.parametrize("number", range(len(FULL)), ids=lambda number: f"{number}-{FULL[number][0]}-{FULL[number][1].kind}")
def test_the_whole_matrix_of_mechanisms_tasks_and_sizes(number: int) -> None:
    """`pytest -m heavy tests/planning/test_predictions.py`: every candidate of every setting, slow ones too."""
    check_all(candidates(FULL[number], slow=True), FULL[number])


@pytest.mark.heavy
@pytest.mark.parametrize(("setting", "names"), MORE, ids=[f"{names[0]}-{number}" for number, (_, names) in enumerate(MORE)])
def test_mechanisms_that_are_seldom_candidates(setting: Setting, names: tuple[str, ...]) -> None:
    found = [way for way in candidates(setting, slow=True) if way.name in names]
    assert {way.name for way in found} == set(names)
    check_all(found, setting)


def check_all(found: list[Way], setting: Setting) -> None:
    missed = []
    for way in found:
        try:
            check(way, setting)
        except AssertionError as miss:
            missed.append(str(miss))
    assert not missed


@pytest.mark.heavy
def test_every_candidate_of_every_task_is_tried_at_three_sizes() -> None:
    tried: Counter[tuple[str, str]] = Counter()
    for setting in FULL:
        tried.update({(setting[0], way.name) for way in candidates(setting, slow=True)})
    for setting, names in MORE:
        tried.update((setting[0], name) for name in names)
    assert {key for key, times in tried.items() if times < 3} == set()
    assert {task for task, _ in tried} == set(TASKS) - ELSEWHERE
