"""How often a model keeps its answer, over epsilon."""

from __future__ import annotations

from typing import Any

import altair as alt

from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.errors import InvalidParameter
from deniable.studies import UtilityReport

WIDTH, HEIGHT = 600, 340
DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [1, 3], [12, 3]]


PROBABILITY = {"answer": "probability of the same answer", "truth": "probability of the true label"}


def rho_chart(
    report: UtilityReport, *, title: str = "", subtitle: str = "", target: float | None = None, worst: bool = False
) -> Any:
    """One curve per mechanism with the band of its intervals; dots are plain reports of each mechanism.

    Over several records the curves are averages; with `worst` they are the least of all records.
    """
    names = report.mechanisms()
    if not names or len(names) > len(COLOURS):
        raise InvalidParameter(f"a chart shows between 1 and {len(COLOURS)} mechanisms")
    if worst and report.records < 2:
        raise InvalidParameter("worst needs at least two records")
    rows = []
    for row in report.rows:
        value, low, high = (row.worst, row.worst_low, row.worst_high) if worst else (row.value, row.low, row.high)
        rows.append({"epsilon": row.epsilon, "rho": value, "low": low, "high": high, "mechanism": row.mechanism})
    levels = sorted({row.epsilon for row in report.rows})
    data = alt.Chart(inline(rows))
    ticks = alt.Axis(format="~g", values=levels) if len(levels) <= 12 else alt.Axis(format="~g", tickCount=9)
    x = alt.X("epsilon:Q", title=_level_title(report), scale=alt.Scale(nice=False, zero=False, padding=10), axis=ticks)
    bottom = max(min(0.1 * int(10 * min(float(row["low"] or 0.0) for row in rows)), 0.9), 0.0)
    scale = alt.Scale(domain=[bottom, 1], nice=False)
    up = alt.Y(
        "rho:Q",
        title=PROBABILITY.get(report.target, f"probability of a prediction {report.target}"),
        scale=scale,
        axis=alt.Axis(tickCount=6, format="~g"),
    )
    legend = alt.Legend(symbolType="stroke", symbolSize=400, symbolOpacity=1, symbolFillColor="transparent")
    colour = alt.Color(
        "mechanism:N", title=None, sort=names, legend=legend, scale=alt.Scale(domain=names, range=COLOURS[: len(names)])
    )
    dash = alt.StrokeDash("mechanism:N", title=None, sort=names, scale=alt.Scale(domain=names, range=DASHES[: len(names)]))
    band = data.mark_area(opacity=0.22).encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour)
    layers = [band, data.mark_line(strokeWidth=2.5).encode(x=x, y=up, color=colour, strokeDash=dash)]
    dots = [
        {"epsilon": row.epsilon, "rho": row.empirical, "mechanism": row.mechanism}
        for row in report.rows
        if row.empirical is not None
    ]
    if dots and not worst:
        marks = alt.Chart(inline(dots)).mark_point(size=42, filled=False, strokeWidth=1.6)
        layers.append(marks.encode(x=x, y=alt.Y("rho:Q", scale=scale), color=colour))
    if target is not None:
        rule = alt.Chart(inline([{"target": target}])).mark_rule(color=INK, strokeDash=[3, 3], strokeWidth=1.2)
        layers.append(rule.encode(y=alt.Y("target:Q", scale=scale)))
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return themed(chart, title=title or _title(report, worst), subtitle=subtitle or _subtitle(report, bool(dots) and not worst))


def _level_title(report: UtilityReport) -> str:
    if len(report.features) == 1:
        return "epsilon"
    each = all(row.epsilon_total > row.epsilon for row in report.rows)
    return "epsilon of every sensitive feature" if each else "epsilon of all sensitive features together"


def _title(report: UtilityReport, worst: bool) -> str:
    kept = {"answer": "keeps its answer", "truth": "gives the true label"}.get(report.target, "predicts nearly the same")
    if report.records == 1:
        return f"How often the model {kept} at one record"
    which = "the worst of" if worst else "the average of"
    return f"How often the model {kept}: {which} {report.records} records"


def _subtitle(report: UtilityReport, dots: bool) -> str:
    exact = all(row.kind == "exact" for row in report.rows)
    together = "all together" if report.simultaneous else "each"
    bands = "computed exactly, not sampled" if exact else f"bands: intervals, {100 * report.confidence:g} % {together}"
    return f"{bands}; circles: plain reports of the mechanism" if dots else bands
