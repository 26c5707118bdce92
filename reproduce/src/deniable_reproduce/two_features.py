"""The two-dimensional classifier of Figures 7.2 and 7.4: class 1 inside the unit circle, asked at (0.5, 0.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from deniable.charts import COLOURS, INK, inline, themed
from deniable.studies import Feature, GrownBox, Quadratic, QuadraticRegion, perturbations, product_law, proved_box
from deniable_reproduce.artifact import Run
from deniable_reproduce.tested_boxes import SampledBox, sampled_box

POINT = (0.5, 0.5)
CIRCLE = QuadraticRegion((Quadratic(-np.eye(2), np.zeros(2), 1.0),))
"""The released network was trained on this boundary; its own weights are in a released file that is not opened here."""
OMEGA, TAU = 0.05, 0.02


def same(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Is the answer that of (0.5, 0.5)?"""
    return np.asarray((rows**2).sum(axis=1) < 1)


def searched(run: Run) -> SampledBox:
    """The published procedure with its confidence shared among the tests: Hoeffding's sample size, bisection of the radius."""
    law = product_law(perturbations("ogpm", [Feature(), Feature()], 2), list(POINT))
    return sampled_box(
        same,
        law,
        list(POINT),
        tolerance=TAU,
        confidence=1 - OMEGA,
        rule="hoeffding",
        radius_steps=8,
        side_steps=4,
        keystream=run.keystream("two features"),
    )


def exact_radius() -> float:
    """The l-infinity distance to the circle: 1/sqrt(2) - 1/2."""
    return float(CIRCLE.radius(list(POINT)))


def beyond(radius: float) -> float:
    """The part of the square of this radius around the point that lies beyond the circle, by the midpoint rule."""
    ticks = POINT[0] + radius * (2 * (np.arange(2000) + 0.5) / 2000 - 1)
    return float(np.mean(ticks[:, None] ** 2 + ticks[None] ** 2 >= 1))


def proved() -> GrownBox:
    """A box in which no point lies outside the circle."""
    return proved_box(lambda box: math.hypot(*box.high) < 1, list(POINT), [0.0, 0.0], [1.0, 1.0])


def boundary_chart(boxes: Sequence[tuple[str, Sequence[float], Sequence[float]]], heading: str) -> Any:
    """The circle's arc, the point and named boxes; not themed, so that panels can stand side by side."""
    angles = np.linspace(0, math.pi / 2, 91).tolist()
    arc = [{"x": math.cos(t), "y": math.sin(t), "step": i} for i, t in enumerate(angles)]
    scale = alt.Scale(domain=[0, 1], nice=False)
    ticks = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], grid=False)
    axes = {
        "x": alt.X("x:Q", title="first feature", scale=scale, axis=ticks),
        "y": alt.Y("y:Q", title="second feature", scale=scale, axis=ticks),
    }
    names = [name for name, _, _ in boxes]
    rows = [{"box": name, "x": low[0], "x2": high[0], "y": low[1], "y2": high[1]} for name, low, high in boxes]
    frames = (
        alt.Chart(inline(rows))
        .mark_rect(filled=False, strokeWidth=2.4, strokeDash=[6, 4])
        .encode(
            x2="x2:Q",
            y2="y2:Q",
            stroke=alt.Stroke(
                "box:N",
                title=None,
                sort=names,
                scale=alt.Scale(domain=names, range=[COLOURS[2], "#888888", COLOURS[3]][: len(names)]),
                legend=alt.Legend(orient="bottom", symbolType="stroke", symbolSize=300, direction="vertical"),
            ),
            **axes,
        )
    )
    curve = alt.Chart(inline(arc)).mark_line(color=INK, strokeWidth=2).encode(order="step:Q", **axes)
    dot = alt.Chart(inline([{"x": POINT[0], "y": POINT[1]}])).mark_point(filled=True, size=90, color=COLOURS[1], opacity=1)
    title = alt.TitleParams(heading, fontSize=14, fontWeight="normal", anchor="middle", offset=8)
    return alt.layer(curve, frames, dot.encode(**axes)).properties(width=320, height=320, title=title)


def side_by_side(charts: Sequence[Any], title: str, subtitle: str) -> Any:
    """Panels with the common look."""
    whole = charts[0] if len(charts) == 1 else alt.hconcat(*charts, spacing=40).resolve_scale(stroke="independent")
    return themed(whole, title=title, subtitle=subtitle)
