"""A plan in pictures: error against the size of a report, and over epsilon."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.errors import DeniableError
from deniable.exact import Epsilon
from deniable.planning import Plan, Way
from deniable.planning.choose import ways

CURVES = 5
SHOWN = 3.0
POINTS = 13
"""Epsilons on the second chart, from a quarter to four times the plan's."""


def plan_chart(plan: Plan) -> Any:
    """The frontier: no candidate is below and left of it. Beside it, how the best ones' errors fall with epsilon."""
    title = f"{plan.question.task.capitalize()}: {plan.users:,} users, ε = {float(plan.epsilon):.4g}"
    return themed(
        alt.hconcat(frontier(plan), curves(plan), spacing=36).resolve_scale(
            color="independent", shape="independent", strokeDash="independent"
        ),
        title=title,
        subtitle=f"error: {plan.error_means}; candidates up to 3 times the least",
    )


def frontier(plan: Plan) -> Any:
    """Error against bytes, one point per candidate; the line joins those that nothing beats in both.

    Candidates with more than three times the least error are left away, or they would flatten the rest.
    """
    kinds = ["pick", "frontier", "beaten"]
    rows: list[dict[str, Any]] = []
    least = math.inf
    near = [one for one in plan.candidates if one.predicted_error <= SHOWN * plan.pick.predicted_error]
    ordered = sorted(near, key=lambda one: (one.bytes_per_report, one.predicted_error))
    for one in ordered:
        best = one.predicted_error < least
        least = min(least, one.predicted_error)
        kind = "pick" if one is plan.pick else "frontier" if best else "beaten"
        rows.append({"label": one.label, "bytes": one.bytes_per_report, "error": one.predicted_error, "kind": kind})
    line = [row for row in rows if row["kind"] != "beaten"]
    rows.sort(key=lambda row: kinds.index(row["kind"]), reverse=True)
    x = alt.X(
        "bytes:Q",
        title="bytes per report",
        scale=alt.Scale(type="log", nice=False, domain=_padded([row["bytes"] for row in rows], 1.5, 2.6)),
        axis=alt.Axis(format="~s", tickCount=5, grid=True),
    )
    y = alt.Y(
        "error:Q",
        title="predicted error",
        scale=alt.Scale(type="log", nice=False, domain=_padded([row["error"] for row in rows], 1.12, 1.2)),
        axis=alt.Axis(format="~g", tickCount=6),
    )
    points = (
        alt.Chart(inline(rows))
        .mark_point(filled=True, size=110, opacity=0.9)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=[COLOURS[1], COLOURS[0], "#aaaaaa"])
            ),
            shape=alt.Shape("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=["diamond", "circle", "circle"])),
        )
    )
    path = alt.Chart(inline(line)).mark_line(strokeWidth=1.5, strokeDash=[5, 3], color=COLOURS[0]).encode(x=x, y=y)
    names = alt.Chart(inline(line)).mark_text(align="left", dx=9, dy=-7, fontSize=12, color=INK).encode(x=x, y=y, text="label:N")
    return (path + points + names).properties(width=400, height=340)


def curves(plan: Plan) -> Any:
    """The error over epsilon of the best candidates, everything else as in the plan."""
    names = [one.label for one in plan.candidates[:CURVES]]
    rows = []
    for epsilon in np.geomspace(float(plan.epsilon) / 4, min(4 * float(plan.epsilon), 16.0), POINTS).tolist():
        for way in ways(plan.question, Epsilon(round(epsilon, 6)), slow=False):
            if not isinstance(way, Way) or way.label not in names:
                continue
            try:
                error = way.predict(plan.users).error
            except DeniableError:
                continue
            if math.isfinite(error):
                rows.append({"epsilon": epsilon, "error": error, "mechanism": way.label})
    shown = [name for name in names if any(row["mechanism"] == name for row in rows)]
    here = alt.Chart(inline([{"epsilon": float(plan.epsilon)}])).mark_rule(color="#888888", strokeDash=[2, 2])
    x = alt.X(
        "epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~g", tickCount=6, labelOverlap=True)
    )
    dashes = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [1, 3]]
    lines = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=alt.Y(
                "error:Q", title="predicted error", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~g", tickCount=6)
            ),
            color=alt.Color(
                "mechanism:N",
                title=None,
                sort=shown,
                scale=alt.Scale(domain=shown, range=COLOURS[: len(shown)]),
                legend=alt.Legend(symbolSize=500),
            ),
            strokeDash=alt.StrokeDash(
                "mechanism:N",
                title=None,
                sort=shown,
                scale=alt.Scale(domain=shown, range=dashes[: len(shown)]),
                legend=alt.Legend(symbolSize=500),
            ),
        )
    )
    return (here.encode(x=x) + lines).properties(width=400, height=340)


def _padded(values: list[float], below: float, above: float) -> list[float]:
    """A logarithmic range with room for the points and the names beside them."""
    return [min(values) / below, max(values) * above]
