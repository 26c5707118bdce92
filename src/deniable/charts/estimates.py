"""Estimates with their intervals, beside the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from deniable.charts.legend import TRUTH, series_colour, series_name
from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.errors import InvalidParameter


def estimate_chart(
    names: Sequence[str],
    estimates: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    truth: Sequence[float] | None = None,
    *,
    quantity: str = "share",
    title: str,
    subtitle: str = "",
    percent: bool = False,
    level: float = 0.95,
) -> Any:
    """One bar per name, its interval, and a mark where the truth is (when it is known)."""
    if not len(names) == len(estimates) == len(intervals) == len(names if truth is None else truth):
        raise InvalidParameter("names, estimates, intervals and truth must have one length")
    rows = [
        {"name": name, "estimate": float(value), "low": float(low), "high": float(high)}
        for name, value, (low, high) in zip(names, estimates, intervals, strict=True)
    ]
    label = series_name(level)
    legend = series_colour(level, truth is not None, COLOURS[4])
    across = alt.Y("name:N", title=None, sort=list(names))
    axis = alt.Axis(tickCount=8, format=".0%" if percent else "~g")
    base = alt.Chart(inline([{**row, "series": label} for row in rows]))
    bars = base.mark_bar(height={"band": 0.7}).encode(x=alt.X("estimate:Q", title=quantity, axis=axis), y=across, color=legend)
    whiskers = base.mark_rule(strokeWidth=2, color=INK).encode(x=alt.X("low:Q"), x2="high:Q", y=across)
    layers = [bars, whiskers]
    if truth is not None:
        known = [{"name": name, "truth": float(value), "series": TRUTH} for name, value in zip(names, truth, strict=True)]
        layers.append(
            alt.Chart(inline(known))
            .mark_tick(thickness=3, opacity=1, height={"band": 0.9})
            .encode(x=alt.X("truth:Q"), y=across, color=legend)
        )
    chart = alt.layer(*layers).properties(width=640, height={"step": 26})
    return themed(chart, title=title, subtitle=subtitle)
