"""Errors of several mechanisms over epsilon: a figure for a paper."""

from __future__ import annotations

from typing import Any

import altair as alt

from deniable.charts.theme import COLOURS, inline, themed
from deniable.planning import Comparison

DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


def comparison_chart(comparison: Comparison) -> Any:
    """One line per mechanism; the error's axis is logarithmic, and shapes and dashes survive a copy without colours."""
    rows: list[dict[str, Any]] = [
        {"epsilon": float(level), "error": error, "mechanism": name}
        for name, errors in comparison.errors.items()
        for level, error in zip(comparison.epsilons, errors, strict=True)
        if error > 0
    ]
    small = min((row["error"] for row in rows), default=1.0) < 1e-3
    names = sorted(comparison.errors, key=lambda name: -comparison.errors[name][-1])
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    styles = {
        "color": alt.Color(
            "mechanism:N",
            title=None,
            sort=names,
            scale=alt.Scale(domain=names, range=colours),
            legend=alt.Legend(symbolStrokeWidth=0, symbolSize=110),
        ),
        "strokeDash": alt.StrokeDash(
            "mechanism:N", title=None, sort=names, scale=alt.Scale(domain=names, range=[DASHES[i % 4] for i in range(len(names))])
        ),
        "shape": alt.Shape(
            "mechanism:N", title=None, sort=names, scale=alt.Scale(domain=names, range=[SHAPES[i % 6] for i in range(len(names))])
        ),
    }
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("epsilon:Q", title="ε", scale=alt.Scale(zero=False, nice=False, padding=12), axis=alt.Axis(tickCount=8)),
        y=alt.Y(
            "error:Q",
            title=f"{comparison.metric.removeprefix('worst-').upper()}, logarithmic",
            scale=alt.Scale(type="log", nice=False, padding=10),
            axis=alt.Axis(format="~e" if small else "~g", tickCount=5),
        ),
    )
    line = base.mark_line(strokeWidth=2.2).encode(color=styles["color"], strokeDash=styles["strokeDash"])
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(color=styles["color"], shape=styles["shape"])
    picture = alt.layer(line, dots).properties(width=520, height=340)
    title = comparison.quantity[0].upper() + comparison.quantity[1:]
    return themed(picture, title=title, subtitle=f"on {comparison.domain!r}; computed from the mechanisms' own weights")
