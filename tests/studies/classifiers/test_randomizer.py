"""The transformer for pipelines: it perturbs what it should, by the mechanism's law, and never shows a private value."""

from __future__ import annotations

import traceback

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

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
    assert private[:, 1].tolist() == [1.0, 2.0]
    with pytest.raises(InvalidParameter, match="no column is called 'wage'"):
        Randomizer({"wage": (0, 1)}).fit_transform(frame)


@pytest.mark.parametrize("name", ["ogpm", "k-rr"])
def test_a_value_outside_its_range_is_refused_and_not_shown(name: str) -> None:
    with pytest.raises(OutOfDomain, match="column 0") as caught:
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
def test_what_is_no_number_is_refused_and_not_shown(rows: object) -> None:
    with pytest.raises(OutOfDomain, match="no number") as caught:
        Randomizer({0: (0, 1)}, epsilon=1).fit_transform(rows)
    told = "".join(traceback.format_exception(caught.value, chain=True)[-1:])
    assert "ward" not in told
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_bad_parameters_say_what_to_do() -> None:
    with pytest.raises(InvalidParameter, match="at least one sensitive column"):
        Randomizer({}).fit([[1.0]])
    with pytest.raises(InvalidParameter, match="columns run from 0 to 0"):
        Randomizer({4: (0, 1)}).fit_transform([[0.5]])
    with pytest.raises(InvalidParameter, match="there are ranges"):
        Randomizer({0: (0, 1)}).set_params(noise=1)


def test_its_repr_rebuilds_it() -> None:
    made = Randomizer({0: (0, 1)}, mechanism="k-rr", epsilon=2, budget="total")
    assert eval(repr(made)).get_params() == made.get_params()
