"""The few kinds of picture that most artifacts are: curves side by side, in the look of all charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from deniable.charts import COLOURS, inline, themed

DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [1, 0], [7, 3]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """One set of axes: rows with x, y and series (and low, high where there is a band)."""

    rows: Sequence[Row]
    title: str = ""
    x: str = ""
    y: str = ""
    log_x: bool = False
    log_y: bool = False
    zero: bool = True
    steps: bool = False
    points: bool = False
    ticks: Sequence[float] = field(default=())
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


def significant(value: float, digits: int = 7) -> float:
    """A number short enough for a file, long enough for a picture."""
    return float(f"{float(value):.{digits}g}") if math.isfinite(value) else float(value)


def curve(xs: Iterable[float], ys: Iterable[float], series: str) -> list[Row]:
    """Rows of one named curve."""
    return [{"x": significant(x), "y": significant(y), "series": series} for x, y in zip(xs, ys, strict=True)]


def line_panels(
    panels: Sequence[Panel],
    order: Sequence[str],
    *,
    title: str,
    subtitle: str = "",
    columns: int = 2,
    size: tuple[int, int] = (340, 260),
    dashed: bool = True,
    colours: Sequence[str] = COLOURS,
    dashes: Sequence[Sequence[int]] = DASHES,
) -> Any:
    """Curves on one or more axes with one legend; `order` names the series from the most to the least important."""
    drawn = [line_panel(panel, order, size, dashed, colours, dashes) for panel in panels]
    whole = drawn[0] if len(drawn) == 1 else alt.concat(*drawn, columns=columns, spacing=34)
    return themed(whole, title=title, subtitle=subtitle)


def line_panel(
    panel: Panel,
    order: Sequence[str],
    size: tuple[int, int] = (340, 260),
    dashed: bool = True,
    colours: Sequence[str] = COLOURS,
    dashes: Sequence[Sequence[int]] = DASHES,
) -> Any:
    """One set of axes, without the theme: a part of a larger picture."""
    colour = alt.Color(
        "series:N",
        title=None,
        sort=list(order),
        scale=alt.Scale(domain=list(order), range=[colours[place % len(colours)] for place in range(len(order))]),
        legend=alt.Legend(
            orient="bottom", columns=4 if len(order) > 4 else 0, symbolType="stroke", symbolSize=500, symbolOpacity=1
        ),
    )
    base = alt.Chart(inline(list(panel.rows))).encode(x=_axis_x(panel), color=colour)
    style: dict[str, Any] = {"strokeWidth": 2.4, "clip": True, "opacity": 0.95}
    if panel.steps:
        style["interpolate"] = "step-after"
    marks = base.mark_line(point=alt.OverlayMarkDef(size=42) if panel.points else False, **style).encode(y=_axis_y(panel))
    if dashed:
        marks = marks.encode(
            strokeDash=alt.StrokeDash(
                "series:N",
                title=None,
                sort=list(order),
                legend=None,
                scale=alt.Scale(domain=list(order), range=[list(dashes[place % len(dashes)]) for place in range(len(order))]),
            )
        )
    if any("low" in row for row in panel.rows):
        band = base.mark_area(opacity=0.18, clip=True).encode(y=alt.Y("low:Q", title=panel.y), y2="high:Q")
        marks = band + marks
    heading = alt.TitleParams(panel.title, fontSize=14, fontWeight="normal", anchor="middle", offset=8)
    return (
        marks.properties(width=size[0], height=size[1], title=heading)
        if panel.title
        else marks.properties(width=size[0], height=size[1])
    )


def _axis_x(panel: Panel) -> Any:
    kind: dict[str, Any] = {"nice": False, **({"type": "log"} if panel.log_x else {"zero": False})}
    if panel.points:
        kind["padding"] = 9  # a mark at the edge would be cut in half
    if panel.x_range is not None:
        kind["domain"] = list(panel.x_range)
    ticks: dict[str, Any] = {"values": list(panel.ticks)} if panel.ticks else {"tickCount": 6}
    return alt.X("x:Q", title=panel.x, scale=alt.Scale(**kind), axis=alt.Axis(labelOverlap=True, **ticks))


def _axis_y(panel: Panel) -> Any:
    kind: dict[str, Any] = {"type": "log"} if panel.log_y else {"zero": panel.zero}
    if panel.y_range is not None:
        kind |= {"domain": list(panel.y_range), "zero": False, "nice": False}
    sizes = [row["y"] for row in panel.rows] or [1.0]
    look = "~s" if max(sizes) >= 1e5 else "~e" if min(sizes) < 1e-4 else "~g"
    form: dict[str, Any] = {"format": look} if panel.log_y else {}
    return alt.Y("y:Q", title=panel.y, scale=alt.Scale(**kind), axis=alt.Axis(tickCount=5, labelOverlap=True, **form))
