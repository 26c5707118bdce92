"""Any model is taken in, what it gives back is checked, and nothing of anybody's data leaks into an error."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import skops.io as skops
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from deniable.errors import InvalidParameter, Malformed, NotSupported, OutOfDomain
from deniable.studies import Feature, as_model, load_model, quantify, study
from deniable.studies.classifiers.model import AT_RANDOM, ONE_CLASS, PROBABILITIES

ROWS = np.array([[0.1, 0.9], [0.8, 0.2], [0.6, 0.6]])
NAMES = ["Age", "BMI"]


def frame(count: int = 60) -> Any:
    table = np.random.default_rng(0).random((count, 2))
    return pandas.DataFrame(table, columns=NAMES), (table.sum(axis=1) > 1).astype(int)


def test_labels_of_a_callable_pass_through() -> None:
    assert as_model(lambda rows: rows[:, 0] > 0.5).labels(ROWS).tolist() == [False, True, True]
    assert as_model(lambda rows: ["a", "b", "b"]).labels(ROWS).tolist() == ["a", "b", "b"]
    assert as_model(lambda rows: rows[:, :1].round()).labels(ROWS).tolist() == [0, 1, 1]


def test_numbers_per_class_become_the_largest_and_that_is_said() -> None:
    model = as_model(lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]))
    assert model.labels(ROWS).tolist() == [0, 1, 1]
    assert model.notes == [PROBABILITIES]


def test_one_number_per_row_needs_a_threshold() -> None:
    with pytest.raises(InvalidParameter, match=r"threshold=0\.5"):
        as_model(lambda rows: rows[:, 0]).labels(ROWS)
    assert as_model(lambda rows: rows[:, 0], threshold=0.5).labels(ROWS).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda rows: [np.nan] * len(rows), "nan"),
        (lambda rows: [1, 2], "one answer per row"),
        (lambda rows: np.zeros((len(rows), 2, 2)), "one answer per row"),
        (lambda rows: [["a", "b"]] * len(rows), "number per class"),
    ],
)
def test_what_is_no_answer_is_refused(model: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        as_model(model).labels(ROWS)


def test_a_failing_model_is_reported_without_its_message() -> None:
    def broken(rows: Any) -> Any:
        raise RuntimeError(f"cannot handle {rows[0, 0]}")

    with pytest.raises(InvalidParameter, match="RuntimeError") as caught:
        as_model(broken).labels(ROWS)
    assert "0.1" not in str(caught.value)
    assert caught.value.__context__ is None


def test_other_names_and_another_order_are_refused() -> None:
    table, labels = frame()
    model = as_model(LogisticRegression().fit(table, labels))
    assert model.feature_names == ("Age", "BMI")
    with pytest.raises(InvalidParameter, match="Weight, which the model does not know"):
        model.check_names(["Age", "Weight"])
    with pytest.raises(InvalidParameter, match="another order"):
        model.check_names(["BMI", "Age"])
    with pytest.raises(InvalidParameter, match="takes 2 features, the rows have 3"):
        model.labels(np.zeros((1, 3)))
    with pytest.raises(InvalidParameter, match="other names"):
        study(model, table[:1].rename(columns={"Age": "Years"}), {"BMI": Feature()})


@pytest.mark.filterwarnings("error")
def test_a_pipeline_that_picks_columns_by_name_gets_a_frame() -> None:
    table, labels = frame()
    chosen = ColumnTransformer([("scaled", StandardScaler(), ["BMI"])], remainder="passthrough")
    model = make_pipeline(chosen, LogisticRegression()).fit(table, labels)
    assert (as_model(model).labels(table.to_numpy()) == model.predict(table)).all()
    assert quantify(study(model, table[:1], {"BMI": Feature()}), ["k-rr"], [2]).rows[0].kind == "exact"
    assert (as_model(LogisticRegression().fit(table, labels)).labels(table.to_numpy()) >= 0).all()


def test_what_is_no_classifier_is_refused() -> None:
    table, labels = frame()
    with pytest.raises(NotSupported, match="numbers, not classes"):
        as_model(LinearRegression().fit(table, labels))
    with pytest.raises(InvalidParameter, match="not fitted"):
        as_model(LogisticRegression())
    with pytest.raises(NotSupported, match="is not a model"):
        as_model(3)


def test_a_model_of_one_class_is_said_to_tell_nothing() -> None:
    from sklearn.dummy import DummyClassifier

    model = DummyClassifier().fit(ROWS, [1, 1, 1])
    report = quantify(study(model, ROWS[:1], {0: Feature()}), ["k-rr"], [1])
    assert report.rows[0].value == 1
    assert ONE_CLASS in report.notes


def test_a_model_that_answers_at_random_is_noticed_and_never_counted() -> None:
    generator = np.random.default_rng(1)
    report = quantify(
        study(lambda rows: generator.random(len(rows)) < 0.5, np.repeat(ROWS, 20, axis=0)[:40], {0: Feature()}),
        ["k-rr"],
        [1],
        evaluations=400,
    )
    assert AT_RANDOM in report.notes
    assert report.rows[0].kind == "estimate"
    assert report.rows[0].low < 0.5 < report.rows[0].high


@pytest.mark.parametrize("bad", [[[0.5, 2.0]], [[0.5, -0.1]]])
def test_values_outside_their_range_are_refused_by_name_and_not_shown(bad: list[list[float]]) -> None:
    with pytest.raises(OutOfDomain, match="feature 1 of record 0") as caught:
        study(lambda rows: rows[:, 0] > 0, bad, {1: Feature(0, 1)})
    assert str(bad[0][1]) not in str(caught.value)


@pytest.mark.parametrize("records", [[["x", 1.0]], [[np.nan, 1.0]], [], np.zeros((2, 0))])
def test_records_that_are_no_numbers_are_refused(records: Any) -> None:
    with pytest.raises(InvalidParameter, match="records must"):
        study(lambda rows: rows[:, 0] > 0, records, {0: Feature()})


def test_sensitive_features_must_exist_once() -> None:
    for sensitive in ({}, {7: Feature()}, {"Age": Feature()}):
        with pytest.raises(InvalidParameter):
            study(lambda rows: rows[:, 0] > 0, ROWS, sensitive)


def test_torch_modules_answer_with_their_largest_score() -> None:
    torch = pytest.importorskip("torch", reason="torch is an extra")
    layer = torch.nn.Linear(2, 2)
    layer.weight.data, layer.bias.data = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.zeros(2)
    module = torch.nn.Sequential(torch.nn.Dropout(0.5), layer)
    with pytest.raises(InvalidParameter, match=r"module\.eval"):
        as_model(module)
    assert as_model(module.eval()).labels(ROWS).tolist() == [1, 0, 0]
    shaped = as_model(torch.nn.Sequential(torch.nn.Flatten(), layer).eval(), shape=(1, 2))
    assert shaped.labels(ROWS).tolist() == [1, 0, 0]
    with pytest.raises(InvalidParameter, match="takes 2 features"):
        shaped.labels(np.zeros((1, 3)))


def test_skops_files_are_loaded_and_pickles_only_when_trusted(tmp_path: Path) -> None:
    table, labels = frame()
    model = LogisticRegression().fit(table, labels)
    skops.dump(model, tmp_path / "model.skops")
    assert (load_model(tmp_path / "model.skops").coef_ == model.coef_).all()
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    with pytest.raises(InvalidParameter, match="runs whatever code"):
        load_model(tmp_path / "model.pkl")
    assert (load_model(tmp_path / "model.pkl", trust_code=True).coef_ == model.coef_).all()


class Strange:
    """Not a type of scikit-learn."""

    def predict(self, rows: Any) -> Any:
        return np.zeros(len(rows))


class Stranger(Strange):
    """Neither."""


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.skops").write_bytes(b"not a zip file")
    with pytest.raises(Malformed, match="not a skops file"):
        load_model(tmp_path / "broken.skops")
    skops.dump(Strange(), tmp_path / "strange.skops")
    with pytest.raises(InvalidParameter, match=r"does not vouch for.*Strange"):
        load_model(tmp_path / "strange.skops")
    with pytest.raises(NotSupported, match="not a model file"):
        load_model(tmp_path / "model.h5")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "missing.skops")
    (tmp_path / "broken.pkl").write_bytes(b"nothing")
    with pytest.raises(Malformed, match="cannot be loaded"):
        load_model(tmp_path / "broken.pkl", trust_code=True)


def test_forests_come_back_from_skops(tmp_path: Path) -> None:
    from sklearn.ensemble import RandomForestClassifier

    table, labels = frame()
    model = RandomForestClassifier(5, random_state=0).fit(table, labels)
    skops.dump(model, tmp_path / "forest.skops")
    with pytest.raises(InvalidParameter, match=r"does not vouch for: sklearn\.tree\._tree\.Tree\. .*--trust-type"):
        load_model(tmp_path / "forest.skops")
    taken = load_model(tmp_path / "forest.skops", trusted=["sklearn.tree._tree.Tree"])
    assert (taken.predict(table) == model.predict(table)).all()


def test_only_the_types_that_were_named_are_trusted(tmp_path: Path) -> None:
    skops.dump([Strange(), Stranger()], tmp_path / "both.skops")
    names = [f"{kind.__module__}.{kind.__qualname__}" for kind in (Strange, Stranger)]
    with pytest.raises(InvalidParameter, match=r"for: \S+\.Stranger\. "):
        load_model(tmp_path / "both.skops", trusted=names[:1])
    assert [type(item).__name__ for item in load_model(tmp_path / "both.skops", trusted=names)] == ["Strange", "Stranger"]


def test_everything_skops_does_not_vouch_for_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skops.dump(LogisticRegression(), tmp_path / "model.skops")
    listed = ["sklearn.anything", "sklearn.tree._tree.Tree", "numpy.anything", "builtins.anything", "deniable.anything"]
    monkeypatch.setattr(skops, "get_untrusted_types", lambda *, file: listed)
    monkeypatch.setattr(skops, "load", lambda file, trusted: pytest.fail("it was loaded"))
    for name in listed:
        with pytest.raises(InvalidParameter, match=f"for: {name}\\."):
            load_model(tmp_path / "model.skops", trusted=[other for other in listed if other != name])


@pytest.mark.parametrize("ending", [".pt", ".ts", ".pkl", ".pickle", ".joblib"])
def test_what_can_run_code_is_not_even_opened_unless_it_is_trusted(tmp_path: Path, ending: str) -> None:
    marker = tmp_path / "ran"
    file = tmp_path / f"model{ending}"
    file.write_bytes(pickle.dumps(Touches(marker)))
    with pytest.raises(InvalidParameter, match="--trust-code"):
        load_model(file, trusted=["builtins.anything"])
    assert not marker.exists()


class Touches:
    """Runs code when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return Path.touch, (self.marker,)
