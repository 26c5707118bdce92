"""Every result prints in a line, is a table in a notebook, becomes a frame and a chart."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from deniable.core import Categories, Certificate, Interval, KaryRandomizedResponse, Window
from deniable.estimators import Direction, Estimate, distribution, shape, shares
from deniable.planning import Answer, Question, ShuffledPlan, WorkloadDesign, design_workload, plan, plan_shuffled
from deniable.privacy import Audit
from deniable.studies import UtilityReport, UtilityRow

KRR = KaryRandomizedResponse(domain=Categories(["never", "some<b>times", "often"]), epsilon=1)


def estimate() -> Estimate:
    return shares(KRR.randomize_many(["never"] * 300 + ["often"] * 100))


@cache
def bins() -> Estimate:
    return distribution(Window(domain=Interval(0, 100), epsilon=2).randomize_many([30.0] * 500), bins=4)


def certificate() -> Certificate:
    return KRR.certificate()


def planned() -> Any:
    return plan(Question(task="frequency", domain=Categories(20), users=10_000, epsilon=1))


def design() -> Answer:
    return Answer(
        Window(epsilon=2), 0.25, 0.2, {"name": "ogpm", "worst_case": 0.27}, 0.1, "closed form", "worst-case absolute error"
    )


def audit() -> Audit:
    return Audit(1.0, 0.0, 0.9999, 20_000, violated=False, epsilon_lower=0.9, event="the report is 3", hits=(9, 3), trials=(20, 20))


def utility_report() -> UtilityReport:
    row = UtilityRow("ogpm", 1.0, 1.0, 0.0, 0.7, 0.7, "exact", 0.7, 0.7, "exact", 0, proved=True)
    rows = (row, replace(row, epsilon=2.0, value=0.8))
    return UtilityReport(rows, 1, ("age",), 0.95, False, "within 20 of the prediction without noise")


def direction() -> Direction:
    return Direction(6.5, 0.2, 0.9, 0.04, 24.0, 600, "these users")


@cache
def workload_design() -> WorkloadDesign:
    return design_workload("prefix", 1, size=4)


@cache
def shuffled_plan() -> ShuffledPlan:
    return plan_shuffled(Question(task="frequency", domain=Categories(4), users=100_000, epsilon=0.5))


RESULTS = [
    estimate,
    pytest.param(bins, marks=pytest.mark.slow),
    certificate,
    planned,
    design,
    audit,
    utility_report,
    direction,
    pytest.param(workload_design, marks=pytest.mark.slow),
    pytest.param(shuffled_plan, marks=pytest.mark.slow),
]
NAMES = ["estimate", "bins", "certificate", "planned", "design", "audit", "utility report"]
NAMES += ["direction", "workload design", "shuffled plan"]
named = pytest.mark.parametrize("make", RESULTS, ids=NAMES)


def test_a_fit_prints_in_a_line_without_its_counts() -> None:
    fitted = shape(Window(domain=Interval(0, 100), epsilon=2).randomize_many([30.0] * 50))
    assert repr(fitted) == "<Shape n=50; penalized fit of window on Interval(0, 100); these users>"


def test_captions_have_no_angle_brackets_and_candidates_print_in_a_line() -> None:
    assert "&lt;" not in design()._repr_html_()
    assert repr(planned().pick) == "<Candidate subset: error 0.01812 with 10,000 users>"


def test_a_chart_of_predictions_speaks_of_predictions() -> None:
    drawn = json.dumps(utility_report().plot().to_dict())
    assert "predicts nearly the same" in drawn
    assert "probability of a prediction within 20 of the prediction without noise" in drawn
    assert "label" not in drawn.partition('"config"')[0].replace("labels", "")


@named
def test_a_result_prints_in_a_line(make: Any) -> None:
    text = repr(make())
    assert len(text) < 420
    assert "\n" not in text
    assert "array(" not in text


@named
def test_a_notebook_shows_a_table_with_everything_escaped(make: Any) -> None:
    page = make()._repr_html_()
    assert page.count("<tr>") >= 3
    assert "<b>" not in page
    assert page.startswith("<table><caption>")


@named
def test_a_result_is_json(make: Any) -> None:
    assert json.loads(json.dumps(make().to_dict(), allow_nan=True, default=str))


@named
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_result_becomes_a_frame_of_each_kind(make: Any, backend: str) -> None:
    pytest.importorskip(backend)
    result = make()
    frame = result.to_frame(backend)
    assert type(frame).__module__.partition(".")[0] == backend
    assert len(frame) == len(result._rows())


def test_a_frame_of_an_estimate_holds_what_the_interval_says() -> None:
    pytest.importorskip("polars")
    result = estimate()
    low, high = result.interval()
    frame = result.to_frame("polars")
    assert frame.columns == ["label", "value", "low", "high", "standard_error"]
    assert frame["label"].to_list() == ["never", "some<b>times", "often"]
    assert frame["low"].to_list() == low.tolist()
    assert frame["high"].to_list() == high.tolist()


@pytest.mark.slow
@named
def test_a_result_draws_itself(make: Any) -> None:
    pytest.importorskip("altair")
    assert make().plot().to_dict()["$schema"]


def test_many_rows_are_cut_in_a_notebook_only() -> None:
    wide = shares(KaryRandomizedResponse(domain=Categories(100), epsilon=1).randomize_many(list(range(100))))
    page = wide._repr_html_()
    assert "and 70 more rows" in page
    assert page.count("<tr>") == 31
    assert "… 100 values" in repr(wide)


@pytest.mark.slow
def test_printing_starts_no_computation() -> None:
    source = Window(domain=Interval(0, 100), epsilon=2).randomize_many([30.0] * 500)
    fine = distribution(source, bins=100)
    assert "variance" not in fine.__dict__
    repr(fine)
    page = fine._repr_html_()
    assert "variance" not in fine.__dict__
    assert "<th>value</th>" in page
    assert "<th>low</th>" not in page
