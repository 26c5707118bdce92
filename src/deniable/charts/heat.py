"""Answers out of a list: how likely each report is for each private value."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import altair as alt

from deniable.charts.theme import inline, themed
from deniable.charts.trajectories import SHADES
from deniable.core import Binary, Categories, Mechanism
from deniable.errors import NotSupported
from deniable.estimators import pmf, support

MOST_ROWS, MOST_COLUMNS = 24, 48
MOST_UNSUPPORTED = 512
"""Columns for reports that support no single category."""
WITH_NUMBERS = 8
SIDE = 460


def heat_chart(mechanism: Mechanism) -> Any:
    """Probabilities as colours: every report where there are few of them, else the categories that a report supports."""
    domain = mechanism.domain
    assert isinstance(domain, Binary | Categories)
    title = f"{mechanism.name} at ε = {mechanism.privacy}"
    shown = min(domain.size, MOST_ROWS)
    names = [str(domain.decode(i)) for i in range(shown)]
    some = f"; the first {shown} of {domain.size:,} categories" if shown < domain.size else ""
    outputs = mechanism.channel.outputs
    law = None
    if outputs > MOST_COLUMNS or mechanism.channel.unary:
        with suppress(NotSupported):
            law = support(mechanism)
        if law is None and outputs > MOST_UNSUPPORTED:
            raise NotSupported(f"there is no picture of {mechanism.name} with {outputs:,} reports; try fewer categories")
    if law is None:
        table = [pmf(mechanism, domain.decode(i)).tolist() for i in range(shown)]
        columns = [_label(mechanism, output) for output in range(outputs)]
        if len(set(columns)) < outputs:
            columns = [f"report {output + 1}" for output in range(outputs)]
        return themed(
            heat(names, columns, table, "report"), title=title, subtitle=f"the probability of each report, row by row{some}"
        )
    p, q = float(law.p), float(law.q)
    table = [[p if i == j else q for j in range(shown)] for i in range(shown)]
    what = f"a report supports several categories: its own with p = {p:.4g}, any other with q = {q:.4g}{some}"
    return themed(heat(names, names, table, "category that the report supports"), title=title, subtitle=what)


def _label(mechanism: Mechanism, output: int) -> str:
    """A report in words; one that stands for a pattern of categories names them all."""
    report = mechanism.decode(output)
    return " or ".join(map(str, report)) if hasattr(mechanism, "patterns") and isinstance(report, tuple) else str(report)


def heat(rows: list[str], columns: list[str], table: list[list[float]], across: str) -> Any:
    """A table of probabilities as colours, with numbers where there is room."""
    cells = [
        {"value": row, "report": column, "probability": share, "text": f"{100 * share:.3g} %"}
        for row, shares in zip(rows, table, strict=True)
        for column, share in zip(columns, shares, strict=True)
    ]
    most = max(max(shares) for shares in table)
    few = len(columns) <= WITH_NUMBERS
    base = alt.Chart(inline(cells)).encode(
        x=alt.X(
            "report:N", title=across, sort=columns, axis=alt.Axis(labelAngle=0 if few else -90, labelOverlap=True, ticks=False)
        ),
        y=alt.Y("value:N", title="private value", sort=rows, axis=alt.Axis(labelOverlap=True, ticks=False)),
    )
    width = min(SIDE * 1.4, max(SIDE, 24 * len(columns)))
    height = min(SIDE, max(110, 56 * len(rows) if few else 20 * len(rows)))
    colours = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "probability:Q",
            scale=alt.Scale(range=SHADES, interpolate="rgb", domain=[0, most]),
            legend=alt.Legend(format=".0%", gradientLength=min(200, height - 20), tickCount=4, titlePadding=10),
        )
    )
    if not few:
        return colours.properties(width=width, height=height)
    dark = f"datum.probability > {0.55 * most}"
    numbers = base.mark_text(fontSize=13 if len(columns) <= 8 else 10).encode(
        text="text:N", color=alt.condition(dark, alt.value("white"), alt.value("#222222"))
    )
    return alt.layer(colours, numbers).properties(width=width, height=height)
