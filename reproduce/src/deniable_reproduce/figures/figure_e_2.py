"""Figure E.2: what both models answer over age and body mass index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from deniable.charts import COLOURS, inline, themed
from deniable_reproduce.artifact import Artifact, Claim, Result, Run
from deniable_reproduce.case_data import stroke, trained

TITLES = {"LR": "logistic regression", "RF": "random forest"}
CELLS = 80
RECORD = 4


def compute(run: Run) -> Result:
    """The answers on a grid, the other features as in the record of Figure 7.5; stretches of equal answers, row by row."""
    table, labels = stroke(run)
    middles = (np.arange(CELLS) + 0.5) / CELLS
    rows = np.repeat(table[[RECORD]], CELLS * CELLS, axis=0)
    rows[:, 0], rows[:, 5] = np.tile(middles, CELLS), np.repeat(middles, CELLS)
    result: Result = {"answers": {}, "changes": {}}
    for kind in TITLES:
        answers = np.asarray(trained(kind, table, labels).predict(rows)).reshape(CELLS, CELLS)
        result["answers"][kind] = ["".join(str(int(value)) for value in line) for line in answers]
        result["changes"][kind] = int(np.count_nonzero(np.diff(answers, axis=1)) + np.count_nonzero(np.diff(answers, axis=0)))
    return result


def draw(result: Result) -> Mapping[str, Any]:
    """A map per model."""
    panels = []
    names = ["no stroke", "stroke"]
    for kind, lines in result["answers"].items():
        cells = []
        for i, line in enumerate(lines):
            start = 0
            for j in range(1, CELLS + 1):
                if j == CELLS or line[j] != line[start]:
                    cells.append(
                        {
                            "x": start / CELLS,
                            "x2": j / CELLS,
                            "y": i / CELLS,
                            "y2": (i + 1) / CELLS,
                            "answer": names[int(line[start])],
                        }
                    )
                    start = j
        heading = alt.TitleParams(TITLES[kind], fontSize=14, fontWeight="normal", anchor="middle", offset=8)
        scale = alt.Scale(domain=[0, 1], nice=False)
        ticks = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], grid=False)
        panels.append(
            alt.Chart(inline(cells), title=heading)
            .mark_rect()
            .encode(
                x=alt.X("x:Q", title="age / 100", scale=scale, axis=ticks),
                x2="x2:Q",
                y=alt.Y("y:Q", title="BMI / 50", scale=scale, axis=ticks),
                y2="y2:Q",
                color=alt.Color(
                    "answer:N",
                    title=None,
                    sort=names,
                    scale=alt.Scale(domain=names, range=["#cfe3f3", COLOURS[1]]),
                    legend=alt.Legend(orient="bottom", symbolType="square"),
                ),
            )
            .properties(width=320, height=320)
        )
    whole = alt.hconcat(*panels, spacing=40)
    return {
        "boundaries": themed(
            whole, title="What the models answer, by age and BMI", subtitle="all else as in the record of Figure 7.5"
        )
    }


ARTIFACT = Artifact(
    name="figure-e.2",
    title="Projected decision boundaries, Stroke Prediction",
    source="Dissertation, Figure E.2",
    compute=compute,
    draw=draw,
    claims=(
        Claim(
            "the forest's boundary is much more complex than the regression's",
            "Appendix E.2.5",
            lambda r: r["changes"]["RF"] > 1.5 * r["changes"]["LR"],
        ),
    ),
    data=("stroke.csv",),
)
