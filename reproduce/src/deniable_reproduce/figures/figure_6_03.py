"""Figure 6.3: how far the border is from a reference, and where the printed cases of it break."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from deniable.charts import COLOURS, INK, inline, themed
from deniable.core import RectangleView
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.pictures import significant

CELLS, SCALE = 50, 1 << 50
INSIDE = ((0.3, 0.4), (0.5, 0.5), (0.9, 0.1))
EDGES = ((1.0, 0.4), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
ANGLES = [k * math.pi / 4 for k in range(8)] + [(k + 0.5) * math.pi / 13 for k in range(26)]
CASES = {"a": (0.3, 0.4, math.pi / 12), "b": (0.3, 0.4, math.pi / 2.4)}


def slab(a: float, b: float, angle: float) -> float:
    """The distance by the rule TraCS-D runs on: the nearest border among those the direction meets, by integers."""
    view = RectangleView(CELLS, CELLS, (round(2 * CELLS * a), round(2 * CELLS * b)))
    across, up = round(SCALE * math.cos(angle)), round(SCALE * math.sin(angle))
    length, along = view.border(across, up)
    return length / along * math.hypot(across, up) / (2 * CELLS)


def printed(a: float, b: float, angle: float) -> float:
    """The four cases of D.2.5 on the unit square; not a number where they divide by zero."""
    first, second, third, fourth = (math.atan2(y - b, x - a) for x, y in ((1, 1), (0, 1), (0, 0), (1, 0)))
    third, fourth = third + 2 * math.pi, fourth + 2 * math.pi
    cosine, sine = math.cos(angle), math.sin(angle)
    if angle < first or angle >= fourth:
        length, part = 1 - a, cosine
    elif angle < second:
        length, part = 1 - b, sine
    else:
        length, part = (a, -cosine) if angle < third else (b, -sine)
    return length / part if part else math.nan


def mismatches(a: float, b: float) -> int:
    """In how many of 34 directions the two disagree."""
    return sum(not abs(printed(a, b, angle) - slab(a, b, angle)) <= 1e-9 for angle in ANGLES)


def compute(run: Run) -> Result:
    """Both pictured cases, and where printed and true distances disagree."""
    lines = {}
    for case, (a, b, angle) in CASES.items():
        far = slab(a, b, angle)
        end = (a + far * math.cos(angle), b + far * math.sin(angle))
        lines[case] = {"a": a, "b": b, "distance": significant(far), "end": [significant(part) for part in end]}
    wrong = {f"{a:g}, {b:g}": mismatches(a, b) for a, b in (*INSIDE, *EDGES)}
    return {"lines": lines, "disagree": wrong, "directions": len(ANGLES)}


def draw(result: Result) -> Mapping[str, Any]:
    """The region, the reference, and the way to the border."""
    titles = {"a": "(a) right border: (a_end − a)/cos φ", "b": "(b) upper border: (b_end − b)/sin φ"}
    return {
        "cases": themed(
            alt.concat(*(_case(line, titles[case]) for case, line in result["lines"].items()), columns=2, spacing=40),
            title="The distance from a reference to the border",
        )
    }


def _case(line: Mapping[str, Any], title: str) -> Any:
    scale = alt.Scale(domain=[-0.04, 1.04], nice=False)
    ticks = alt.Axis(values=[0, 0.5, 1], grid=False)
    x, y = alt.X("x:Q", title="a", scale=scale, axis=ticks), alt.Y("y:Q", title="b", scale=scale, axis=ticks)
    square = alt.Chart(inline([{"x": 0, "y": 0, "x2": 1, "y2": 1}])).mark_rect(fillOpacity=0, stroke=INK)
    way = [{"x": line["a"], "y": line["b"], "x2": line["end"][0], "y2": line["end"][1]}]
    rule = alt.Chart(inline(way)).mark_rule(color=COLOURS[0], strokeWidth=3)
    dot = alt.Chart(inline([{"x": line["a"], "y": line["b"]}])).mark_point(filled=True, size=110, color=COLOURS[1], opacity=1)
    middle = [{"x": (line["a"] + line["end"][0]) / 2, "y": (line["b"] + line["end"][1]) / 2, "text": f"{line['distance']:.3f}"}]
    label = alt.Chart(inline(middle)).mark_text(fontSize=13, dy=18, dx=22, color=INK).encode(text="text:N")
    layers = [
        square.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        rule.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        dot.encode(x=x, y=y),
        label.encode(x=x, y=y),
    ]
    heading = alt.TitleParams(title, fontSize=13, fontWeight="normal", anchor="middle")
    return alt.layer(*layers).properties(width=300, height=300, title=heading)


ARTIFACT = Artifact(
    name="figure-6.3",
    title="Two cases of the distance to the border",
    source="Dissertation, Figure 6.3 and Appendix D.2.5",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "the four cases of D.2.5 give the distance from every reference inside the region",
            "Appendix D.2.5",
            lambda r: all(r["disagree"][f"{a:g}, {b:g}"] == 0 for a, b in INSIDE),
            evidence=lambda r: (
                {"directions": r["directions"]}
                | {f"wrong directions from ({a:g}, {b:g})": r["disagree"][f"{a:g}, {b:g}"] for a, b in INSIDE}
            ),
        ),
        Claim(
            "the four cases of D.2.5 give the distance from every reference, the starting coordinate of the region included",
            "Appendix D.2.5 and Section 6.2.2",
            lambda r: all(count == 0 for count in r["disagree"].values()),
            "On an edge or a corner the angle cases break: of 34 directions they get 2 wrong from (0, 0), which is the dummy "
            "location the text suggests, and 16 from (1, 0). The slab rule is right everywhere "
            "(tests/studies/trajectories/test_golden_trajectories.py::test_golden_value, rows D25).",
            lambda r: (
                {"directions": r["directions"]}
                | {f"wrong directions from ({place})": count for place, count in r["disagree"].items()}
            ),
        ),
    ),
)
