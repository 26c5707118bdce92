"""What a reported direction looks like, around a circle, for several private ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from deniable.charts.density import edges, promise
from deniable.charts.theme import COLOURS, FAINT, INK, inline, themed
from deniable.core import Circle, Mechanism
from deniable.estimators import density

RADIUS = 190
BINS, MOST_BINS = 720, 4096
FINE = 720
"""Corners of a whole circle."""
MARKS = 8


def turn_chart(mechanism: Mechanism, values: Sequence[Any]) -> Any:
    """The density around the circle, 0 at the top and clockwise; the distance from the centre is the density."""
    domain = mechanism.domain
    assert isinstance(domain, Circle)
    period, low = float(domain.period), float(domain.low)
    # One bin for each output where that is possible: bins with now one, now two of them would look like stripes.
    bins = mechanism.channel.outputs if mechanism.channel.outputs <= MOST_BINS else BINS
    curves = [density(mechanism, value, bins) for value in values]
    top = 1.04 * max(float(curve.heights.max()) for curve in curves)
    names = [_name(float(value), period) for value in values]
    scale = alt.Scale(domain=[-1.2, 1.2], nice=False, zero=False)
    across, up = alt.X("x:Q", scale=scale, axis=None), alt.Y("y:Q", scale=scale, axis=None)
    colour = alt.Color("value:N", title="private value", sort=names, scale=alt.Scale(domain=names, range=COLOURS[: len(names)]))
    even = 1 / period
    rings = [{"ring": str(i), **row} for i, radius in enumerate((even / top, 1.0)) for row in _circle(radius)]
    lines, dots = [], []
    for name, value, curve in zip(names, values, curves, strict=True):
        turns = ((curve.values - low) / period).tolist()
        stepped = list(_arcs(turns, (curve.heights / top).tolist()))
        lines += [{**_at(turn, far), "step": i, "value": name} for i, (turn, far) in enumerate(stepped)]
        dots.append({**_at((float(value) - low) / period, 1.0), "value": name})
    labels = [{**_at(i / MARKS, 1.13), "text": _name(low + period * i / MARKS, period)} for i in range(MARKS)]
    layers = [
        alt.Chart(inline(rings)).mark_line(strokeWidth=1.2, color=FAINT).encode(x=across, y=up, detail="ring:N", order="step:Q"),
        alt.Chart(inline(lines))
        .mark_line(strokeWidth=2.5, opacity=0.9)
        .encode(x=across, y=up, order="step:Q", color=colour, detail="value:N"),
        alt.Chart(inline(dots)).mark_point(filled=True, size=90, opacity=1).encode(x=across, y=up, color=colour),
        alt.Chart(inline(labels)).mark_text(fontSize=13, color=INK).encode(x=across, y=up, text="text:N"),
    ]
    picture = alt.layer(*layers).properties(width=2.4 * RADIUS, height=2.4 * RADIUS)
    how = "distance from the centre: probability density; inner ring: every direction equally likely; dots: the private values"
    return themed(picture, title=f"{mechanism.name} at ε = {mechanism.privacy}", subtitle=f"{promise(mechanism)}\n{how}")


def _arcs(turns: list[float], heights: list[float]) -> Iterator[tuple[float, float]]:
    """Along the curve and back to its beginning: around between its edges, straight at them."""
    changes = list(edges(turns, heights))
    for (start, height), (end, _) in pairwise(changes):
        parts = max(1, math.ceil((end - start) * FINE))
        yield from ((start + (end - start) * i / parts, height) for i in range(parts + 1))
    yield changes[0]


def _at(turn: float, far: float) -> dict[str, float]:
    return {"x": far * math.sin(2 * math.pi * turn), "y": far * math.cos(2 * math.pi * turn)}


def _circle(radius: float) -> list[dict[str, float]]:
    return [{**_at(i / 180, radius), "step": i} for i in range(181)]


def _name(value: float, period: float) -> str:
    """A direction in degrees where the circle is measured in radians, else in its own unit."""
    if math.isclose(period, 2 * math.pi, rel_tol=1e-6):
        return f"{math.degrees(value):.4g}°"
    return f"{value:.4g}"
