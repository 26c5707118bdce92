"""The transformer for pipelines: it perturbs what it should, by the mechanism's law, and never shows a private value."""

from __future__ import annotations

import traceback

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

from deniable.core import Interval, make_mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.estimators import report_mean
from deniable.studies import Feature, Randomizer


def test_a_pipeline_can_copy_train_and_score_with_it() -> None:
    rows = np.random.default_rng(2).random((300, 3))
    labels = rows[:, 0] > 0.5
    line = clone(make_pipeline(Randomizer({0: (0, 1)}, epsilon=8), LogisticRegression()))
    assert line.fit(rows, labels).score(rows, labels) > 0.6
    assert line.set_params(randomizer__epsilon=2).get_params()["randomizer__epsilon"] == 2


def test_other_columns_pass_through_and_the_input_is_not_touched() -> None:
    rows = np.random.default_rng(3).random((50, 3))
    before = rows.copy()
    private = Randomizer({1: (0, 1)}, epsilon=1).fit_transform(rows)
    assert (rows == before).all()
    assert (private[:, [0, 2]] == before[:, [0, 2]]).all()
    assert (private[:, 1] != before[:, 1]).all()


@pytest.mark.parametrize("name", ["ogpm", "laplace"])
def test_reports_have_the_mechanisms_own_mean(name: str) -> None:
    # 200,000 reports of one value: six standard errors, so a false alarm in about 2e-9 runs.
    private = Randomizer({0: (0, 10)}, mechanism=name, epsilon=2).fit_transform(np.full((200_000, 1), 2.5))[:, 0]
    expected = report_mean(make_mechanism(name, domain=Interval(0, 10), epsilon=2), 2.5)
    assert abs(private.mean() - float(expected)) < 6 * private.std() / np.sqrt(200_000)


def test_a_total_budget_is_split() -> None:
    one = Randomizer({0: (0, 1), 1: (0, 1)}, epsilon=2, budget="total")._perturbations()
    assert {part.mechanism.fingerprint for part in one.values()} == {
        make_mechanism("ogpm", domain=Interval(0, 1), epsilon=1).fingerprint
    }


def test_columns_of_frames_have_names() -> None:
    frame = pandas.DataFrame({"age": [20.0, 30.0], "city": [1.0, 2.0]})
    private = Randomizer({"age": Feature(0, 100)}, epsilon=1).fit_transform(frame)
    assert private["city"].tolist() == [1.0, 2.0]
    with pytest.raises(InvalidParameter, match="no column is called 'wage'; there are age, city"):
        Randomizer({"wage": (0, 1)}).fit_transform(frame)


@pytest.mark.parametrize("name", ["ogpm", "k-rr"])
def test_a_value_outside_its_range_is_refused_and_not_shown(name: str) -> None:
    with pytest.raises(OutOfDomain, match=r"row 1 .counting from 0., column 0") as caught:
        Randomizer({0: (0, 1)}, mechanism=name).fit_transform([[0.5], [7.375]])
    assert "7.375" not in str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [
        [["ward 12"]],
        np.array([["ward 12"]], dtype=object),
        pandas.DataFrame({"a": ["ward 12"]}),
        polars.DataFrame({"a": ["ward 12", None]}),
        pyarrow.table({"a": ["ward 12"]}),
    ],
)
def test_what_is_not_a_number_is_refused_and_not_shown(rows: object) -> None:
    with pytest.raises(OutOfDomain, match="not a number") as caught:
        Randomizer({0: (0, 1)}, epsilon=1).fit_transform(rows)
    told = "".join(traceback.format_exception(caught.value, chain=True)[-1:])
    assert "ward" not in told
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_bad_parameters_say_what_to_do() -> None:
    with pytest.raises(InvalidParameter, match="at least one sensitive column"):
        Randomizer({}).fit([[1.0]])
    with pytest.raises(InvalidParameter, match="columns run from 0 to 0"):
        Randomizer({4: (0, 1)}).fit_transform([[0.5]])
    with pytest.raises(ValueError, match="Valid parameters"):
        Randomizer({0: (0, 1)}).set_params(noise=1)
    with pytest.raises(InvalidParameter, match="at least two values"):
        Randomizer({0: ["a"]}).fit_transform([["a"]])
    with pytest.raises(InvalidParameter, match="use k-rr"):
        Randomizer({0: ["a", "b"]}, categorical="oue").fit_transform([["a"]])


def test_its_repr_rebuilds_it() -> None:
    made = Randomizer({0: (0, 1)}, mechanism="k-rr", epsilon=2, budget="total")
    assert eval(repr(made)).get_params() == made.get_params()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_it_passes_the_checks_of_scikit_learn() -> None:
    fresh = "every call draws fresh reports: a copy, or a second call, must not repeat them"
    expected = {"check_estimators_pickle": fresh, "check_fit_idempotent": fresh}
    outcomes = check_estimator(
        Randomizer({0: (-1000, 1000)}, epsilon=1), expected_failed_checks=expected, on_skip=None, on_fail=None
    )
    assert [(one["check_name"], str(one["exception"])) for one in outcomes if one["status"] == "failed"] == []
    assert sum(one["status"] == "passed" for one in outcomes) >= 30


JOBS = ["cook", "judge", "pilot"]
FRAMES = [pandas.DataFrame, polars.DataFrame, pyarrow.table]


@pytest.mark.parametrize("make", FRAMES)
def test_a_frame_stays_a_frame_with_its_names_and_its_other_columns(make: type) -> None:
    frame = make({"age": [20.0, 30.0, 40.0], "job": ["cook", "pilot", "cook"], "note": ["a", "b", "c"]})
    private = Randomizer({"age": (0, 100), "job": JOBS}, epsilon=1).fit_transform(frame)
    assert type(private) is type(frame)
    columns = {name: private[name].to_pylist() if make is pyarrow.table else list(private[name]) for name in ("age", "job", "note")}
    assert columns["note"] == ["a", "b", "c"]
    assert set(columns["job"]) <= set(JOBS)
    assert all(isinstance(age, float) for age in columns["age"])


def test_categories_are_reported_by_the_law_of_k_rr() -> None:
    # 60,000 reports of one value: six standard errors, so a false alarm in about 2e-9 runs.
    frame = pandas.DataFrame({"job": ["judge"] * 60_000})
    private = Randomizer({"job": JOBS}, epsilon=1).fit_transform(frame)["job"]
    truth = np.e / (np.e + 2)
    assert abs((private == "judge").mean() - truth) < 6 * np.sqrt(truth * (1 - truth) / 60_000)


def test_a_pipeline_with_text_columns_trains_and_predicts() -> None:
    people = 400
    drawn = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {"job": drawn.choice(JOBS, people), "age": drawn.uniform(0, 100, people), "town": drawn.choice(["x", "y"], people)}
    )
    answers = (frame["job"] == "pilot") | (frame["age"] > 70)
    encoded = make_column_transformer((OneHotEncoder(), ["job", "town"]), remainder="passthrough")
    line = make_pipeline(Randomizer({"job": JOBS, "age": (0, 100)}, epsilon=8), encoded, LogisticRegression(max_iter=2000))
    assert line.fit(frame, answers).score(frame, answers) > 0.7


def test_the_output_can_be_set_and_has_names() -> None:
    made = Randomizer({0: (0, 1)}, epsilon=1).set_output(transform="pandas")
    frame = made.fit_transform(pandas.DataFrame({"a": [0.5], "b": [0.1]}))
    assert list(frame.columns) == list(made.get_feature_names_out()) == ["a", "b"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([1.0, float("nan"), float("nan")], r"row 1 and 1 more .*column 'age'.*NaN.*SimpleImputer"),
        ([1.0, float("inf"), 2.0], "row 1 .*inf"),
    ],
)
def test_a_missing_number_is_named_by_row_and_column(column: list[float], said: str) -> None:
    with pytest.raises(OutOfDomain, match=said):
        Randomizer({"age": (0, 100)}).fit_transform(pandas.DataFrame({"age": column}))


def test_a_missing_or_unknown_category_is_named_by_row_and_column_and_not_shown() -> None:
    with pytest.raises(OutOfDomain, match=r"row 0 .*column 'job'.*missing"):
        Randomizer({"job": JOBS}).fit_transform(pandas.DataFrame({"job": [None, "cook"]}))
    with pytest.raises(OutOfDomain, match=r"row 1 .*column 'job'") as caught:
        Randomizer({"job": JOBS}).fit_transform(pandas.DataFrame({"job": ["cook", "chef"]}))
    assert "chef" not in str(caught.value)


def test_a_total_budget_is_split_over_numbers_and_categories() -> None:
    parts = Randomizer({0: (0, 1), 1: ["a", "b"]}, epsilon=2, budget="total")._perturbations()
    assert [float(part.mechanism.privacy) for part in parts.values()] == [1.0, 1.0]


def test_a_frame_that_lacks_a_column_is_told_which() -> None:
    rows = pandas.DataFrame({"age": [20.0, 30.0], "job": ["cook", "pilot"]})
    fitted = Randomizer({"job": JOBS}, epsilon=1).fit(rows)
    with pytest.raises(InvalidParameter, match="the frame has 1 column, and fit saw 2; missing: age"):
        fitted.transform(rows[["job"]])
