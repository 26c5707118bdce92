"""When a coverage run stops: what looked low is asked again until it is cleared or fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Any:
    from intervals import measuring as module  # type: ignore[import-not-found]

    return module


def measured(measuring: Any, monkeypatch: pytest.MonkeyPatch, misses: dict[str, list[int]]) -> dict[str, Any]:
    """A cell whose answers miss in so many of every 200 repetitions, place by place."""
    asked: list[tuple[range, Any]] = []

    def simulate(cell: Any, repetitions: range, counts: Any, stream: Any = None, wanted: Any = None) -> None:
        asked.append((repetitions, wanted))
        for name, missed in misses.items():
            if wanted is None or name in wanted:
                kept = counts.setdefault(name, {"asked": 0, "held": np.zeros(len(missed)), "half": np.zeros(len(missed))})
                kept["asked"] += 200
                kept["held"] = kept["held"] + 200 - np.array(missed)

    from intervals.answers import Cell  # type: ignore[import-not-found]

    monkeypatch.setattr(measuring, "simulate", simulate)
    row: dict[str, Any] = measuring.measure(Cell("line", "sw", "gamma", 50, 1.0, "population"), 200, 2000)
    return row


def test_what_does_not_look_low_is_asked_200_times(measuring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(measuring, monkeypatch, {"mean|population": [13], "bins|population": [0, 10]})["repetitions"] == 200


def test_what_looks_low_is_asked_until_it_is_cleared(measuring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    row = measured(measuring, monkeypatch, {"mean|population": [14], "bins|population": [0, 10]})
    assert row["repetitions"] == 1000
    assert row["answers"]["mean|population"]["asked"] == 1000
    assert row["answers"]["bins|population"]["asked"] == 200


def test_what_is_neither_one_nor_the_other_is_asked_2000_times(measuring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(measuring, monkeypatch, {"mean|population": [17]})["repetitions"] == 2000


def test_what_fails_is_not_asked_again(measuring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from intervals.table import failures  # type: ignore[import-not-found]

    row = measured(measuring, monkeypatch, {"mean|population": [60]})
    assert row["repetitions"] == 200
    assert failures([row]) == {(row["key"], "mean|population"): [0.7]}


def test_a_poor_answer_is_seldom_cleared(measuring: Any) -> None:
    """Ninety percent, looked at ten times: cleared in at most one of a hundred runs (three standard errors for 4,000 runs)."""
    held = np.random.default_rng(1).binomial(200, 0.9, (4000, 10)).cumsum(axis=1)
    cleared = np.array([measuring.cleared(held[:, look], 200 * (look + 1)) for look in range(10)])
    assert cleared.any(axis=0).mean() <= 0.01 + 3 * (0.01 / 4000) ** 0.5


def test_an_answer_that_is_not_wanted_is_not_worked_out(monkeypatch: pytest.MonkeyPatch, measuring: Any) -> None:
    from intervals.answers import Answer, Cell, fixed

    def trial(draws: Any, stream: Any) -> Any:
        yield Answer("wanted", "population", np.zeros(1), fixed(np.zeros(1), np.ones(1)))
        yield Answer("dear", "population", np.zeros(1), lambda: pytest.fail("worked out"))

    monkeypatch.setattr(measuring, "trial_of", lambda cell: trial)
    counts: dict[str, Any] = {}
    measuring.simulate(Cell("line", "sw", "gamma", 50, 1.0, "population"), range(3), counts, wanted={"wanted|population"})
    assert {name: kept["asked"] for name, kept in counts.items()} == {"wanted|population": 3}
