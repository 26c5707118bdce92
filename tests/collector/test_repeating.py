"""Devices that repeat what they keep: all windows together say less than their number of reports, and the intervals know it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="the collector's packages are not installed")

from deniable.batch import Accumulator, accumulator_for, draw_many, randomize_many
from deniable.collector.dashboard.places import map_of
from deniable.collector.estimates import estimates
from deniable.collector.groups import compared
from deniable.collector.repeating import without_repetition
from deniable.collector.steps import Published
from deniable.core import Categories, Interval, Mechanism, Rectangle, make_mechanism
from deniable.privacy import FixedKeystream
from deniable.surveys import Attribute, Survey
from deniable.surveys.kept_layers import layers

PEOPLE = np.repeat(np.arange(3), [300, 200, 100])
WINDOWS = 4


def survey_of(repeat: str, mechanism: Mechanism | None = None) -> Survey:
    asked = make_mechanism("k-rr", domain=Categories(3), epsilon=1) if mechanism is None else mechanism
    question = (Attribute("way", "Which way?"),)
    return Survey(title="Ways", purpose="To know.", attributes=question, mechanism=asked, budget=9, repeat=repeat, window="week")


def shown_of(windows: list[Accumulator]) -> Published:
    whole = windows[0]
    for one in windows[1:]:
        whole = whole.merge(one)
    return Published({f"week {i}": one for i, one in enumerate(windows)}, whole, periods=len(windows))


def rows_of(survey: Survey, shown: Published, window: str = "") -> Any:
    view = estimates(survey, shown, window).attributes[0].views[0]
    return np.array([(row.value, row.low, row.high) for row in view.rows])


def test_the_same_reports_in_every_window_say_what_they_say_in_one() -> None:
    survey = survey_of("permanent")
    once = accumulator_for(survey.mechanism).add(randomize_many(survey.mechanism, PEOPLE, FixedKeystream(1)))
    shown = shown_of([once] * WINDOWS)
    assert rows_of(survey, shown) == pytest.approx(rows_of(survey, shown, "week 0"))
    attribute = estimates(survey, shown).attributes[0]
    assert attribute.n == WINDOWS * len(PEOPLE)
    assert attribute.views[0].method.endswith("devices repeat what they keep, so 2,400 reports count as 600")
    # Fresh reports in every window are as many as they are.
    (_, low, high), *_ = rows_of(survey_of("each-window"), shown)
    (_, least, most), *_ = rows_of(survey, shown)
    assert (most - least) / (high - low) == pytest.approx(2, rel=0.02)


def test_groups_and_maps_know_it_too() -> None:
    survey = survey_of("permanent")
    sums = [accumulator_for(survey.mechanism).add(randomize_many(survey.mechanism, PEOPLE, FixedKeystream(i))) for i in (1, 2)]
    often, once = (
        compared(survey, {name: (survey, shown_of([one] * count)) for name, one in zip("ab", sums, strict=True)})
        for count in (4, 1)
    )
    assert [(row.low, row.high) for row in often.attributes[0].rows] == [(row.low, row.high) for row in once.attributes[0].rows]
    square = Rectangle(Interval(0, 1, cells=2), Interval(0, 1, cells=2))
    places = survey_of("permanent", make_mechanism("nearest-cells", domain=square, epsilon=1))
    alone = accumulator_for(places.mechanism).add(randomize_many(places.mechanism, np.full((200, 2), 0.2), FixedKeystream(3)))
    said = [map_of(without_repetition(places, shown_of([alone] * count)).whole, "way") for count in (WINDOWS, 1)]
    assert said[0] == said[1]


@pytest.mark.slow
@pytest.mark.parametrize("repeat", ["permanent", "kept:6/5"])
def test_intervals_of_all_windows_hold(repeat: str) -> None:
    """80 surveys at 95 %: a share is missed in more than 17 of them less than once in 10**6 times (3 shares)."""
    survey, held, coins = survey_of(repeat), np.zeros(3), FixedKeystream(f"windows {repeat}")
    truth = np.bincount(PEOPLE) / len(PEOPLE)
    kept, around = (survey.mechanism.channel, None) if survey.permanent is None else layers(survey.mechanism, survey.permanent)
    for _ in range(80):
        memo = draw_many(kept, PEOPLE, coins).astype(np.int64)
        windows = [accumulator_for(survey.mechanism) for _ in range(WINDOWS)]
        for one in windows:
            one.fold((memo if around is None else draw_many(around, memo, coins)).astype(np.uint64))
            one.n += len(PEOPLE)
        _, low, high = rows_of(survey, shown_of(windows)).T
        held += (low <= truth) & (truth <= high)
    assert (held >= 63).all()


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize(("epsilon", "permanent"), [("1/2", 1), (1, 2), (2, 8)])
def test_the_noise_in_common_is_that_of_the_two_layers(size: int, epsilon: Any, permanent: int) -> None:
    """Brute force: the largest share of the variance of any weighted count that the kept answer is responsible for."""
    mechanism = make_mechanism("k-rr", domain=Categories(size), epsilon=epsilon)
    survey = survey_of(f"kept:{permanent}", mechanism)
    first, second = (
        np.array([list(one.row(x)) for x in range(size)], float) / one.total
        for one in layers(mechanism, survey.permanent)  # type: ignore[arg-type]
    )
    kept, once = first[0], first[0] @ second
    shared = second.T @ (np.diag(kept) - np.outer(kept, kept)) @ second
    whole = np.diag(once) - np.outer(once, once)
    base = np.linalg.qr(np.concatenate([np.ones((size, 1)), np.eye(size)[:, 1:]], axis=1))[0][:, 1:]
    largest = np.linalg.eigvals(np.linalg.solve(base.T @ whole @ base, base.T @ shared @ base)).real.max()
    assert float(survey.noise_in_common) == pytest.approx(largest)
