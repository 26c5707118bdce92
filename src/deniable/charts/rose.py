"""Directions and hours of the day: bars around a circle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from deniable.charts.legend import TRUTH, TRUTH_COLOUR, series_colour, series_name
from deniable.charts.theme import COLOURS, FAINT, INK, inline, themed
from deniable.errors import InvalidParameter

RADIUS = 190
STEPS = 360
COMPASS = {"N": 0.0, "NE": 0.125, "E": 0.25, "SE": 0.375, "S": 0.5, "SW": 0.625, "W": 0.75, "NW": 0.875}
"""Marks around the circle, by how far around they are."""


def rose_chart(
    shares: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    truth: Sequence[float] | None = None,
    *,
    marks: Mapping[str, float],
    title: str,
    subtitle: str = "",
    level: float = 0.95,
) -> Any:
    """Bins of equal width around a circle, the first beginning at the top, clockwise; whiskers are intervals.

    `marks` are labels by how far around they stand (0.25 is a quarter). Areas would mislead, so the distance
    from the centre is the share. Negative estimates are at the centre.
    """
    if not len(shares) == len(intervals) == len(shares if truth is None else truth) or len(shares) < 2:
        raise InvalidParameter("shares, intervals and truth must have one length, at least two")
    most = max(*(high for _, high in intervals), *(truth or [0.0]), 1e-12)
    rings = _rings(most)
    top = 1.02 * most
    count, name = len(shares), series_name(level)
    colour = series_colour(level, truth is not None, COLOURS[4], offset=42)

    def at(share: float, turn: float) -> dict[str, float]:
        far = max(share, 0.0) / top
        return {"x": far * math.sin(2 * math.pi * turn), "y": far * math.cos(2 * math.pi * turn)}

    across, up = (alt.X("x:Q", scale=_SCALE, axis=None), alt.Y("y:Q", scale=_SCALE, axis=None))
    wedge = [
        {
            "begin": 2 * math.pi * i / count,
            "end": 2 * math.pi * (i + 1) / count,
            "far": max(float(share), 0.0) / top,
            "series": name,
        }
        for i, share in enumerate(shares)
    ]
    layers = [_circles(rings, top, across, up)]
    layers.append(
        alt.Chart(inline(wedge))
        .mark_arc(stroke="white", strokeWidth=1)
        .encode(
            theta=alt.Theta("begin:Q", scale=None),
            theta2="end:Q",
            radius=alt.Radius("far:Q", scale=alt.Scale(type="linear", domain=[0, 1], range=[0, RADIUS], zero=True, nice=False)),
            color=colour,
        )
    )
    ends = [{"low": at(low, (i + 0.5) / count), "high": at(high, (i + 0.5) / count)} for i, (low, high) in enumerate(intervals)]
    whiskers = [{"x": e["low"]["x"], "y": e["low"]["y"], "x2": e["high"]["x"], "y2": e["high"]["y"]} for e in ends]
    layers.append(alt.Chart(inline(whiskers)).mark_rule(strokeWidth=1.8, color=INK).encode(x=across, y=up, x2="x2:Q", y2="y2:Q"))
    if truth is not None:
        layers.append(_outline(list(truth), at, across, up, colour))
    layers += [_labels(marks, across, up), _ring_labels(rings, top, count, across, up)]
    return themed(alt.layer(*layers).properties(width=2 * RADIUS, height=2 * RADIUS), title=title, subtitle=subtitle)


_SCALE = alt.Scale(domain=[-1, 1], nice=False, zero=False)


def _rings(most: float) -> list[float]:
    """A few round shares, the last at or below the largest."""
    rough = most / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
    return [step * (i + 1) for i in range(int(most / step + 1e-9))]


def _circles(rings: list[float], top: float, across: Any, up: Any) -> Any:
    rows = [
        {
            "ring": ring,
            "step": i,
            "x": ring / top * math.sin(2 * math.pi * i / STEPS),
            "y": ring / top * math.cos(2 * math.pi * i / STEPS),
        }
        for ring in rings
        for i in range(STEPS + 1)
    ]
    return alt.Chart(inline(rows)).mark_line(strokeWidth=1, color=FAINT).encode(x=across, y=up, detail="ring:N", order="step:Q")


def _outline(truth: list[float], at: Any, across: Any, up: Any, colour: Any) -> Any:
    """The true shares as a stepped line once around."""
    rows: list[dict[str, Any]] = []
    count = len(truth)
    for i, share in enumerate(truth):
        pieces = max(2, STEPS // count)
        rows += [at(float(share), (i + j / pieces) / count) for j in range(pieces + 1)]
    rows.append(rows[0])
    numbered = [{**row, "step": i, "series": TRUTH} for i, row in enumerate(rows)]
    return (
        alt.Chart(inline(numbered))
        .mark_line(strokeWidth=2.5, color=TRUTH_COLOUR)
        .encode(x=across, y=up, order="step:Q", color=colour)
    )


def _labels(marks: Mapping[str, float], across: Any, up: Any) -> Any:
    rows = [
        {"text": text, "x": 1.12 * math.sin(2 * math.pi * turn), "y": 1.12 * math.cos(2 * math.pi * turn)}
        for text, turn in marks.items()
    ]
    return alt.Chart(inline(rows)).mark_text(fontSize=14, color=INK).encode(x=across, y=up, text="text:N")


def _ring_labels(rings: list[float], top: float, count: int, across: Any, up: Any) -> Any:
    """How large a share each ring is, on the line between two bins, a little to the right of the top."""
    turn = max(1, round(count / 16)) / count
    rows = [
        {
            "text": f"{100 * ring:g} %",
            "x": ring / top * math.sin(2 * math.pi * turn),
            "y": ring / top * math.cos(2 * math.pi * turn),
        }
        for ring in rings
    ]
    return alt.Chart(inline(rows)).mark_text(fontSize=11, color="#555555", stroke="white", strokeWidth=3, strokeOpacity=0.7).encode(
        x=across, y=up, text="text:N"
    ) + alt.Chart(inline(rows)).mark_text(fontSize=11, color="#444444").encode(x=across, y=up, text="text:N")
