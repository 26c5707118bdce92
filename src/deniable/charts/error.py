"""The expected error over the domain, for several mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts.theme import inline, themed
from deniable.core import Mechanism
from deniable.errors import InvalidParameter
from deniable.estimators import error_curve

POINTS = 201


def error_chart(mechanisms: Mapping[str, Mechanism], loss: str | float = "squared", *, title: str = "", subtitle: str = "") -> Any:
    """One curve per named mechanism: its expected error at every private value."""
    if not mechanisms:
        raise InvalidParameter("mechanisms must name at least one mechanism")
    rows = []
    for name, mechanism in mechanisms.items():
        curve = error_curve(mechanism, loss, POINTS)
        for value, error in zip(curve.values.tolist(), curve.errors.tolist(), strict=True):
            rows.append({"value": value, "error": error, "mechanism": name})
    what = f"expected {loss} error" if isinstance(loss, str) else f"expected error, exponent {loss:g}"
    chart = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("value:Q", title="private value", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=8)),
            y=alt.Y("error:Q", title=what, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6)),
            color=alt.Color("mechanism:N", title=None, sort=list(mechanisms)),
        )
        .properties(width=640, height=320)
    )
    return themed(chart, title=title or what.capitalize(), subtitle=subtitle)
