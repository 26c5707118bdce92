"""Figure D.2: TraCS-C at (0, 0), a density over the whole square."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts import SHADES, inline, themed
from deniable.core import TraCSC, TwoLevel
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import significant
from deniable_reproduce.walks import rectangle

EPSILON = 4


def compute(run: Run) -> Result:
    """Pieces of the square with their density and probability, from the weights of one axis."""
    channel = TraCSC(domain=rectangle(1, 1), epsilon=EPSILON, loss_exponent=1).parts["x"].channel
    assert isinstance(channel, TwoLevel)
    cut = channel.sets.members / channel.outputs
    chance = channel.sets.members * channel.high / channel.total
    sides = ((0.0, cut, chance), (cut, 1.0, 1 - chance))
    pieces = [
        {
            "x": significant(left),
            "x2": significant(right),
            "y": significant(low),
            "y2": significant(high),
            "probability": significant(across * up),
            "density": significant(across * up / ((right - left) * (high - low))),
        }
        for left, right, across in sides
        for low, high, up in sides
    ]
    return {"pieces": pieces, "ratio": significant(pieces[0]["density"] / pieces[-1]["density"], 6)}


def draw(result: Result) -> Mapping[str, Any]:
    """The four pieces, each with its probability."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    ticks = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], grid=False)
    base = alt.Chart(inline(result["pieces"]))
    area = base.mark_rect(stroke="#888888").encode(
        x=alt.X("x:Q", title="x", scale=scale, axis=ticks),
        y=alt.Y("y:Q", title="y", scale=scale, axis=ticks),
        x2="x2:Q",
        y2="y2:Q",
        color=alt.Color("density:Q", title="density", scale=alt.Scale(type="log", range=SHADES, interpolate="rgb")),
    )
    middles = [
        {"x": (p["x"] + p["x2"]) / 2, "y": (p["y"] + p["y2"]) / 2, "text": f"{p['probability']:.3f}", "dark": p["density"] > 4}
        for p in result["pieces"]
    ]
    text = (
        alt.Chart(inline(middles))
        .mark_text(fontSize=14)
        .encode(
            x=alt.X("x:Q", scale=scale),
            y=alt.Y("y:Q", scale=scale),
            text="text:N",
            color=alt.condition("datum.dark", alt.value("white"), alt.value("#222222")),
        )
    )
    whole = alt.layer(area, text).properties(width=340, height=340)
    return {"density": themed(whole, title="TraCS-C at (0, 0), ε = 4", subtitle="numbers are the probabilities of the pieces")}


ARTIFACT = Artifact(
    name="figure-d.2",
    title="TraCS-C over the square that holds both discrete spaces",
    source="Dissertation, Figure D.2",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "no density exceeds e^ε times another",
            "Theorem 14",
            lambda r: r["ratio"] <= math.exp(EPSILON) * (1 + 1e-6),
            evidence=lambda r: {"largest ratio of two densities": r["ratio"], "e^ε": math.exp(EPSILON)},
        ),
        Claim(
            "the probabilities of the four pieces add up to 1",
            "Figure D.2",
            lambda r: abs(sum(p["probability"] for p in r["pieces"]) - 1) < 1e-5,
            evidence=lambda r: {"sum of the probabilities": sum(p["probability"] for p in r["pieces"])},
        ),
    ),
)
