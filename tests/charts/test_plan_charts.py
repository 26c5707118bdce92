"""Charts of plans: what is drawn is what was planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable.charts import plan_chart, save
from deniable.charts.plan import frontier
from deniable.core import Categories, Interval
from deniable.errors import NotSupported
from deniable.planning import Question, plan


def tables(chart: Any, field: str) -> list[list[dict[str, Any]]]:
    return [rows for rows in chart.to_dict()["datasets"].values() if field in rows[0]]


def test_the_frontier_holds_what_nothing_beats_in_both() -> None:
    planned = plan(Question(task="frequency", domain=Categories(1000), users=100_000, epsilon=1))
    points = max(tables(plan_chart(planned), "bytes"), key=len)
    best = [row for row in points if row["kind"] != "beaten"]
    assert {row["label"] for row in best} == {"hadamard", "subset"}
    assert [row["label"] for row in points if row["kind"] == "pick"] == [planned.pick.label]
    for row in points:
        beaten = any(other["bytes"] <= row["bytes"] and other["error"] < row["error"] for other in points)
        assert beaten == (row["kind"] == "beaten")


def test_curves_pass_through_the_plan_and_tell_mechanisms_apart() -> None:
    planned = plan(Question(task="mean", domain=Interval(0, 1), users=1000, epsilon=1))
    (rows,) = tables(plan_chart(planned), "mechanism")
    predicted = {one.label: one.predicted_error for one in planned.candidates}
    here = {row["mechanism"]: row["error"] for row in rows if row["epsilon"] == pytest.approx(1)}
    assert planned.pick.label in here
    assert len(here) == 5
    assert here == {name: pytest.approx(predicted[name]) for name in here}
    # duchi, which is one-bit-mean, is the best for a small epsilon and pm-sub for a large one; pm, pm-c and t-pm are one law too.
    assert len({"duchi", "one-bit-mean"} & set(here)) == 1
    assert "pm-sub" in here
    assert len({"pm", "pm-c", "t-pm"} & set(here)) == 1


def test_names_cover_no_point_of_the_frontier() -> None:
    """A name beside a flat line: below its point it would lie on the pick."""
    planned = plan(Question(task="quantile", domain=Interval(18, 90), users=10_000, epsilon=0.5))
    chart = frontier(planned).to_dict()
    names = [one for one in chart["layer"] if one["mark"]["type"] == "text" and "stroke" not in one["mark"]]
    told = {chart["datasets"][one["data"]["name"]][0]["label"]: one["mark"]["dy"] > 0 for one in names}
    assert told[planned.pick.label]
    assert [where for label, where in told.items() if label == "staircase"] == [False]


def test_a_plan_is_rendered(tmp_path: Path) -> None:
    planned = plan(Question(task="frequency", domain=Categories(20), users=1000, epsilon=1, attributes=3))
    assert save(plan_chart(planned), tmp_path / "plan.png").stat().st_size > 20_000


def test_errors_too_small_for_a_number_are_not_drawn(tmp_path: Path) -> None:
    question: dict[str, Any] = {"task": "test", "domain": Categories(2), "hypotheses": (["0.5", "0.5"], ["0.6", "0.4"])}
    some = plan(Question(**question, users=120_000, epsilon=3))  # at four times this epsilon they are 0
    assert save(plan_chart(some), tmp_path / "some.svg").stat().st_size > 5000
    with pytest.raises(NotSupported, match="fewer users"):
        plan_chart(plan(Question(**question, users=10**8, epsilon=3)))
