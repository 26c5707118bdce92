"""Figure 6.2: the dominant sector of the strawman and of TraCS-D, at epsilon 4 and 6."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts import COLOURS, FAINT, INK, inline, themed
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import significant
from deniable_reproduce.sectors import dominant, response, window

DIRECTION = math.pi / 6
RADIUS = 100
SECTORS = 6


def compute(run: Run) -> Result:
    """Sectors in radians from the positive x-axis, with their probabilities, from integer weights."""
    rows = []
    for epsilon in (4, 6):
        straw, ours = dominant(response(epsilon, SECTORS)), dominant(window(epsilon))
        start = math.floor(DIRECTION / straw.width) * straw.width
        for name, one, begin in (("strawman (k = 6)", straw, start), ("TraCS-D", ours, DIRECTION - ours.width / 2)):
            rows.append(
                {
                    "mechanism": name,
                    "epsilon": epsilon,
                    "begin": significant(begin),
                    "end": significant(begin + one.width),
                    "degrees": significant(math.degrees(one.width), 5),
                    "probability": significant(one.probability, 6),
                }
            )
    return {"rows": rows, "direction": DIRECTION}


def draw(result: Result) -> Mapping[str, Any]:
    """A circle per mechanism and epsilon: the dominant sector, its width and its probability."""
    panels = [_circle(row, result["direction"]) for row in result["rows"]]
    whole = alt.concat(*panels, columns=2, spacing=30)
    return {"sectors": themed(whole, title="Dominant sectors around the direction π/6", subtitle="the line is the true direction")}


def _circle(row: Mapping[str, Any], direction: float) -> Any:
    # Vega measures angles clockwise from the top.
    sector = [{"from": math.pi / 2 - row["end"], "to": math.pi / 2 - row["begin"]}]
    ring = alt.Chart(inline([{"from": 0, "to": 2 * math.pi}])).mark_arc(
        outerRadius=RADIUS, fill="white", stroke=FAINT, strokeWidth=2
    )
    wedge = alt.Chart(inline(sector)).mark_arc(outerRadius=RADIUS, color=COLOURS[1], opacity=0.75)
    far = 1.12
    line = [{"x": 0, "y": 0, "x2": far * math.cos(direction), "y2": far * math.sin(direction)}]
    scale = alt.Scale(domain=[-1.25, 1.25], nice=False)
    side = round(2.5 * RADIUS)
    arrow = (
        alt.Chart(inline(line))
        .mark_rule(color=INK, strokeWidth=2)
        .encode(
            x=alt.X("x:Q", scale=scale, axis=None),
            y=alt.Y("y:Q", scale=scale, axis=None),
            x2="x2:Q",
            y2="y2:Q",
        )
    )
    turns = {"theta": alt.Theta("from:Q", scale=None), "theta2": "to:Q"}
    heading = alt.TitleParams(
        f"{row['mechanism']}, ε = {row['epsilon']}",
        subtitle=[f"{row['degrees']:.0f}° wide, probability {row['probability']:.2f}"],
        fontSize=14,
        fontWeight="normal",
        anchor="middle",
    )
    return alt.layer(ring.encode(**turns), wedge.encode(**turns), arrow).properties(width=side, height=side, title=heading)


def _of(result: Result, mechanism: str, epsilon: int) -> Mapping[str, Any]:
    return next(row for row in result["rows"] if row["mechanism"] == mechanism and row["epsilon"] == epsilon)


ARTIFACT = Artifact(
    name="figure-6.2",
    title="Dominant sectors of the strawman approach and TraCS-D",
    source="Dissertation, Figure 6.2",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "the dominant sector of TraCS-D narrows as ε increases; that of the strawman does not",
            "Figure 6.2",
            lambda r: (
                _of(r, "TraCS-D", 6)["degrees"] < _of(r, "TraCS-D", 4)["degrees"]
                and _of(r, "strawman (k = 6)", 6)["degrees"] == _of(r, "strawman (k = 6)", 4)["degrees"]
            ),
        ),
    ),
    note="The numbers of the text are in example-10.",
)
