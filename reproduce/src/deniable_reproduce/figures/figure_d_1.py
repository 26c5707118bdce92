"""Figure D.1: the exponential mechanism at (0, 0) on 4 x 4 and on 11 x 11 points of the same square."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from deniable.charts import SHADES, inline, themed
from deniable.core import Points, make_mechanism
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import significant

SIDES = (4, 11)
EPSILON = 4


def compute(run: Run) -> Result:
    """Probabilities of every point from integer weights, with the published scale."""
    grids = {}
    for side in SIDES:
        steps = [f"{i}/{side - 1}" for i in range(side)]
        points = [(x, y) for y in steps for x in steps]
        mechanism = make_mechanism("exponential-cells", domain=Points(points), epsilon=EPSILON, calibrate="published")
        row, total = list(mechanism.channel.row(0)), mechanism.channel.total
        chances = [weight / total for weight in row]
        grids[str(side)] = {
            "rows": [
                {"x": i % side / (side - 1), "y": i // side / (side - 1), "probability": significant(chance, 5)}
                for i, chance in enumerate(chances)
            ],
            "truth": significant(chances[0], 6),
            "evenness": significant(-sum(c * math.log(c) for c in chances) / math.log(len(chances)), 6),
            "expected error": significant(
                float(np.dot(chances, [math.hypot(i % side, i // side) / (side - 1) for i in range(side * side)])), 6
            ),
        }
    return {"grids": grids}


def draw(result: Result) -> Mapping[str, Any]:
    """Points coloured and sized by their probability."""
    panels = []
    for side, grid in result["grids"].items():
        title = f"{side} × {side} points: the truth has {grid['truth']:.3f}"
        heading = alt.TitleParams(title, fontSize=14, fontWeight="normal", anchor="middle")
        scale = alt.Scale(domain=[-0.06, 1.06], nice=False)
        panels.append(
            alt.Chart(inline(grid["rows"]), title=heading)
            .mark_circle(opacity=1, stroke="#888888", strokeWidth=0.5)
            .encode(
                x=alt.X("x:Q", title="x", scale=scale, axis=alt.Axis(values=[0, 0.5, 1], grid=False)),
                y=alt.Y("y:Q", title="y", scale=scale, axis=alt.Axis(values=[0, 0.5, 1], grid=False)),
                size=alt.value(420 if int(side) < 6 else 130),
                color=alt.Color(
                    "probability:Q",
                    title="probability",
                    scale=alt.Scale(range=SHADES, interpolate="rgb", domainMin=0),
                    legend=alt.Legend(gradientLength=180, tickCount=4),
                ),
            )
            .properties(width=280, height=280)
        )
    whole = alt.hconcat(*panels, spacing=40).resolve_scale(color="independent")
    return {"probabilities": themed(whole, title="The exponential mechanism at (0, 0), ε = 4")}


ARTIFACT = Artifact(
    name="figure-d.1",
    title="The exponential mechanism on two discrete spaces",
    source="Dissertation, Figure D.1",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "with more points the probabilities become smaller and more uniform",
            "Appendix D.2.2",
            lambda r: (
                r["grids"]["11"]["truth"] < r["grids"]["4"]["truth"] / 4
                and r["grids"]["11"]["evenness"] >= r["grids"]["4"]["evenness"] - 0.01
            ),
            evidence=lambda r: {
                f"{what}, {side} × {side} points": grid[key]
                for side, grid in r["grids"].items()
                for what, key in (("probability of the truth", "truth"), ("evenness", "evenness"))
            },
        ),
    ),
    note="“evenness” is the entropy over its largest value.",
)
