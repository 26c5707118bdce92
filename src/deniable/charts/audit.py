"""How soon repeated reports give a value away, for several mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts.theme import inline, themed
from deniable.errors import InvalidParameter
from deniable.privacy import Reconstruction

BOUND = "no guesser can do better"


def reconstruction_chart(reconstructions: Mapping[str, Reconstruction], *, title: str = "", subtitle: str = "") -> Any:
    """The share of users guessed right after 1, 2, 4, … reports, with 95 % intervals, and the bound that holds for all.

    All mechanisms must have the same epsilon and number of values: there is one bound.
    """
    if not reconstructions:
        raise InvalidParameter("reconstructions must name at least one mechanism")
    if len({(one.epsilon, one.inputs) for one in reconstructions.values()}) > 1:
        raise InvalidParameter("the mechanisms of one chart must have the same epsilon and the same number of values")
    rows = [
        {"reports": guess.reports, "right": guess.right, "low": guess.interval[0], "high": guess.interval[1], "mechanism": name}
        for name, one in reconstructions.items()
        for guess in one.guesses
    ]
    first = next(iter(reconstructions.values()))
    bound = [{"reports": guess.reports, "right": guess.bound, "mechanism": BOUND} for guess in first.guesses]
    names = [*reconstructions, BOUND]
    x = alt.X("reports:Q", title="reports of the same value, each with fresh randomness", scale=alt.Scale(type="log", base=2))
    y = alt.Y("right:Q", title="share of users guessed right", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    colour = alt.Color("mechanism:N", title=None, sort=names)
    lines = alt.Chart(inline(rows)).mark_line(strokeWidth=2.5, point=True).encode(x=x, y=y, color=colour)
    spread = alt.Chart(inline(rows)).mark_rule(strokeWidth=1.5).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    limit = alt.Chart(inline(bound)).mark_line(strokeWidth=2, strokeDash=[6, 4]).encode(x=x, y=y, color=colour)
    chart = alt.layer(limit, spread, lines).properties(width=640, height=320)
    caption = (
        subtitle or f"epsilon {first.epsilon:g} each time, {first.inputs} values, {first.users:,} simulated users, 95 % intervals"
    )
    return themed(chart, title=title or "How soon repetition gives a value away", subtitle=caption)
