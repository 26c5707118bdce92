"""Figure D.6: TraCS-D in a circular region, fifty reports of one place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from deniable.charts import COLOURS, inline, themed
from deniable.core import Disc, TraCSDDisc, make_mechanism
from deniable.studies import Paths, perturb
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run
from deniable_reproduce.pictures import significant

EPSILON, PLACE = 5, (-0.5, 0.0)
TEXT = "Appendix D.2.7"


def compute(run: Run) -> Result:
    """The dominant area from integer weights, and reports from recorded randomness."""
    mechanism = make_mechanism("tracs-d-disc", domain=Disc((0, 0), 1, cells=256), epsilon=EPSILON, split="published")
    assert isinstance(mechanism, TraCSDDisc)
    direction, distance = mechanism.windows
    turn, reach = direction.sets.members / direction.outputs, distance.sets.members / distance.outputs
    chance = math.prod(part.sets.members * part.high / part.total for part in (direction, distance))
    many = Paths(np.tile(PLACE, (2000, 1)), np.array([0, 2000]))
    reports = perturb(many, mechanism, keystream=run.keystream("figure D.6")).places
    radius, angle = np.hypot(*reports.T), np.abs(np.arctan2(reports[:, 1], reports[:, 0])) / math.pi
    inside = (np.abs(radius - 0.5) <= reach / 2) & (angle >= 1 - turn)
    numbers = {
        "area begins at, in π": 1 - turn,
        "area ends at, in π": 1 + turn,
        "area begins at radius": 0.5 - reach / 2,
        "area ends at radius": 0.5 + reach / 2,
    }
    return {
        "numbers": {name: significant(value, 6) for name, value in numbers.items()},
        "reports": [[significant(x, 5), significant(y, 5)] for x, y in reports[:50].tolist()],
        "probability": significant(chance, 6),
        "share inside": significant(float(inside.mean()), 5),
    }


def draw(result: Result) -> Mapping[str, Any]:
    """The disc, the dominant area, the true place and fifty reports."""
    numbers = result["numbers"]
    low, high = numbers["area begins at radius"], numbers["area ends at radius"]
    begin, end = numbers["area begins at, in π"] * math.pi, numbers["area ends at, in π"] * math.pi
    angles = np.linspace(begin, end, 60).tolist()
    outline = [(high * math.cos(t), high * math.sin(t)) for t in angles] + [
        (low * math.cos(t), low * math.sin(t)) for t in angles[::-1]
    ]
    outline.append(outline[0])
    ring = [(math.cos(t), math.sin(t)) for t in np.linspace(0, 2 * math.pi, 181).tolist()]
    scale = alt.Scale(domain=[-1.05, 1.05], nice=False)
    ticks = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], grid=False)
    axes = {"x": alt.X("x:Q", title="x", scale=scale, axis=ticks), "y": alt.Y("y:Q", title="y", scale=scale, axis=ticks)}

    def line(points: list[tuple[float, float]], colour: str, **style: Any) -> Any:
        rows = [{"x": x, "y": y, "step": i} for i, (x, y) in enumerate(points)]
        return alt.Chart(inline(rows)).mark_line(color=colour, **style).encode(order="step:Q", **axes)

    kinds = ["report", "true place"]
    dots = [{"x": x, "y": y, "kind": kinds[0]} for x, y in result["reports"]] + [{"x": PLACE[0], "y": PLACE[1], "kind": kinds[1]}]
    marks = (
        alt.Chart(inline(dots))
        .mark_point(filled=True, opacity=0.85)
        .encode(
            color=alt.Color("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=COLOURS[:2])),
            size=alt.Size("kind:N", legend=None, scale=alt.Scale(domain=kinds, range=[40, 160])),
            **axes,
        )
    )
    whole = alt.layer(line(ring, "#888888"), line(outline, COLOURS[2], strokeWidth=2.5), marks).properties(width=380, height=380)
    probability = f"the outlined area has probability {result['probability']:.2f}"
    return {"reports": themed(whole, title="Fifty reports of one place in a disc, ε = 5", subtitle=probability)}


ARTIFACT = Artifact(
    name="figure-d.6",
    title="Samples of TraCS-D in a circular area",
    source="Dissertation, Figure D.6",
    compute=compute,
    draw=draw,
    published=(
        Published("area begins at, in π", 0.87, 0.005, TEXT),
        Published("area ends at, in π", 1.13, 0.005, TEXT),
        Published("area begins at radius", 0.32, 0.005, TEXT),
        Published("area ends at radius", 0.67, 0.01, f"{TEXT} (0.677, cut after two decimals)"),
    ),
    claims=(
        Claim(
            "reports gather in the dominant area, as often as its probability says (five standard errors)",
            TEXT,
            lambda r: abs(r["share inside"] - r["probability"]) < 5 * math.sqrt(0.25 / 2000),
        ),
    ),
)
