"""One picture: nanoseconds per user, everyone on one logarithmic scale."""

from __future__ import annotations

from typing import Any

import altair as alt
from speed.environments import NAIVE, OTHERS, OURS

from deniable.charts import COLOURS, inline, themed

NAMES = [OURS.name, NAIVE.name, *(peer.name for peer in OTHERS)]
SHAPES = ["circle", "cross", "square", "triangle-up", "diamond", "triangle-down"]


def speed_chart(rows: list[dict[str, Any]]) -> Any:
    """A row per task, a mark per package; the further right, the slower."""
    points = [
        {
            "work": row["label"],
            "half": {"privatise": "Privatise one value", "aggregate": "Aggregate one report"}[row["do"]],
            "package": name,
            "nanoseconds": 1e9 * row["packages"][name]["per_user"],
        }
        for row in rows
        for name in NAMES
        if "per_user" in row["packages"].get(name, {})
    ]
    order = list(dict.fromkeys(row["label"] for row in rows))
    colour = alt.Color("package:N", scale=alt.Scale(domain=NAMES, range=COLOURS[: len(NAMES)]), title=None)
    shape = alt.Shape("package:N", scale=alt.Scale(domain=NAMES, range=SHAPES), title=None)
    x = alt.X(
        "nanoseconds:Q",
        scale=alt.Scale(type="log"),
        title="Nanoseconds, logarithmic",
        axis=alt.Axis(labelExpr="datum.value < 1 ? datum.value : format(datum.value, '~s')", tickCount=6),
    )
    halves = []
    for half in ("Privatise one value", "Aggregate one report"):
        mine = [point for point in points if point["half"] == half]
        shown = [label for label in order if any(point["work"] == label for point in mine)]
        y = alt.Y("work:N", sort=shown, title=None, axis=alt.Axis(grid=True))
        base = alt.Chart(inline(mine)).mark_point(filled=True, size=90, opacity=0.9).encode(x=x, y=y, color=colour, shape=shape)
        halves.append(base.properties(width=360, height=26 * max(len(shown), 1), title=alt.TitleParams(half, fontSize=14)))
    chart = alt.hconcat(*halves, spacing=40).configure_legend(orient="top")
    return themed(chart, title="Time per user, deniable and its peers", subtitle="epsilon = 1; medians; further left is faster")
