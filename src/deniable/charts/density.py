"""What a report looks like, for several private values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from deniable.charts.theme import inline, themed
from deniable.core import Mechanism
from deniable.estimators import density

POINTS = 2048
"""Fine, so that a bin cut by a window's edge is not seen as a step of its own."""


def density_chart(mechanism: Mechanism, values: Sequence[Any]) -> Any:
    """The density of the reported number for each private value, from the mechanism's own weights."""
    rows = [row for value in values for row in _steps(mechanism, value)]
    order = [f"{float(value):g}" for value in values]
    chart = (
        alt.Chart(inline(rows))
        .mark_line(interpolate="step-after", strokeWidth=2.5, opacity=0.9)
        .encode(
            x=alt.X("report:Q", title="reported value", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=8)),
            y=alt.Y("density:Q", title="probability density", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6)),
            color=alt.Color("value:N", title="private value", sort=order),
        )
        .properties(width=640, height=320)
    )
    return themed(
        chart,
        title=f"{mechanism.name} at ε = {mechanism.privacy}",
        subtitle="any report is at most e^ε times as likely for one value as for another",
    )


def _steps(mechanism: Mechanism, value: Any) -> Iterator[dict[str, Any]]:
    """The curve's left edges, without those where nothing changes, and its right end."""
    curve = density(mechanism, value, POINTS)
    places, heights = curve.values.tolist(), curve.heights.tolist()
    half = (places[1] - places[0]) / 2 if len(places) > 1 else 0.5
    name, before = f"{float(value):g}", math.nan
    for place, height in zip(places, heights, strict=True):
        if not math.isclose(height, before, rel_tol=1e-9):
            yield {"report": place - half, "density": height, "value": name}
        before = height
    yield {"report": places[-1] + half, "density": before, "value": name}
