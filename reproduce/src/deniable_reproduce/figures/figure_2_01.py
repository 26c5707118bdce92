"""Figure 2.1: randomized response and the Laplace mechanism at epsilon 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from deniable.charts import COLOURS, inline, themed
from deniable.core import Categories, make_mechanism
from deniable.estimators import pmf
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.pictures import Panel, curve, line_panel

ORDER = ["x = 0", "x = 1/2", "x = 1"]
EPSILON = 1


def compute(run: Run) -> Result:
    """The probabilities of randomized response from its integers; the Laplace density by its formula."""
    response = make_mechanism("randomized-response", epsilon=EPSILON)
    table = {value: pmf(response, value).tolist() for value in (0, 1)}
    bars = [
        {"answer": str(answer), "probability": table[value][answer], "series": name}
        for value, name in ((0, ORDER[0]), (1, ORDER[2]))
        for answer in (0, 1)
    ]
    places = np.linspace(-4, 5, 361)
    noise = []
    for value, name in zip((0.0, 0.5, 1.0), ORDER, strict=True):
        noise += curve(places, EPSILON / 2 * np.exp(-EPSILON * np.abs(places - value)), name)
    hundred = make_mechanism("k-rr", domain=Categories(100), epsilon=EPSILON)
    numbers = {
        "p of randomized response": table[0][0],
        "largest ratio of randomized response": table[0][0] / table[1][0],
        "ln of the largest ratio of the Laplace mechanism": make_mechanism("laplace", epsilon=EPSILON).certificate().epsilon_exact,
        "truth among 2 values": table[0][0],
        "truth among 100 values": float(pmf(hundred, hundred.domain.decode(0))[0]),
    }
    return {"numbers": numbers, "bars": bars, "noise": noise}


def draw(result: Result) -> Mapping[str, Any]:
    """Answers on the left, noisy numbers on the right."""
    colour = alt.Color("series:N", title=None, sort=ORDER, scale=alt.Scale(domain=ORDER, range=COLOURS[:3]))
    bars = (
        alt.Chart(inline(result["bars"]))
        .mark_bar()
        .encode(
            x=alt.X("answer:N", title="answer y", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("series:N"),
            y=alt.Y("probability:Q", title="probability", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5)),
            color=colour,
        )
        .properties(width=260, height=260, title=alt.TitleParams("randomized response", fontSize=14, fontWeight="normal"))
    )
    noise = line_panel(Panel(result["noise"], title="Laplace mechanism", x="answer y", y="probability density"), ORDER)
    whole = alt.hconcat(bars, noise, spacing=34).resolve_scale(color="shared")
    return {"laws": themed(whole, title="Two classical mechanisms at ε = 1", subtitle="colour: the private value")}


ARTIFACT = Artifact(
    name="figure-2.1",
    title="Randomized response and the Laplace mechanism at ε = 1",
    source="Dissertation, Figure 2.1",
    compute=compute,
    draw=draw,
    published=(
        Published("p of randomized response", math.e / (1 + math.e), 1e-6, "Section 2.1, e/(e + 1)"),
        Published("largest ratio of randomized response", math.e, 1e-5, "Section 2.1, e^ε"),
        Published("ln of the largest ratio of the Laplace mechanism", 1.0, 1e-6, "Section 2.1, ε"),
    ),
    claims=(
        Claim(
            "ε = 1 leaks noticeably among 2 values (truth in 73 % of the answers) and little among 100 (2.7 %)",
            "Section 2.1",
            lambda result: result["numbers"]["truth among 2 values"] > 0.7 and result["numbers"]["truth among 100 values"] < 0.03,
        ),
    ),
)
