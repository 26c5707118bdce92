"""Bars for several data sets and levels, exact, with simulated ticks on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from deniable.charts import COLOURS, INK, inline, themed
from deniable_reproduce.pictures import Row


def bars(rows: Sequence[Row], order: Sequence[str], *, title: str, subtitle: str) -> Any:
    """One panel per level; rows have data, epsilon, series, mse, simulated and standard error."""
    levels = list(dict.fromkeys(row["epsilon"] for row in rows))
    names = list(dict.fromkeys(row["data"] for row in rows))
    drawn = []
    for level in levels:
        chosen = [
            {**row, "low": row["simulated"] - row["standard error"], "high": row["simulated"] + row["standard error"]}
            for row in rows
            if row["epsilon"] == level
        ]
        lowest = min(min(row["mse"] for row in chosen), min(row["low"] for row in chosen)) / 2
        base = alt.Chart(inline([{**row, "floor": lowest} for row in chosen])).encode(
            x=alt.X("data:N", title=None, sort=names, axis=alt.Axis(labelAngle=-35)),
            xOffset=alt.XOffset("series:N", sort=list(order)),
        )
        scale = alt.Scale(type="log", nice=False, domain=[lowest, 1.3 * max(row["mse"] for row in chosen)])
        height = alt.Y("mse:Q", title="MSE (users²)", scale=scale, axis=alt.Axis(format="~s", tickCount=5, labelOverlap=True))
        colour = alt.Color(
            "series:N",
            title=None,
            sort=list(order),
            scale=alt.Scale(domain=list(order), range=COLOURS[: len(order)]),
            legend=alt.Legend(orient="bottom"),
        )
        solid = base.mark_bar(opacity=0.85).encode(y=height, y2="floor:Q", color=colour)
        ticks = base.mark_rule(color=INK, strokeWidth=2).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
        heading = alt.TitleParams(level, fontSize=14, fontWeight="normal", anchor="middle")
        drawn.append((solid + ticks).properties(width=230, height=240, title=heading))
    return themed(alt.hconcat(*drawn, spacing=30), title=title, subtitle=subtitle)
