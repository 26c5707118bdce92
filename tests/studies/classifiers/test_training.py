"""Models learned from reports alone: unbiased moments, sensible models, and nothing private in an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from deniable.core import Epsilon
from deniable.errors import InvalidParameter, NotSupported, OutOfDomain
from deniable.privacy import FixedKeystream
from deniable.studies import train_private, training_curve
from deniable.studies.classifiers.logistic import fitted_slope
from deniable.studies.classifiers.training import Column

PEOPLE = 20_000
DRAWN = np.random.default_rng(1)
X = DRAWN.random((PEOPLE, 2))
JOB = DRAWN.choice(["cook", "judge", "pilot"], PEOPLE)
ROWS = {"age": 100 * X[:, 0], "income": X[:, 1], "job": JOB}
RANGES: dict[Any, Any] = {"age": (0, 100), "income": (0, 1), "job": ["cook", "judge", "pilot"]}
RICH = X[:, 0] + 0.5 * X[:, 1] + 0.5 * (JOB == "judge") > 0.9


@pytest.mark.parametrize("mechanism", ["pm", "hm", "laplace"])
def test_reports_of_a_number_and_of_its_square_are_unbiased(mechanism: str) -> None:
    column = Column("x", (0, 1), Epsilon(1), mechanism)
    for value in (0.0, 0.3, 1.0):
        first, second = column.reported(np.full((200_000, 1), value), FixedKeystream(3))
        # Fixed coins; five standard errors were allowed when they were chosen.
        assert abs(first.mean() - value) < 5 * first.std() / np.sqrt(200_000)
        assert abs(second.mean() - value**2) < 5 * second.std() / np.sqrt(200_000)


def test_reports_of_categories_are_unbiased() -> None:
    column = Column("job", ["a", "b", "c"], Epsilon(1), "pm")
    first, _ = column.reported(column.seen(["b"] * 100_000), FixedKeystream(3))
    assert np.abs(first.mean(axis=0) - [0, 1, 0]).max() < 0.03


def test_every_person_spends_epsilon_in_all() -> None:
    model = train_private(ROWS, RICH, RANGES, [False, True], epsilon=3, keystream=FixedKeystream(1))
    assert {float(column.epsilon or 0) for column in (*model.columns, model.answer)} == {1.5}  # two reports each


def test_each_person_reports_one_pair_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    original = Column.reported

    def noted(self: Column, seen: Any, stream: Any) -> Any:
        asked.append(len(seen))
        return original(self, seen, stream)

    monkeypatch.setattr(Column, "reported", noted)
    train_private(ROWS, RICH, RANGES, [False, True], epsilon=3, model="linear", keystream=FixedKeystream(1))
    assert sum(asked) == 2 * PEOPLE


@pytest.mark.parametrize("model", ["naive-bayes", "linear", "logistic"])
def test_a_classifier_learns_from_reports_and_nears_central_training(model: Any) -> None:
    def score(epsilon: Any) -> float:
        return train_private(ROWS, RICH, RANGES, [False, True], epsilon=epsilon, model=model, keystream=FixedKeystream(1)).score(
            ROWS, RICH
        )

    central = score(None)
    assert central > 0.85
    assert score(8) > central - 0.05


def test_regression_recovers_a_line_centrally_and_nearly_so_from_reports() -> None:
    target = 2 * X[:, 0] - X[:, 1] + 1
    ranges = {"age": (0, 100), "income": (0, 1)}
    central = train_private(ROWS, target, ranges, (0, 3), epsilon=None, model="linear")
    assert central.score(ROWS, target) == pytest.approx(1, abs=1e-9)
    assert (
        train_private(ROWS, target, ranges, (0, 3), epsilon=16, model="linear", keystream=FixedKeystream(1)).score(ROWS, target)
        > 0.9
    )


NORMAL = np.clip(np.random.default_rng(6).normal(0.5, 0.15, (PEOPLE, 2)), 0, 1)
LIKELY = 1 / (1 + np.exp(-(6 * (NORMAL[:, 0] - 0.5) - 4 * (NORMAL[:, 1] - 0.5) + 0.5)))
CHOSEN = np.random.default_rng(7).random(PEOPLE) < LIKELY
PLAIN: dict[Any, Any] = {"a": (0, 1), "b": (0, 1)}


def logistic(epsilon: Any, people: int = PEOPLE) -> Any:
    rows = {"a": NORMAL[:people, 0], "b": NORMAL[:people, 1]}
    return train_private(
        rows, CHOSEN[:people], PLAIN, [False, True], epsilon=epsilon, model="logistic", keystream=FixedKeystream(1)
    ).predict_proba({"a": NORMAL[:, 0], "b": NORMAL[:, 1]})[:, 1]


def test_a_logistic_fit_from_moments_is_that_from_rows_where_features_are_normal() -> None:
    rows = LogisticRegression(C=1e6).fit(NORMAL, CHOSEN).predict_proba(NORMAL)[:, 1]
    assert np.abs(logistic(None) - rows).max() < 0.02


@pytest.mark.slow
def test_probabilities_learned_from_reports_are_near_the_true_ones_and_never_far_too_sure() -> None:
    assert np.abs(logistic(16) - LIKELY).mean() < 0.05
    for epsilon in (1, 2, 4):
        learned = logistic(epsilon, 5_000)
        loss = -np.where(CHOSEN, np.log(learned), np.log1p(-learned)).mean()
        assert loss < 0.8  # 0.69 says nothing at all


def test_three_classes_have_probabilities_that_sum_to_one() -> None:
    band = np.digitize(X[:, 0], [0.3, 0.6])
    for model in ("logistic", "naive-bayes"):
        learned = train_private(
            ROWS, band, {"age": (0, 100)}, [0, 1, 2], epsilon=8, model=model, keystream=FixedKeystream(1)
        ).predict_proba(ROWS)
        assert learned.shape == (PEOPLE, 3)
        assert learned.sum(axis=1) == pytest.approx(1)
        assert (learned >= 0).all()


@pytest.mark.parametrize(("share", "spread"), [(0.5, 0.1), (0.1, 0.05), (0.97, 0.02), (0.3, 0.2)])
def test_the_slope_solves_the_score_equations(share: float, spread: float) -> None:
    factor, middle = fitted_slope(share, spread)
    draws = np.random.default_rng(1).normal(size=400_000)
    fitted = 1 / (1 + np.exp(-(middle + factor * spread * draws)))
    assert fitted.mean() == pytest.approx(share, abs=2e-3)
    assert ((fitted - share) * draws).mean() == pytest.approx(spread, abs=2e-3)


def test_where_nothing_can_be_learned_the_mean_is_the_answer() -> None:
    target = 2 * X[:, 0] - X[:, 1] + 1
    few = {"age": ROWS["age"][:300], "income": ROWS["income"][:300]}
    model = train_private(
        few, target[:300], {"age": (0, 100), "income": (0, 1)}, (0, 3), epsilon="0.1", model="linear", keystream=FixedKeystream(1)
    )
    assert np.ptp(model.predict(few)) < 1


@pytest.mark.slow
def test_the_curve_has_every_level_and_number_of_people_and_says_when_it_is_enough() -> None:
    curve = training_curve(
        ROWS, RICH, RANGES, [False, True], epsilons=[1, 8], people=[500, 20_000], repeats=4, keystream=FixedKeystream(2)
    )
    assert [(row["epsilon"], row["people"]) for row in curve.rows] == [(1, 500), (8, 500), (1, 20_000), (8, 20_000)]
    assert all(row["low"] <= row["score"] <= row["high"] for row in curve.rows)
    best = max(curve.rows, key=lambda row: row["score"])
    assert (best["epsilon"], best["people"]) == (8, 20_000)
    assert set(curve.enough(0.9)) == {1.0, 8.0}
    assert len(curve.to_frame("polars")) == 4
    assert curve.plot().to_dict()["$schema"]


def test_values_outside_are_named_by_column_and_row_and_not_shown() -> None:
    with pytest.raises(OutOfDomain, match="'age', row 1") as caught:
        train_private({"age": [1.0, 987.5]}, [True, False], {"age": (0, 100)}, [False, True], epsilon=1)
    assert "987" not in str(caught.value)
    with pytest.raises(OutOfDomain, match="'job', row 1") as caught:
        train_private({"job": ["cook", "spy"]}, [True, False], {"job": ["cook", "judge"]}, [False, True], epsilon=1)
    assert "spy" not in str(caught.value)


def test_what_cannot_be_learned_is_refused() -> None:
    for model in ("naive-bayes", "logistic"):
        with pytest.raises(InvalidParameter, match=f"{model} needs classes"):
            train_private(ROWS, X[:, 0], {"age": (0, 100)}, (0, 1), epsilon=1, model=model)
    with pytest.raises(NotSupported, match="no probabilities"):
        train_private(ROWS, RICH, RANGES, [False, True], epsilon=None, model="linear").predict_proba(ROWS)
    with pytest.raises(NotSupported, match="use pm"):
        train_private(ROWS, RICH, {"age": (0, 100)}, [False, True], epsilon=1, mechanism="duchi")
    with pytest.raises(InvalidParameter, match="no column is called 'height'; there are age, "):
        train_private(ROWS, RICH, {"height": (0, 1)}, [False, True], epsilon=1)
