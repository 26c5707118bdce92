"""The questions ρ is for: which mechanism, which epsilon, which feature, and what may be said about it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from deniable.errors import InvalidParameter
from deniable.privacy import FixedKeystream
from deniable.studies import (
    Feature,
    Study,
    UtilityReport,
    UtilityRow,
    best_mechanism,
    best_statement,
    exact_utility,
    feature_costs,
    perturbations,
    quantify,
    smallest_epsilon,
    statement,
    study,
    target_statement,
    worst_statement,
)
from deniable.studies.classifiers.statements import floored

TABLE = np.random.default_rng(3).random((300, 4))
LABELS = (TABLE[:, 0] + 0.5 * TABLE[:, 1] ** 2 + 0.2 * TABLE[:, 2] > 0.8).astype(int)
NAMES = ["Age", "BMI", "Glucose", "Flag"]
SENSITIVE = {"Age": Feature(0, 1), "BMI": Feature(0, 1)}
LINEAR = LogisticRegression().fit(TABLE, LABELS)
FOREST = RandomForestClassifier(30, random_state=0).fit(TABLE, LABELS)
SMOOTH = SVC().fit(TABLE, LABELS)


def asked(model: Any, records: int = 1, **more: Any) -> Study:
    return study(model, TABLE[:records], SENSITIVE, names=NAMES, **more)


@pytest.mark.parametrize("model", [LINEAR, FOREST])
def test_exact_models_need_no_answers_and_samples_agree(model: Any) -> None:
    question = asked(model, 2)
    exact = quantify(question, ["ogpm", "k-rr", "laplace"], [1, 4, 8])
    sampled = quantify(
        question, ["ogpm", "k-rr", "laplace"], [1, 4, 8], sample=True, confidence=1 - 1e-8, keystream=FixedKeystream("agree")
    )
    assert {row.kind for row in exact.rows} == {"exact"}
    assert all(row.evaluations == 0 and row.proved for row in exact.rows)
    for one, other in zip(exact.rows, sampled.rows, strict=True):
        # Moving reports to places may shift ρ by as much as a place holds.
        assert other.low - 1e-3 <= one.value <= other.high + 1e-3
        assert one.worst is not None
        assert other.worst_low is not None
        assert other.worst_high is not None
        assert other.worst_low - 1e-3 <= one.worst <= other.worst_high + 1e-3


def test_the_exact_column_is_the_exact_side() -> None:
    row = quantify(asked(FOREST), ["sw"], [2]).rows[0]
    alone = exact_utility(FOREST, TABLE[0], [0, 1], perturbations("sw", [Feature(0, 1)] * 2, 2))
    assert row.value == pytest.approx(alone.value, abs=1e-12)


def test_plain_reports_stand_beside_the_theory() -> None:
    report = quantify(
        asked(LINEAR), ["ogpm", "k-rr"], [2], empirical=20_000, confidence=1 - 1e-8, keystream=FixedKeystream("plain")
    )
    for row in report.rows:
        assert row.empirical_low is not None
        assert row.empirical_high is not None
        assert row.empirical_low <= row.value <= row.empirical_high
        assert row.empirical_high - row.empirical_low < 0.05


def test_rho_is_about_the_models_own_answer_or_about_the_truth() -> None:
    own = quantify(asked(LINEAR), ["ogpm"], [4]).rows[0]
    wrong = [1 - int(LINEAR.predict(TABLE[:1])[0])]
    other = quantify(asked(LINEAR, truth=wrong), ["ogpm"], [4])
    assert other.rows[0].value == pytest.approx(1 - own.value, abs=1e-6)
    assert "gives the true label" in statement(other.rows[0], other)
    with pytest.raises(InvalidParameter, match="one label per record"):
        asked(LINEAR, truth=[0, 1])


def test_a_total_budget_is_shared_by_the_features() -> None:
    whole = quantify(asked(LINEAR), ["ogpm"], [4], budget="total")
    half = quantify(asked(LINEAR), ["ogpm"], [2], budget="each")
    assert whole.rows[0].value == half.rows[0].value
    assert (whole.rows[0].epsilon_total, half.rows[0].epsilon_total) == (4, 4)
    assert any("per sensitive feature" in note for note in half.notes)
    assert not any("per sensitive feature" in note for note in whole.notes)


def test_the_privacy_indicator_lifts_rho_and_says_what_it_costs() -> None:
    plain, lifted = (quantify(asked(LINEAR), ["ogpm"], [2], indicator=delta) for delta in (0.0, 0.1))
    assert lifted.rows[0].value == pytest.approx(0.1 + 0.9 * plain.rows[0].value)
    assert lifted.rows[0].lower == pytest.approx(0.1 + 0.9 * plain.rows[0].lower)
    assert lifted.rows[0].delta == pytest.approx(0.1)
    assert any("RAW record" in note for note in lifted.notes)
    gauss = quantify(asked(LINEAR), ["gaussian"], [2], parameters={"gaussian": {"delta": "0.05"}})
    assert gauss.rows[0].delta == pytest.approx(0.1)
    assert any("not pure" in note for note in gauss.notes)


def test_the_best_mechanism_is_certain_only_when_it_is() -> None:
    exact = best_mechanism(quantify(asked(LINEAR), ["laplace", "ogpm"], [4]), 4)
    assert (exact.row.mechanism, exact.certain) == ("ogpm", True)
    assert "ogpm is the best" in best_statement(exact)
    one_by_one = quantify(asked(SMOOTH), ["laplace", "ogpm"], [4], keystream=FixedKeystream(1))
    together = quantify(asked(SMOOTH), ["laplace", "ogpm"], [4], simultaneous=True, keystream=FixedKeystream(1))
    assert not best_mechanism(one_by_one, 4).certain
    assert best_mechanism(together, 4).certain
    assert together.rows[0].low < one_by_one.rows[0].low
    few = best_mechanism(quantify(asked(SMOOTH), ["sw", "ogpm"], [1], evaluations=50, simultaneous=True), 1)
    assert not few.certain
    assert "Indistinguishable from it" in best_statement(few)
    with pytest.raises(InvalidParameter):
        best_mechanism(together, 3)


def test_the_smallest_epsilon_reaches_its_target_and_one_step_below_does_not() -> None:
    smallest = smallest_epsilon(asked(LINEAR), "ogpm", 0.9, steps=8)
    assert smallest.row is not None
    assert smallest.below is not None
    assert smallest.row.lower >= 0.9 > smallest.below.lower
    assert smallest.row.epsilon - smallest.below.epsilon <= smallest.step * (1 + 1e-9)
    sampled = smallest_epsilon(asked(SMOOTH), "ogpm", 0.8, low=1, high=8, steps=6, keystream=FixedKeystream("target"))
    assert sampled.row is not None
    assert sampled.row.lower >= 0.8
    assert "95 % confidence" in target_statement(sampled, "ogpm", 0.8)
    never = smallest_epsilon(asked(LINEAR), "laplace", 0.999, high=2)
    assert never.epsilon is None
    assert "no epsilon of the range" in target_statement(never, "laplace", 0.999)
    with pytest.raises(InvalidParameter):
        smallest_epsilon(asked(LINEAR), "ogpm", 1.5)


def test_the_one_dimensional_example_has_the_published_numbers() -> None:
    question = study(lambda rows: (rows[:, 0] >= 0.2) & (rows[:, 0] <= 0.8), [[0.5]], {0: Feature(0, 1)})
    report = quantify(question, ["laplace", "ogpm", "k-rr"], [2], evaluations=100_000)
    for row, golden, off in zip(report.rows, (0.451188, 0.852848, 0.624021), (5e-4, 5e-5, 1e-6), strict=True):
        assert row.value == pytest.approx(golden, abs=off)
    # The text says 5.2; its own formula says otherwise.
    assert -math.log(0.2) / 0.3 == pytest.approx(5.365, abs=1e-3)
    smallest = smallest_epsilon(question, "laplace", 0.8, low=4, high=7, steps=30, rounds=1, evaluations=100_000)
    assert smallest.epsilon == pytest.approx(5.4, abs=0.05)


def test_the_most_expensive_feature_comes_first() -> None:
    costs = feature_costs(asked(LINEAR), "ogpm", 2)
    assert [cost.feature for cost in costs] == sorted(
        (cost.feature for cost in costs), key=lambda name: -next(c.cost for c in costs if c.feature == name)
    )
    steep = study(lambda rows: rows[:, 0] > 0.5, [[0.6, 0.5]], {0: Feature(0, 1), 1: Feature(0, 1)})
    first, second = feature_costs(steep, "k-rr", 2)
    assert (first.feature, second.feature) == ("feature 0", "feature 1")
    assert second.cost == pytest.approx(0, abs=1e-12)
    assert first.without is not None
    assert first.without.value == pytest.approx(1, abs=1e-12)


def test_forty_nine_sensitive_features_get_intervals() -> None:
    record = np.full((1, 49), 0.5)
    question = study(lambda rows: rows.mean(axis=1) > 0.4, record, {i: Feature(0, 1) for i in range(49)})
    report = quantify(question, ["ogpm"], [2, 4], evaluations=3_000, keystream=FixedKeystream("many"))
    assert all(row.method == "drawn" and 0 < row.high - row.low < 0.1 for row in report.rows)
    assert "and 46 more features" in statement(report.rows[0], report)


def test_a_network_gets_a_proved_bound_below_its_rho() -> None:
    torch = pytest.importorskip("torch", reason="torch is an extra")
    one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    one.weight.data, one.bias.data = torch.tensor([[-1.86, -2.09], [0.12, -0.46]]), torch.tensor([3.71, -0.08])
    two.weight.data, two.bias.data = torch.tensor([[-3.05, 0.40], [4.02, -0.22]]), torch.tensor([0.94, -0.58])
    module = torch.nn.Sequential(one, torch.nn.ReLU(), two).eval()
    question = study(module, [[0.5, 0.5]], {0: Feature(), 1: Feature()})
    report = quantify(question, ["ogpm"], [2, 8], evaluations=300, keystream=FixedKeystream(2))
    for row in report.rows:
        assert row.proved_lower is not None
        assert 0.5 < row.proved_lower <= row.high
        assert row.lower == max(row.low, row.proved_lower)
    # Few answers leave a wide interval; the proof is better than its lower end, and needs no confidence.
    assert report.rows[1].proved
    assert statement(report.rows[1], report).startswith("At this record, with probability at least 0.99")


def row(**changes: Any) -> UtilityRow:
    usual: dict[str, Any] = {
        "mechanism": "ogpm",
        "epsilon": 3.0,
        "epsilon_total": 6.0,
        "delta": 0.0,
        "lower": 0.87999,
        "value": 0.9,
    }
    usual |= {"kind": "exact", "low": 0.87999, "high": 0.95, "method": "exact", "evaluations": 0, "proved": True}
    return UtilityRow(**(usual | changes))


def test_sentences_say_what_is_promised_and_never_round_up() -> None:
    report = UtilityReport((row(),), 1, ("Age", "BMI"), 0.95, False, "answer")
    said = statement(report.rows[0], report)
    assert said.startswith("At this record, with probability at least 0.8799 the model keeps the answer")
    assert "Age and BMI are reported by ogpm with epsilon = 3 each, 6 in all." in said
    sampled = UtilityReport((row(kind="estimate", proved=False, worst=0.5, worst_low=0.45999),), 7, ("Age",), 0.95, False, "answer")
    said = statement(sampled.rows[0], sampled)
    assert said.startswith("With 95 % confidence, on average over these 7 records")
    assert "at least 0.4599 (95 % confidence for all of them together)" in worst_statement(sampled.rows[0], sampled)
    assert worst_statement(report.rows[0], report) == ""
    assert floored(0.99999) == "0.9999"


def test_rows_become_json_with_the_names_of_the_command() -> None:
    written = row(empirical=0.91, empirical_low=0.9, empirical_high=0.92).to_dict()
    assert written["exact"] == 0.9
    assert written["interval"] == [0.87999, 0.95]
    assert written["empirical_interval"] == [0.9, 0.92]
    assert "estimate" in row(kind="estimate").to_dict()


@pytest.mark.parametrize("confidence", [0.2, 1.0, -1])
def test_confidence_must_be_a_probability(confidence: float) -> None:
    with pytest.raises(InvalidParameter, match="confidence"):
        quantify(asked(LINEAR), ["ogpm"], [1], confidence=confidence)
