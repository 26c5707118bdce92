"""Draw the picture of docs/what-is-optimal.md from its tables: python docs/gap_chart.py [DIRECTORY]

For every question and epsilon: how far the published mechanism and the best one lie above the bound that no mechanism can
beat. Nothing is designed here: `deniable design --table` wrote the tables.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import altair as alt

from deniable.charts import COLOURS, INK, inline, save, themed

PAGE = Path(__file__).parent / "what-is-optimal.md"
COLUMNS = 3
LEAST = 0.005
"""Gaps below this many percent are drawn here: the axis is logarithmic, and has no 0."""
LINE = re.compile(r"^\| ([\d.]+) \| ([\d.e-]+) \(`[^|]*\| ([\d.e-]+) \| ([\d.e-]+) \| [\d.]+ \|", re.MULTILINE)
MECHANISMS = ["published", "best here"]
SHORTER = {", uniform prior": "", " of an unbiased mechanism": ", unbiased,", ", in radians": ""}


def gaps(page: str) -> list[dict[str, Any]]:
    """One row for each line of the tables and mechanism: what is left to gain, in percent of the bound."""
    rows = []
    for section in page.split("\n## ")[1:]:
        title = section.split("\n", 1)[0]
        for old, new in SHORTER.items():
            title = title.replace(old, new)
        for epsilon, *errors, bound in LINE.findall(section):
            for name, error in zip(MECHANISMS, errors, strict=True):
                left = 100 * (float(error) / float(bound) - 1)
                rows.append({"question": title, "epsilon": float(epsilon), "mechanism": name, "left": max(left, LEAST)})
    return rows


def chart(rows: list[dict[str, Any]]) -> Any:
    """One panel for each question."""
    colour = alt.Color(
        "mechanism:N", title=None, sort=MECHANISMS, scale=alt.Scale(domain=MECHANISMS, range=[COLOURS[1], COLOURS[0]])
    ).legend(orient="top")
    values = [0.01, 0.1, 1, 10, 100, 1000]
    base = alt.Chart().encode(
        x=alt.X("epsilon:Q", title="ε", scale=alt.Scale(domain=[0, 10.5], nice=False)),
        y=alt.Y(
            "left:Q",
            title="above the bound",
            scale=alt.Scale(type="log", domain=[LEAST, 2000], nice=False),
            axis=alt.Axis(values=values, labelExpr="datum.value + ' %'"),
        ),
        color=colour,
    )
    goal = alt.Chart().mark_rule(strokeDash=[5, 4], color=INK, opacity=0.6).encode(y=alt.datum(0.1))
    panel = alt.layer(goal, base.mark_line(strokeWidth=2.5), base.mark_point(filled=True, size=45, opacity=1), data=inline(rows))
    titles = list(dict.fromkeys(row["question"] for row in rows))
    facets = panel.properties(width=290, height=170).facet(
        alt.Facet("question:N", title=None, sort=titles, header=alt.Header(labelFontSize=13, labelAnchor="start", labelLimit=300)),
        columns=COLUMNS,
    )
    said = f"error of a mechanism over the bound that none can beat; dashed: 0.1 %; points at {LEAST:g} % are there or below"
    return themed(facets, title="What is left to gain", subtitle=said)


def main() -> None:
    """Write the picture."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "images")
    save(chart(gaps(PAGE.read_text(encoding="utf-8"))), str(folder / "what-is-left.svg"))


if __name__ == "__main__":
    main()
