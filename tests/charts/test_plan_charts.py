"""Charts of plans: what is drawn is what was planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable.charts import save
from deniable.charts.plan import plan_chart
from deniable.domains import Categories, Interval
from deniable.planning import Question, plan


def tables(chart: Any, field: str) -> list[list[dict[str, Any]]]:
    return [rows for rows in chart.to_dict()["datasets"].values() if field in rows[0]]


def test_the_frontier_holds_what_nothing_beats_in_both() -> None:
    found = plan(Question(task="frequency", domain=Categories(1000), users=100_000, epsilon=1))
    points = max(tables(plan_chart(found), "bytes"), key=len)
    best = [row for row in points if row["kind"] != "beaten"]
    assert {row["label"] for row in best} == {"projective", "subset"}
    assert [row["label"] for row in points if row["kind"] == "pick"] == [found.pick.label]
    for row in points:
        beaten = any(other["bytes"] <= row["bytes"] and other["error"] < row["error"] for other in points)
        assert beaten == (row["kind"] == "beaten")


def test_curves_pass_through_the_plan() -> None:
    found = plan(Question(task="mean", domain=Interval(0, 1), users=1000, epsilon=1))
    (rows,) = tables(plan_chart(found), "mechanism")
    here = {row["mechanism"]: row["error"] for row in rows if row["epsilon"] == pytest.approx(1)}
    assert here == {one.label: pytest.approx(one.predicted_error) for one in found.candidates[:5]}


def test_a_plan_is_rendered(tmp_path: Path) -> None:
    found = plan(Question(task="frequency", domain=Categories(20), users=1000, epsilon=1, attributes=3))
    assert save(plan_chart(found), tmp_path / "plan.png").stat().st_size > 20_000
