"""How good a model becomes that learns from reports."""

from __future__ import annotations

from typing import Any

import altair as alt

from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.studies import TrainingCurve

NAMES = {"naive-bayes": "naive Bayes", "linear": "linear regression", "logistic": "logistic regression"}


def training_chart(curve: TrainingCurve) -> Any:
    """The score over epsilon with 95 % intervals, a line for each number of people; dashed: central training."""
    counts = sorted({row["people"] for row in curve.rows})
    names = [f"{count:,}" for count in counts]
    rows = [{**row, "people": f"{row['people']:,}"} for row in curve.rows]
    colour = alt.Color(
        "people:N", title="people", sort=names, scale=alt.Scale(domain=names, range=[COLOURS[i % 7] for i in range(len(names))])
    )
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("epsilon:Q", title="ε of a person, the answer included", scale=alt.Scale(zero=False, nice=False, padding=12)),
        color=colour,
    )
    up = alt.Y("score:Q", title=curve.metric, scale=alt.Scale(zero=False))
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=curve.metric), y2="high:Q")
    line = base.mark_line(strokeWidth=2.5, point={"size": 50, "filled": True}).encode(y=up)
    central = alt.Chart(inline([{"score": curve.central, "text": "central training"}])).encode(y=up)
    rule = central.mark_rule(strokeDash=[6, 4], color=INK)
    text = central.mark_text(align="left", dy=-8, x=6, color=INK, fontSize=12).encode(text="text:N")
    picture = alt.layer(bars, line, rule, text).properties(width=560, height=320)
    return themed(
        picture,
        title=f"Training on reports alone: {NAMES.get(curve.kind, curve.kind)}",
        subtitle="bars: 95 % intervals over repeated trainings",
    )
