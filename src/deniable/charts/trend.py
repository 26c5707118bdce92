"""Shares over many periods, and what a stream of reports gives away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.core import Stream
from deniable.estimators import Trend

MOST_LINES = 6
MOST_LEVEL = 1000.0


def trend_chart(trend: Trend, error_rate: float = 0.05) -> Any:
    """A line and a band for each value, the largest ones; a rule between two periods in which something changed."""
    last = trend.value[-1]
    kept = sorted(range(last.size), key=lambda column: -float(last[column]))[:MOST_LINES]
    names = [str(trend.labels[column]) for column in kept]
    rows = [row for row in trend._rows() if row["label"] in names]
    colour = alt.Color("label:N", title=None, sort=names, scale=alt.Scale(domain=names, range=COLOURS[: len(names)]))
    base = alt.Chart(inline(rows)).encode(x=alt.X("period:Q", title="period", scale=alt.Scale(nice=False)), color=colour)
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", title="share", axis=alt.Axis(format="%")), y2="high:Q")
    line = base.mark_line(strokeWidth=2.5).encode(y="value:Q")
    steps = sorted({(step["from"] + step["to"]) / 2 for step in trend.changes(error_rate)})
    layers = [band, line]
    if steps:
        layers.append(
            alt.Chart(inline([{"period": at} for at in steps])).mark_rule(strokeDash=[6, 4], color=INK).encode(x="period:Q")
        )
    picture = alt.layer(*layers).properties(width=560, height=320)
    said = f"dashed: changes, named with at most {100 * error_rate:g} % probability in all where there are none"
    return themed(picture, title="Shares from period to period", subtitle=f"bands: 95 %, for all periods together\n{said}")


def stream_chart(streams: Mapping[str, Sequence[Stream]]) -> Any:
    """What a whole life of reports costs people who change once, over its length, for several kinds of streams."""
    names = list(streams)
    rows = [
        {"stream": name, "periods": stream.periods, "level": min(loss.level, MOST_LEVEL), "exact": loss.exact}
        for name, each in streams.items()
        for stream, loss in ((one, one.changing(1)) for one in each)
    ]
    colour = alt.Color("stream:N", title=None, sort=names, scale=alt.Scale(domain=names, range=COLOURS[: len(names)]))
    said = "between any two people who change at most once; hollow: an upper bound, not the exact loss"
    picture = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("periods:Q", title="periods", scale=alt.Scale(type="log", nice=False)),
            y=alt.Y("level:Q", title="ε of all reports together", scale=alt.Scale(type="log", nice=False, padding=12)),
            color=colour,
        )
    )
    dots = picture.mark_point(size=45, opacity=1).encode(fill=alt.condition("datum.exact", colour, alt.value("white")))
    picture = alt.layer(picture, dots).properties(width=560, height=320)
    return themed(picture, title="What a life of reports gives away", subtitle=said)
