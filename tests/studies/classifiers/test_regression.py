"""Predictions of numbers: kept when they move by at most the tolerance."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from deniable.cli.app import main
from deniable.core import Interval, make_mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import interval_probability
from deniable.privacy import FixedKeystream
from deniable.studies import Feature, as_model, exact_region, quantify, statement, study, utility
from deniable.studies.classifiers import exact_cells

from .every_output import brute, law_of

ROWS = np.random.default_rng(4).random((200, 2))
LINE = LinearRegression().fit(ROWS, 3 * ROWS[:, 0] + ROWS[:, 1])


MANY = np.random.default_rng(5).random((300, 4)) * [1, 10, 100, 1]
TARGET = 3 * MANY[:, 0] + 0.4 * MANY[:, 1] - 0.02 * MANY[:, 2] + np.sin(9 * MANY[:, 0])
FEATURES = {0: Feature(0, 1, 23), 1: Feature(0, 10, 17), 2: Feature(0, 100, 7)}
laws = partial(law_of, FEATURES)
REGRESSORS = [
    LinearRegression(),
    make_pipeline(StandardScaler(), Ridge()),
    make_pipeline(MinMaxScaler(clip=True), Lasso(0.01)),
    DecisionTreeRegressor(max_depth=6, random_state=0),
    make_pipeline(StandardScaler(), RandomForestRegressor(12, random_state=0)),
    ExtraTreesRegressor(8, max_depth=5, random_state=0),
    GradientBoostingRegressor(n_estimators=20, random_state=0),
    HistGradientBoostingRegressor(max_iter=10, random_state=0),
]


def near(model: Any, record: Any, sensitive: list[int], tolerance: float, law: Any) -> Any:
    return utility(
        exact_region(model, record, sensitive, laws=[law], same_as=float(model.predict(record[None])[0]), tolerance=tolerance), law
    )


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: str(model)[:50])
@pytest.mark.parametrize("sensitive", [[1], [0, 1], [2, 0]], ids=str)
def test_the_chance_of_a_prediction_nearby_is_the_sum_over_all_outputs(model: Any, sensitive: list[int]) -> None:
    model.fit(MANY, TARGET)
    for record, tolerance in zip(MANY[:2], (0.3, 1.1), strict=True):
        law = laws(record, sensitive)
        found = near(model, record, sensitive, tolerance, law)
        assert found.kind == "exact"
        assert found.value == pytest.approx(brute(model, record, sensitive, law, tolerance), abs=1e-10)
        assert 0 < found.value < 1


@pytest.mark.slow
def test_a_band_of_three_features_has_certified_ends_close_together() -> None:
    model = LinearRegression().fit(MANY, TARGET)
    law = laws(MANY[0], [0, 1, 2])
    found = near(model, MANY[0], [0, 1, 2], 0.8, law)
    assert found.lower <= brute(model, MANY[0], [0, 1, 2], law, 0.8) <= found.upper
    assert found.upper - found.lower < 1e-3


def test_trees_with_too_many_cells_are_bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_cells, "MOST_CELLS", 10)
    for model in (REGRESSORS[3], REGRESSORS[6], RandomForestRegressor(5, max_depth=4, random_state=0)):
        model.fit(MANY, TARGET)
        for record in MANY[:3]:
            law = laws(record, [0, 1])
            found = near(model, record, [0, 1], 0.5, law)
            assert found.lower - 1e-9 <= brute(model, record, [0, 1], law, 0.5) <= found.upper + 1e-9
            assert found.upper - found.lower < 0.01


def test_a_model_that_ignores_the_sensitive_features_is_right_always_or_never() -> None:
    blind = LinearRegression().fit(MANY[:, [3]], TARGET)
    blind.coef_, blind.n_features_in_ = np.array([0.0, 0.0, 0.0, float(blind.coef_[0])]), 4
    said = float(blind.predict(MANY[:1])[0])
    for truth, rho in ((said, 1.0), (said + 5, 0.0)):
        question = study(blind, MANY[:1], {0: Feature(0, 1)}, truth=[truth], tolerance=1)
        assert quantify(question, ["k-rr"], [1]).rows[0].value == rho
    labels = LogisticRegression().fit(MANY, TARGET > 2)
    labels.coef_ = np.array([[0.0, 0.0, 0.0, 1.0]])
    answer = bool(labels.predict(MANY[:1])[0])
    for label, rho in ((answer, 1.0), (not answer, 0.0)):
        question = study(labels, MANY[:1], {0: Feature(0, 1)}, truth=[label])
        assert quantify(question, ["k-rr"], [1]).rows[0].value == rho


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (KNeighborsRegressor(), "predictions of KNeighborsRegressor are sampled"),
        (PoissonRegressor(), "predictions of PoissonRegressor are sampled"),
        (HistGradientBoostingRegressor(loss="poisson", max_iter=3), "a loss of poisson"),
    ],
)
def test_what_cannot_be_read_is_sampled_and_says_so(model: Any, why: str) -> None:
    question = study(model.fit(MANY, TARGET - TARGET.min()), MANY[:1], {0: FEATURES[0]}, tolerance=1)
    report = quantify(question, ["k-rr"], [2], evaluations=2_000, keystream=FixedKeystream(1))
    assert any(note.startswith(f"sampled: {why}") for note in report.notes)


@pytest.mark.parametrize("name", ["ogpm", "laplace"])
def test_a_line_keeps_its_prediction_as_often_as_its_report_stays_near(name: str) -> None:
    question = study(LINE, [[0.4, 0.5]], {0: Feature(0, 1)}, tolerance=0.6)
    row = quantify(question, [name], [4], evaluations=40_000, keystream=FixedKeystream(1)).rows[0]
    truth = interval_probability(make_mechanism(name, domain=Interval(0, 1), epsilon=4), 0.4, 0.2, 0.6)
    assert row.kind == "exact"
    assert row.value == pytest.approx(truth, abs=1e-4)  # the mechanism's own lattice decides at the ends


def test_a_wider_tolerance_keeps_more_and_a_huge_one_everything() -> None:
    values = []
    for tolerance in (0.1, 0.5, 1000):
        question = study(LINE, [[0.4, 0.5]], {0: Feature(0, 1)}, tolerance=tolerance)
        values.append(quantify(question, ["ogpm"], [2], evaluations=20_000, keystream=FixedKeystream(1)).rows[0].value)
    assert values[0] < values[1] < values[2] == 1


def test_the_truth_may_be_what_predictions_are_compared_with() -> None:
    question = study(LINE, ROWS[:2], {0: Feature(0, 1)}, truth=[100.0, 100.0], tolerance=0.5)
    report = quantify(question, ["ogpm"], [2], evaluations=4_000, keystream=FixedKeystream(1))
    assert report.rows[0].value == 0
    assert "within 0.5 of the truth" in statement(report.rows[0], report)


def test_other_regressors_are_taken_too() -> None:
    tree = DecisionTreeRegressor(max_depth=3).fit(ROWS, ROWS[:, 0])
    question = study(tree, ROWS[:1], {0: Feature(0, 1)}, tolerance=0.2)
    report = quantify(question, ["k-rr"], [8], evaluations=4_000, keystream=FixedKeystream(1))
    assert "within 0.2 of the prediction without noise" in statement(report.rows[0], report)


def test_a_subclass_that_predicts_otherwise_is_sampled() -> None:
    class Squared(LinearRegression):  # type: ignore[misc]
        def predict(self, rows: Any) -> Any:
            return super().predict(rows) ** 2

    question = study(Squared().fit(MANY, TARGET), MANY[:1], {0: FEATURES[0]}, tolerance=1)
    assert any("sampled" in note for note in quantify(question, ["k-rr"], [2], evaluations=2_000).notes)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(NotSupported, match="tolerance"):
        study(LINE, ROWS[:1], {0: Feature(0, 1)})
    with pytest.raises(InvalidParameter, match="positive"):
        as_model(LINE, tolerance=0)
    with pytest.raises(InvalidParameter, match="one finite number"):
        study(lambda rows: np.full(len(rows), np.nan), ROWS[:1], {0: Feature(0, 1)}, tolerance=1)


@pytest.mark.slow
def test_the_command_takes_a_tolerance(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    skops.dump(LINE, tmp_path / "line.skops")
    np.savetxt(tmp_path / "rows.csv", ROWS[:2], delimiter=",", header="a,b", comments="", fmt="%.3f")
    asked = ["quantify", str(tmp_path / "line.skops"), str(tmp_path / "rows.csv"), "--sensitive", "a=0:1", "-m", "ogpm", "-e", "4"]
    refused = CliRunner().invoke(main, asked)
    assert refused.exit_code == 2
    assert "--tolerance" in refused.output
    done = CliRunner().invoke(main, [*asked, "--tolerance", "0.5", "--samples", "4000", "--empirical", "0"])
    assert done.exit_code == 0, done.output
    assert "within 0.5 of the prediction without noise" in " ".join(done.output.split())
