"""What a reported place looks like, on a map, for one private place."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from deniable._results import counted
from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.charts.trajectories import SHADES, frame
from deniable.core import Mechanism, Sphere
from deniable.estimators import pmf

MOST_OUTPUTS = 1 << 13
DRAWN = 100_000
BINS = 48
WALKS = 3
PRIVATE = "private path"


def place_chart(mechanism: Mechanism, place: Any) -> Any:
    """How likely reports are across the map when the private place is the cross.

    Exact where the reports can be listed; else from simulated reports, which the subtitle says.
    """
    listed = mechanism.channel.outputs <= MOST_OUTPUTS
    if listed:
        chances = pmf(mechanism, place)
        spots = np.array([mechanism.decode(output) for output in range(mechanism.channel.outputs)], np.float64)
        how = "the probability of each reported place, exactly"
    else:
        spots = np.asarray(mechanism.randomize_many([place] * DRAWN).values(), np.float64)
        chances = np.full(len(spots), 1 / len(spots))
        how = f"the share of {DRAWN:,} simulated reports in each cell"
    cells = _cells(spots, chances, exact=listed)
    cross = [{"x": float(place[0]), "y": float(place[1])}]
    title = f"{mechanism.name} at ε = {mechanism.privacy}"
    subtitle = f"{how}; the cross is the private place"
    if cells is None:
        return themed(_dots(spots, chances, cross), title=title, subtitle=subtitle)
    corners = np.array([[(row["left"], row["lower"]), (row["right"], row["upper"])] for row in cells]).reshape(-1, 2)
    across, up, width, height = frame(corners)
    names = ("longitude", "latitude") if isinstance(mechanism.domain, Sphere) else ("x", "y")
    heat = (
        alt.Chart(inline(cells))
        .mark_rect()
        .encode(
            x=alt.X("left:Q", title=names[0], scale=across, axis=alt.Axis(tickCount=5, grid=False)),
            x2="right:Q",
            y=alt.Y("lower:Q", title=names[1], scale=up, axis=alt.Axis(tickCount=5, grid=False)),
            y2="upper:Q",
            color=_colour(),
        )
    )
    picture = alt.layer(heat, _cross(cross)).properties(width=width, height=height)
    return themed(picture, title=title, subtitle=subtitle)


def walk_chart(mechanism: Any, path: Any) -> Any:
    """One path and what a few reports of it look like; a dot marks where each begins."""
    walks = {PRIVATE: path}
    walks |= {f"report {i + 1}": mechanism.decode(mechanism.randomize(path).output) for i in range(WALKS)}
    rows = [
        {"x": float(x), "y": float(y), "step": step, "path": name}
        for name, places in walks.items()
        for step, (x, y) in enumerate(places)
    ]
    space: Any = mechanism.domain.space
    corners = np.array([space.decode(0), space.decode(space.size - 1)], np.float64)
    drawn = np.array([[row["x"], row["y"]] for row in rows])
    across, up, width, height = frame(np.concatenate([corners, drawn]), 12)
    names = list(walks)
    common: dict[str, Any] = {
        "x": alt.X("x:Q", title="x", scale=across, axis=alt.Axis(tickCount=5)),
        "y": alt.Y("y:Q", title="y", scale=up, axis=alt.Axis(tickCount=5)),
        "color": alt.Color(
            "path:N",
            title=None,
            sort=names,
            scale=alt.Scale(domain=names, range=[INK, *COLOURS[:WALKS]]),
            legend=alt.Legend(symbolType="stroke", symbolSize=300),
        ),
    }
    base = alt.Chart(inline(rows)).encode(**common)
    lines = [
        base.transform_filter(f"datum.path {same} '{PRIVATE}'")
        .mark_line(strokeWidth=wide, strokeDash=dash, strokeJoin="round")
        .encode(order="step:Q")
        for same, wide, dash in (("!==", 2, [5, 4]), ("===", 3.5, [1, 0]))
    ]
    starts = base.transform_filter("datum.step === 0").mark_point(filled=True, size=90, opacity=1)
    each = f"{mechanism.step.name} at ε = {mechanism.step.privacy} for each of {counted(len(path), 'place')}"
    return themed(
        alt.layer(*lines, starts).properties(width=width, height=height),
        title=f"{mechanism.name} at ε = {mechanism.privacy}",
        subtitle=f"one private path and {WALKS} reports of it: {each}; a dot marks the start",
    )


def _cells(spots: Any, chances: Any, *, exact: bool) -> list[dict[str, float]] | None:
    """Rectangles with their share: the mechanism's own cells where they are a grid, else equal ones; None for loose places."""
    if exact:
        columns, rows = (np.unique(spots[:, axis].round(9)) for axis in (0, 1))
        if min(len(columns), len(rows)) < 2 or len(columns) * len(rows) > 1.5 * len(spots):
            return None
        edges = [_edges(columns), _edges(rows)]
    else:
        low, high = np.quantile(spots, 0.0005, axis=0), np.quantile(spots, 0.9995, axis=0)
        edges = [np.linspace(low[axis], max(high[axis], low[axis] + 1e-9), BINS + 1) for axis in (0, 1)]
    shares = np.histogram2d(spots[:, 0], spots[:, 1], bins=edges, weights=chances)[0]
    return [
        {"left": left, "right": right, "lower": lower, "upper": upper, "share": float(shares[i, j])}
        for i, (left, right) in enumerate(zip(edges[0][:-1].tolist(), edges[0][1:].tolist(), strict=True))
        for j, (lower, upper) in enumerate(zip(edges[1][:-1].tolist(), edges[1][1:].tolist(), strict=True))
    ]


def _edges(middles: Any) -> Any:
    between = (middles[:-1] + middles[1:]) / 2
    return np.concatenate([[middles[0] - (between[0] - middles[0])], between, [middles[-1] + (middles[-1] - between[-1])]])


def _dots(spots: Any, chances: Any, cross: list[dict[str, float]]) -> Any:
    across, up, width, height = frame(spots, margin=16)
    rows = [{"x": x, "y": y, "share": share} for (x, y), share in zip(spots.tolist(), np.asarray(chances).tolist(), strict=True)]
    dots = (
        alt.Chart(inline(rows))
        .mark_point(filled=True, size=170, opacity=1, stroke="#999999", strokeWidth=0.5)
        .encode(
            x=alt.X("x:Q", title="x", scale=across, axis=alt.Axis(tickCount=5)),
            y=alt.Y("y:Q", title="y", scale=up, axis=alt.Axis(tickCount=5)),
            color=_colour(),
        )
    )
    return alt.layer(dots, _cross(cross)).properties(width=width, height=height)


def _colour() -> Any:
    return alt.Color(
        "share:Q",
        title="probability",
        scale=alt.Scale(type="sqrt", range=SHADES, interpolate="rgb", domainMin=0),
        legend=alt.Legend(format=".2~%", gradientLength=200, tickCount=4, titlePadding=10),
    )


def _cross(cross: list[dict[str, float]]) -> Any:
    return (
        alt.Chart(inline(cross))
        .mark_point(shape="cross", size=160, color=COLOURS[1], filled=True, opacity=1)
        .encode(x="x:Q", y="y:Q")
    )
