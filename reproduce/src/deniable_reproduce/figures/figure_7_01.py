"""Figure 7.1: one feature, one interval, and Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from deniable.charts import COLOURS, inline, themed
from deniable.studies import concentration
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named, other_roundings
from deniable_reproduce.pictures import significant
from deniable_reproduce.published_concentration import published, published_smallest_epsilon

X, THETA, EPSILON, TARGET = 0.5, 0.3, 2, 0.8
TEXT = "Section 7.2.1"


def compute(run: Run) -> Result:
    """The noise's density at epsilon 2, and the probability of [0.2, 0.8] over epsilon, by formula and by the lattice that runs."""
    places = np.linspace(-1, 2, 241).tolist()
    density = [{"y": significant(y), "density": significant(EPSILON / 2 * math.exp(-EPSILON * abs(y - X)))} for y in places]
    curve = [
        {"epsilon": e / 4, "probability": significant(published("laplace", e / 4, X, X - THETA, X + THETA))} for e in range(1, 41)
    ]
    return {
        "density": density,
        "curve": curve,
        "numbers": {
            "Pr[M in B] at ε = 2": significant(published("laplace", EPSILON, X, X - THETA, X + THETA), 8),
            "smallest ε for 0.8": significant(published_smallest_epsilon("laplace", TARGET, X, THETA), 8),
            "smallest ε for 0.79": significant(published_smallest_epsilon("laplace", 0.79, X, THETA), 8),
            "Pr[M in B] at ε = 5.2": significant(published("laplace", 5.2, X, X - THETA, X + THETA), 8),
            "on the lattice that runs": significant(concentration("laplace", EPSILON, X, THETA), 8),
        },
    }


def draw(result: Result) -> Mapping[str, Any]:
    """The density with the interval shaded; the probability over epsilon with the target."""
    inside = [row for row in result["density"] if X - THETA - 1e-9 <= row["y"] <= X + THETA + 1e-9]
    y = alt.Y("density:Q", title="density", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    x = alt.X("y:Q", title="report", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=7))
    shade = alt.Chart(inline(inside)).mark_area(color=COLOURS[0], opacity=0.25).encode(x=x, y=y)
    line = alt.Chart(inline(result["density"])).mark_line(color=COLOURS[0], strokeWidth=2.4).encode(x=x, y=y)
    chance = result["numbers"]["Pr[M in B] at ε = 2"]
    left = alt.layer(shade, line).properties(
        width=330, height=250, title=_heading(f"ε = 2: [0.2, 0.8] has probability {chance:.3f}")
    )
    scale = alt.Scale(domain=[0, 1])
    across = alt.X("epsilon:Q", title="ε", scale=alt.Scale(domain=[0, 10], nice=False), axis=alt.Axis(tickCount=6))
    up = alt.Y("probability:Q", title="probability of the same answer", scale=scale, axis=alt.Axis(tickCount=6))
    rise = alt.Chart(inline(result["curve"])).mark_line(color=COLOURS[0], strokeWidth=2.4).encode(x=across, y=up)
    needed = result["numbers"]["smallest ε for 0.8"]
    marks = [{"epsilon": needed, "probability": TARGET}]
    dot = alt.Chart(inline(marks)).mark_point(filled=True, size=110, color=COLOURS[1], opacity=1).encode(x=across, y=up)
    rule = alt.Chart(inline(marks)).mark_rule(strokeDash=[5, 4], color=COLOURS[1]).encode(y=up)
    right = alt.layer(rule, rise, dot).properties(width=330, height=250, title=_heading(f"0.8 is reached at ε = {needed:.3f}"))
    whole = alt.hconcat(left, right, spacing=40)
    return {"example": themed(whole, title="Laplace noise and a classifier that is robust on [0.2, 0.8]", subtitle="at x = 0.5")}


def _heading(text: str) -> Any:
    return alt.TitleParams(text, fontSize=14, fontWeight="normal", anchor="middle", offset=8)


ARTIFACT = Artifact(
    name="figure-7.1",
    title="The framework on one feature",
    source="Dissertation, Figure 7.1",
    compute=compute,
    draw=draw,
    published=(
        Published(
            "Pr[M in B] at ε = 2",
            0.46,
            0.005,
            TEXT,
            "1 − e^(−0.6) = 0.4512, which is 0.45 when rounded to the nearest.",
            variants=other_roundings("Pr[M in B] at ε = 2"),
            given=(-0.6,),
        ),
        Published(
            "smallest ε for 0.8",
            5.2,
            0.05,
            TEXT,
            "The text's own formula 1 − e^(−0.3 ε) = 0.8 gives ε = 5.365; at 5.2 it is 0.790. "
            "tests/studies/classifiers/test_case_studies.py::test_the_one_dimensional_example_runs shows it.",
            variants=named("smallest ε for 0.79"),
            evidence=named("Pr[M in B] at ε = 5.2"),
            given=(-0.3, 0.8),
        ),
    ),
    claims=(
        Claim(
            "the mechanism that runs has the probability of the formula, to a thousandth",
            "this project",
            lambda r: abs(r["numbers"]["on the lattice that runs"] - r["numbers"]["Pr[M in B] at ε = 2"]) < 1e-3,
        ),
    ),
)
