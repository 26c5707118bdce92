"""Answers to linear questions are unbiased, as noisy as they say, and can be made consistent without losing their parent."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.batch import randomize_many
from deniable.core import Categories, Extremal, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import answers, consistent_answers
from deniable.privacy import FixedKeystream

SIZE = 5
PREFIX = np.tril(np.ones((SIZE, SIZE)))[:-1]
PEOPLE = np.repeat(np.arange(SIZE), [180, 20, 80, 100, 20])
TRUTH = PREFIX @ np.bincount(PEOPLE) / len(PEOPLE)
# Every category lies in four of the sets.
TABLE = Extremal(
    domain=Categories(SIZE),
    epsilon=1,
    patterns=[[0], [1], [2], [3], [4], [0, 1], [3, 4], [0, 1, 2], [2, 3, 4], [2, 3], [0, 1, 4]],
)
RUNS = 500


def test_answers_are_unbiased_and_as_noisy_as_they_say() -> None:
    stream = FixedKeystream("workload answers")
    runs = [answers(randomize_many(TABLE, PEOPLE, stream), PREFIX) for _ in range(RUNS)]
    values = np.array([run.value for run in runs])
    said = np.mean([np.diagonal(run.covariance) for run in runs if run.covariance is not None], axis=0)
    # Five standard errors for each of four means: false alarms in fewer than 1e-5 of seeds, and this one is fixed.
    assert np.abs(values.mean(axis=0) - TRUTH).max() < 5.5 * np.sqrt(said.max() / RUNS)
    assert values.var(axis=0) == pytest.approx(said, rel=0.35)
    inside = {method: np.mean([_covers(run, method) for run in runs]) for method in ("auto", "exact")}
    # 2,000 intervals: a coverage of 95 % comes out below 92 % by less than 1e-6.
    assert inside["auto"] > 0.92
    assert inside["exact"] >= 0.95


def _covers(run: object, method: str) -> float:
    low, high = run.interval(0.95, method)  # type: ignore[attr-defined]
    return float(np.mean((low <= TRUTH) & (high >= TRUTH)))


def test_every_answer_of_everyone_is_certain() -> None:
    reports = randomize_many(TABLE, PEOPLE, FixedKeystream("one"))
    whole = answers(reports, np.ones((1, SIZE)))
    assert whole.value == pytest.approx([1.0])
    assert float(whole.standard_error[0]) < 1e-6


def test_consistent_answers_are_those_of_a_distribution_and_keep_their_parent() -> None:
    few = randomize_many(TABLE, PEOPLE[::8], FixedKeystream("few"))
    estimate = consistent_answers(few, np.concatenate([np.eye(SIZE), PREFIX]))
    shares, below = estimate.value[:SIZE], estimate.value[SIZE:]
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1)
    assert below == pytest.approx(PREFIX @ shares)
    assert estimate.parent is not None
    assert estimate.parent.value == pytest.approx(answers(few, np.concatenate([np.eye(SIZE), PREFIX])).value)
    assert np.asarray(estimate.interval()).tolist() == np.asarray(estimate.parent.interval()).tolist()


def test_any_categorical_mechanism_answers() -> None:
    mechanism = make_mechanism("oue", domain=Categories(SIZE), epsilon=3)
    estimate = answers(randomize_many(mechanism, np.tile(PEOPLE, 20), FixedKeystream("oue")), PREFIX)
    assert np.abs(estimate.value - TRUTH).max() < 5 * float(estimate.standard_error.max())
    with pytest.raises(NotSupported, match="no exact interval"):
        estimate.interval(method="exact")


def test_questions_of_another_size_are_refused() -> None:
    reports = randomize_many(TABLE, PEOPLE, FixedKeystream("one"))
    for wrong in ([[1, 0, 0]], [1, 0, 0, 0, 0], "prefix", [[1, 0, 0, 0, float("nan")]]):
        with pytest.raises(InvalidParameter, match="rows of 5 finite numbers"):
            answers(reports, wrong)
