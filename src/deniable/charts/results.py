"""The usual chart of a result, so that `result.plot()` needs no words."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import altair as alt

from deniable._results import counted
from deniable.charts.classifiers import rho_chart
from deniable.charts.comparison import comparison_chart
from deniable.charts.design import design_chart
from deniable.charts.distribution import distribution_chart
from deniable.charts.estimates import estimate_chart
from deniable.charts.plan import plan_chart
from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.charts.training import training_chart
from deniable.charts.trajectories import trip_chart
from deniable.charts.trend import trend_chart
from deniable.charts.workloads import workload_table_chart
from deniable.core import Certificate
from deniable.errors import NotSupported
from deniable.estimators import Direction, Estimate, Trend
from deniable.planning import Answer, Comparison, Plan, ShuffledPlan, WorkloadDesign
from deniable.privacy import Audit
from deniable.studies import PlaceTable, TrainingCurve, UtilityReport

MOST_BARS = 40


@singledispatch
def result_chart(result: object) -> Any:
    """An Altair chart of an estimate, a table of trips, a plan, a design, a certificate or an audit."""
    raise NotSupported(f"there is no usual chart of a {type(result).__name__}")


@result_chart.register
def _(result: Estimate) -> Any:
    low, high = (ends.reshape(-1).tolist() for ends in result.interval())
    values, ends = result.value.reshape(-1).tolist(), list(zip(low, high, strict=True))
    labels = list(result.labels or ["estimate"])
    subtitle = f"{counted(result.n, 'report')}; {result.target}"
    if (
        len(labels) > 1
        and all(isinstance(label, tuple) and len(label) == 2 for label in labels)
        and isinstance(labels[0][0], float)
    ):
        edges = [labels[0][0], *(right for _, right in labels)]
        return distribution_chart(edges, values, ends, title=result.method, subtitle=subtitle)
    order = (
        sorted(range(len(values)), key=lambda i: -values[i])[:MOST_BARS] if len(values) > MOST_BARS else list(range(len(values)))
    )
    if len(values) > MOST_BARS:
        subtitle += f"; the {MOST_BARS} largest of {len(values)}"
    return estimate_chart(
        [str(labels[i]) for i in order],
        [values[i] for i in order],
        [ends[i] for i in order],
        title=result.method,
        subtitle=subtitle,
        percent=result.total == 1,
    )


@result_chart.register
def _(result: Direction) -> Any:
    low, high = result.concentration_interval()
    return estimate_chart(
        ["mean direction"],
        [result.angle],
        [result.interval()],
        quantity=f"direction, on a circle of {result.period:g}",
        title=f"Concentration {result.concentration:.3g} (95 %: {low:.3g} to {high:.3g})",
        subtitle=f"{counted(result.n, 'report')}; {result.target}",
    )


@result_chart.register
def _(result: WorkloadDesign) -> Any:
    return workload_table_chart(result)


@result_chart.register
def _(result: ShuffledPlan) -> Any:
    rows = [(f"{row['trusted']} is trusted", row["error"]) for row in result._rows() if row["error"] is not None]
    return themed(
        _levels(rows, "error"),
        title=f"What trust is worth at a central epsilon of {result.target:g}",
        subtitle=f"{counted(result.shuffled.users, 'user')}, delta {result.delta:g}",
    )


@result_chart.register
def _(result: PlaceTable) -> Any:
    return trip_chart(result, title=result.method, subtitle=f"{result.n:,} reports; {result.target}")


@result_chart.register
def _(result: Trend) -> Any:
    return trend_chart(result)


@result_chart.register
def _(result: Plan) -> Any:
    return plan_chart(result)


@result_chart.register
def _(result: Comparison) -> Any:
    return comparison_chart(result)


@result_chart.register
def _(result: TrainingCurve) -> Any:
    return training_chart(result)


@result_chart.register
def _(result: Answer) -> Any:
    words = result.objective.split()
    return design_chart(result, next((word for word in words if word in ("absolute", "squared")), "absolute"))


@result_chart.register
def _(result: UtilityReport) -> Any:
    return rho_chart(result)


@result_chart.register
def _(result: Certificate) -> Any:
    spent = result.epsilon_exact
    rows = [
        ("spent by the weights", spent if math.isfinite(spent) else 2 * float(result.epsilon)),
        ("promised", float(result.epsilon)),
    ]
    return themed(
        _levels(rows, "epsilon"),
        title=f"{result.mechanism}: privacy {'holds' if result.holds else 'DOES NOT HOLD'}",
        subtitle=result.inequality,
    )


@result_chart.register
def _(result: Audit) -> Any:
    rows = [("shown by the reports: at least", max(result.epsilon_lower, 0.0)), ("claimed", result.epsilon)]
    return themed(
        _levels(rows, "epsilon"), title=result.words.partition(";")[0], subtitle=f"{result.samples:,} samples; {result.event}"
    )


def _levels(rows: list[tuple[str, float]], quantity: str) -> Any:
    data = [{"what": what, "value": value, "text": f"{value:.5g}"} for what, value in rows]
    order = [what for what, _ in rows]
    base = alt.Chart(inline(data)).encode(
        y=alt.Y("what:N", sort=order, title=None), x=alt.X("value:Q", title=quantity, scale=alt.Scale(zero=True))
    )
    colour = alt.Color(
        "what:N", legend=None, sort=order, scale=alt.Scale(domain=order, range=[COLOURS[0], *["#999999"] * (len(order) - 1)])
    )
    text = base.mark_text(align="left", dx=6, fontSize=13, color=INK).encode(text="text:N")
    return alt.layer(base.mark_bar().encode(color=colour), text).properties(width=560, height=110)
