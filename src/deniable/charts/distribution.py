"""How a number is distributed: its density, and its quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from deniable.charts.legend import ESTIMATE_COLOUR, TRUTH, series_colour, series_name
from deniable.charts.theme import INK, inline, themed
from deniable.errors import InvalidParameter

WIDTH, HEIGHT = 640, 320
Pairs = Sequence[tuple[float, float]]


def distribution_chart(
    edges: Sequence[float],
    shares: Sequence[float],
    intervals: Pairs,
    truth: Sequence[float] | None = None,
    *,
    quantity: str = "value",
    title: str,
    subtitle: str = "",
    level: float = 0.95,
) -> Any:
    """The density over bins with a band of intervals; bin i lies between edges i and i + 1 and holds shares[i]."""
    if not len(edges) - 1 == len(shares) == len(intervals) == len(shares if truth is None else truth) or len(shares) < 1:
        raise InvalidParameter("shares, intervals and truth must have one entry per bin, and edges one more")
    name = series_name(level)
    steps = _steps(
        edges, [{"density": share, "low": low, "high": high} for share, (low, high) in zip(shares, intervals, strict=True)]
    )
    data = alt.Chart(inline([{**row, "series": name} for row in steps]))
    across = alt.X("value:Q", title=quantity, scale=alt.Scale(nice=False, domain=[edges[0], edges[-1]]), axis=alt.Axis(tickCount=8))
    colour = series_colour(level, truth is not None, line=True)
    up = alt.Y("density:Q", title="share of people per unit of the value", axis=alt.Axis(tickCount=6, format="~g"))
    band = data.mark_area(interpolate="step-after", opacity=0.25, color=ESTIMATE_COLOUR).encode(
        x=across, y=alt.Y("low:Q", title="share of people per unit of the value"), y2="high:Q"
    )
    layers = [band, data.mark_line(interpolate="step-after", strokeWidth=2.5).encode(x=across, y=up, color=colour)]
    if truth is not None:
        known = _steps(edges, [{"density": share} for share in truth])
        line = alt.Chart(inline([{**row, "series": TRUTH} for row in known])).mark_line(
            interpolate="step-after", strokeWidth=2, opacity=0.9
        )
        layers.append(line.encode(x=across, y=up, color=colour))
    return themed(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT), title=title, subtitle=subtitle)


def _steps(edges: Sequence[float], bins: list[dict[str, float]]) -> list[dict[str, float]]:
    """Densities at the left edges, and the last of them again at the end."""
    rows = []
    for left, right, shares in zip(edges[:-1], edges[1:], bins, strict=True):
        rows.append({"value": float(left), **{key: float(share) / float(right - left) for key, share in shares.items()}})
    return [*rows, {**rows[-1], "value": float(edges[-1])}]


def quantile_chart(
    points: Sequence[float],
    below: Sequence[float],
    intervals: Pairs,
    quantiles: Sequence[tuple[float, float]],
    quantile_intervals: Pairs,
    truth: Sequence[float] | None = None,
    *,
    quantity: str = "value",
    title: str,
    subtitle: str = "",
    level: float = 0.95,
) -> Any:
    """The share of values up to each point with its band, and quantiles (level, value) marked with their intervals."""
    if not len(points) == len(below) == len(intervals) == len(points if truth is None else truth) or len(points) < 2:
        raise InvalidParameter("points, below, intervals and truth must have one length, at least two")
    if len(quantiles) != len(quantile_intervals):
        raise InvalidParameter("quantiles and quantile_intervals must have one length")
    name = series_name(level)
    rows = [
        {"value": float(x), "below": float(y), "low": float(low), "high": float(high), "series": name}
        for x, y, (low, high) in zip(points, below, intervals, strict=True)
    ]
    marks = [
        {
            "value": float(x),
            "below": float(y),
            "low": float(low),
            "high": float(high),
            "text": f"{100 * y:g} %: {_short(float(x))}",
        }
        for (y, x), (low, high) in zip(quantiles, quantile_intervals, strict=True)
    ]
    across = alt.X(
        "value:Q", title=quantity, scale=alt.Scale(nice=False, domain=[points[0], points[-1]]), axis=alt.Axis(tickCount=8)
    )
    up = alt.Y(
        "below:Q", title="share up to here", axis=alt.Axis(tickCount=6, format=".0%"), scale=alt.Scale(domain=[0, 1], clamp=True)
    )
    colour = series_colour(level, truth is not None, line=True)
    data = alt.Chart(inline(rows))
    band = data.mark_area(opacity=0.25, color=ESTIMATE_COLOUR).encode(
        x=across, y=alt.Y("low:Q", title="share up to here"), y2="high:Q"
    )
    layers = [band, data.mark_line(strokeWidth=2.5).encode(x=across, y=up, color=colour)]
    if truth is not None:
        known = [{"value": float(x), "below": float(y), "series": TRUTH} for x, y in zip(points, truth, strict=True)]
        layers.append(alt.Chart(inline(known)).mark_line(strokeWidth=2, opacity=0.9).encode(x=across, y=up, color=colour))
    marked = alt.Chart(inline(marks))
    layers.append(marked.mark_rule(strokeWidth=2.5, color=INK).encode(x=alt.X("low:Q"), x2="high:Q", y=up))
    layers.append(marked.mark_point(filled=True, size=70, color=INK, opacity=1).encode(x=across, y=up))
    layers.append(
        marked.mark_text(align="left", dx=12, dy=12, fontSize=13, color=INK).encode(x=alt.X("high:Q"), y=up, text="text:N")
    )
    return themed(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT), title=title, subtitle=subtitle)


def _short(number: float) -> str:
    """Three digits, or all that stand before the point."""
    text = f"{number:.0f}" if 1000 <= abs(number) < 1e9 else f"{number:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")
