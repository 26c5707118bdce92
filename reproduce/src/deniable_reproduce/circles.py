"""Circles with arcs and sectors on them, drawn to scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from deniable.charts import COLOURS, FAINT, INK, inline, themed

STEPS = 180
SIDE = 250
Points = list[tuple[float, float]]


def arc(middle: float, half: float, radius: float = 1.0) -> Points:
    """Points of an arc around a direction."""
    turns = [middle + half * (2 * step / STEPS - 1) for step in range(STEPS + 1)]
    return [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]


def sector(middle: float, half: float, inner: float, outer: float) -> Points:
    """The outline of a piece of a ring."""
    outline = [*arc(middle, half, outer), *reversed(arc(middle, half, inner))]
    return [*outline, outline[0]]


def ring(parts: Sequence[Mapping[str, Any]], *, title: str, subtitle: str = "") -> Any:
    """Circles side by side: thick `favoured` arcs, thin `others`, a dot at the private direction."""
    drawn = []
    for part in parts:
        rows = [
            {"x": x, "y": y, "at": place, "arc": name}
            for name, points in part["arcs"].items()
            for place, (x, y) in enumerate(points)
        ]
        lines = (
            alt.Chart(inline(rows))
            .mark_line()
            .encode(
                x=_across(),
                y=_up(),
                order="at:Q",
                color=alt.Color(
                    "arc:N",
                    title=None,
                    scale=alt.Scale(domain=["favoured", "others"], range=[COLOURS[1], COLOURS[0]]),
                    legend=alt.Legend(orient="bottom", symbolType="stroke", symbolSize=500),
                ),
                strokeWidth=alt.StrokeWidth("arc:N", scale=alt.Scale(domain=["favoured", "others"], range=[8, 2.5]), legend=None),
            )
        )
        drawn.append(
            _sized(lines + dots({"private": (math.cos(part["point"]), math.sin(part["point"]))}) + _marks(), part["title"])
        )
    return themed(alt.concat(*drawn, columns=2, spacing=30), title=title, subtitle=subtitle)


def plates(parts: Sequence[Mapping[str, Any]], *, title: str, subtitle: str = "") -> Any:
    """Discs side by side with a favoured region (an outline) and a dot at the private place."""
    drawn = []
    for part in parts:
        region = [{"x": x, "y": y, "at": place} for place, (x, y) in enumerate(part["region"])]
        edge = [{"x": x, "y": y, "at": place} for place, (x, y) in enumerate(arc(0.0, math.pi))]
        shape = alt.Chart(inline(region)).mark_line(filled=True, fill=COLOURS[3], fillOpacity=0.55, stroke=COLOURS[3])
        rim = alt.Chart(inline(edge)).mark_line(color=COLOURS[0], strokeWidth=2.5)
        place = {"x": _across(), "y": _up(), "order": alt.Order("at:Q")}
        layers = shape.encode(**place) + rim.encode(**place) + dots({"private": part["point"]}) + _marks()
        drawn.append(_sized(layers, part["title"]))
    return themed(alt.concat(*drawn, columns=2, spacing=30), title=title, subtitle=subtitle)


def dots(places: Mapping[str, tuple[float, float]]) -> Any:
    """A filled mark at each of the private places."""
    rows = [{"x": x, "y": y} for x, y in places.values()]
    return (
        alt.Chart(inline(rows))
        .mark_point(size=130, filled=True, color=COLOURS[2], stroke="white", opacity=1)
        .encode(x=_across(), y=_up())
    )


def _marks() -> Any:
    """0, π/2, π and 3π/2 around the circle."""
    far = 1.17
    rows = [
        {"x": far * math.cos(turn), "y": far * math.sin(turn), "name": name}
        for name, turn in (("0", 0.0), ("π/2", math.pi / 2), ("π", math.pi), ("3π/2", 3 * math.pi / 2))
    ]
    return alt.Chart(inline(rows)).mark_text(fontSize=13, color=INK).encode(x=_across(), y=_up(), text="name:N")


def _across() -> Any:
    return alt.X("x:Q", scale=alt.Scale(domain=[-1.3, 1.3], nice=False), axis=None)


def _up() -> Any:
    return alt.Y("y:Q", scale=alt.Scale(domain=[-1.3, 1.3], nice=False), axis=None)


def _sized(layers: Any, title: str) -> Any:
    heading = alt.TitleParams(title, fontSize=14, fontWeight="normal", anchor="middle")
    return layers.properties(width=SIDE, height=SIDE, title=heading, view=alt.ViewBackground(stroke=FAINT))
