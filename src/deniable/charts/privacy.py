"""How much a crowd adds: epsilon of the shuffled reports over the number of people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from deniable.charts.theme import inline, themed

BOUND, ATTAINED, ONE = "bound, any mechanism", "attained by 3-ary randomized response", "one report"


def amplification_chart(rows: Sequence[tuple[int, float, float]], epsilon: float, delta: float) -> Any:
    """Rows of people, upper bound and attained value, on two logarithmic axes."""
    data = []
    for people, upper, attained in rows:
        data += [
            {"people": people, "epsilon": upper, "what": BOUND},
            {"people": people, "epsilon": max(attained, 1e-6), "what": ATTAINED},
            {"people": people, "epsilon": epsilon, "what": ONE},
        ]
    sort = [ONE, BOUND, ATTAINED]
    chart = (
        alt.Chart(inline(data))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("people:Q", title="people", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~s", tickCount=7)),
            y=alt.Y("epsilon:Q", title="epsilon", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", tickCount=6)),
            color=alt.Color("what:N", title=None, sort=sort, legend=alt.Legend(orient="bottom")),
            strokeDash=alt.StrokeDash(
                "what:N", sort=sort, scale=alt.Scale(domain=sort, range=[[2, 3], [1, 0], [6, 4]]), legend=None
            ),
        )
        .properties(width=640, height=320)
    )
    subtitle = f"(epsilon, {delta:g})-privacy of the shuffled reports, when each report has epsilon {epsilon:g}"
    return themed(chart, title="What the crowd adds", subtitle=subtitle)
