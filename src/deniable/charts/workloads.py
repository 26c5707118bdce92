"""Designs for linear questions in pictures: the rows of a table, and errors beside their bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from deniable.charts.theme import inline, themed

if TYPE_CHECKING:
    from deniable.planning import WorkloadDesign

MOST_ROWS = 200
WIDTH, HEIGHT = 420, 480


def workload_table_chart(design: WorkloadDesign) -> Any:
    """The table as a heat map: one line for every output, the likeliest first; dark where a value makes it likelier."""
    channel = design.channel
    values = [list(channel.row(x)) for x in range(channel.inputs)]
    outputs = sorted(range(channel.outputs), key=lambda y: -sum(row[y] for row in values))
    shown = outputs[:MOST_ROWS]
    cells = []
    for rank, y in enumerate(shown):
        least = min(row[y] for row in values)
        cells += [{"output": rank, "value": x, "ratio": row[y] / least} for x, row in enumerate(values)]
    chart = (
        alt.Chart(inline(cells))
        .mark_rect()
        .encode(
            x=alt.X("value:O", title="private value", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("output:O", title="output, the likeliest first", axis=alt.Axis(labelOverlap=True, ticks=False)),
            color=alt.Color("ratio:Q", title="times as likely", scale=alt.Scale(scheme="blues")),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    bound = "no bound was worked out" if design.lower_bound is None else f"no mechanism is below {design.lower_bound:.5g}"
    more = "" if len(shown) == len(outputs) else f"; the first {len(shown)} of {len(outputs)} outputs"
    return themed(
        chart,
        title=f"{design.workload.name}, {channel.inputs} values: {design.objective} error {design.error:.5g}",
        subtitle=bound + more,
    )


def workload_chart(rows: Sequence[dict[str, Any]], title: str, subtitle: str = "") -> Any:
    """Errors over epsilon: rows with `epsilon`, `error` and `what` (published descent, ours, bound)."""
    names = list(dict.fromkeys(row["what"] for row in rows))
    chart = (
        alt.Chart(inline(list(rows)))
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon:Q", title="ε", scale=alt.Scale(nice=False)),
            y=alt.Y("error:Q", title="error as a multiple of the bound", scale=alt.Scale(zero=False)),
            color=alt.Color("what:N", title=None, sort=names),
            strokeDash=alt.StrokeDash("what:N", sort=names, legend=None),
        )
        .properties(width=WIDTH, height=280)
    )
    return themed(chart, title=title, subtitle=subtitle)
