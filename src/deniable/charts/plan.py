"""A plan in pictures: error against the size of a report, and over epsilon."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from deniable._results import counted
from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.core import Epsilon
from deniable.errors import DeniableError, NotSupported
from deniable.planning import Candidate, Plan, Way, ways

CURVES = 5
SHOWN = 3.0
SEEN = 0.06
"""Curves nearer than this everywhere look like one."""
WIDTH, HEIGHT, FONT = 400, 340, 12
BYTES = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
POINTS = 13
"""Epsilons on the second chart, from a quarter to four times the plan's."""


def plan_chart(plan: Plan) -> Any:
    """The frontier: no candidate is below and left of it. Beside it, how the best ones' errors fall with epsilon."""
    if not plan.pick.predicted_error > 0:
        raise NotSupported("the predicted errors are too small to be drawn; ask with fewer users or a smaller epsilon")
    title = f"{plan.question.task.capitalize()}: {counted(plan.users, 'user')}, ε = {float(plan.epsilon):.4g}"
    return themed(
        alt.hconcat(frontier(plan), curves(plan), spacing=36).resolve_scale(
            color="independent", shape="independent", strokeDash="independent"
        ),
        title=title,
        subtitle=f"error: {plan.error_means}; only candidates with up to 3 times the least are drawn",
    )


def frontier(plan: Plan) -> Any:
    """Error against bytes, one point per candidate; the line joins those that nothing beats in both.

    Candidates with more than three times the least error are left away, or they would flatten the rest.
    """
    kinds = ["pick", "frontier", "beaten"]
    rows: list[dict[str, Any]] = []
    least = math.inf
    ordered = sorted(_near(plan), key=lambda one: (one.bytes_per_report, one.predicted_error))
    for one in ordered:
        best = one.predicted_error < least
        least = min(least, one.predicted_error)
        kind = "pick" if one is plan.pick else "frontier" if best else "beaten"
        rows.append({"label": one.label, "bytes": one.bytes_per_report, "error": one.predicted_error, "kind": kind})
    line = [row for row in rows if row["kind"] != "beaten"]
    rows.sort(key=lambda row: kinds.index(row["kind"]), reverse=True)
    sizes, heights = _padded([row["bytes"] for row in rows], 1.5, 2.6), _padded([row["error"] for row in rows], 1.2, 1.2)
    x = alt.X(
        "bytes:Q",
        title="bytes per report",
        scale=alt.Scale(type="log", nice=False, domain=sizes),
        axis=alt.Axis(format="~s", values=[tick for tick in BYTES if sizes[0] <= tick <= sizes[1]], grid=True),
    )
    y = alt.Y(
        "error:Q",
        title="predicted error",
        scale=alt.Scale(type="log", nice=False, domain=heights),
        axis=alt.Axis(format="~g", tickCount=6),
    )
    points = (
        alt.Chart(inline(rows))
        .mark_point(filled=True, size=110, opacity=0.9)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "kind:N",
                title=None,
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=[COLOURS[1], COLOURS[0], "#aaaaaa"]),
                legend=alt.Legend(labelExpr="datum.label === 'beaten' ? 'another is better in both' : datum.label"),
            ),
            shape=alt.Shape("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=["diamond", "circle", "circle"])),
        )
    )
    path = alt.Chart(inline(line)).mark_line(strokeWidth=1.5, strokeDash=[5, 3], color=COLOURS[0]).encode(x=x, y=y)
    for row in rows:
        row["right"] = WIDTH * math.log(row["bytes"] / sizes[0]) / math.log(sizes[1] / sizes[0])
        row["down"] = HEIGHT * math.log(heights[1] / row["error"]) / math.log(heights[1] / heights[0])
    halos, names = [], []
    boxes: list[tuple[float, float, float]] = []
    for row in sorted(rows, key=lambda row: kinds.index(row["kind"])):
        beaten = row["kind"] == "beaten"
        name, place = alt.Chart(inline([row])).encode(x=x, y=y, text="label:N"), _place(row, rows, boxes)
        box = _box(row, place)
        if beaten and any(box[0] < right and left < box[1] and abs(box[2] - down) < FONT + 2 for left, right, down in boxes):
            continue  # a name that would cover another one is left out; the table has it
        boxes.append(box)
        size = FONT - 3 if beaten else FONT
        halos.append(name.mark_text(**place, fontSize=size, color="white", stroke="white", strokeWidth=5))
        names.append(name.mark_text(**place, fontSize=size, color="#888888" if beaten else INK))
    return alt.layer(path, *halos, points, *names).properties(width=WIDTH, height=HEIGHT)


def _place(row: dict[str, Any], rows: list[dict[str, Any]], boxes: list[tuple[float, float, float]]) -> dict[str, Any]:
    """Where a point's name covers the fewest points and names: beside the point if possible, else below or above it."""
    wide = 0.52 * FONT * len(row["label"])

    def covered(place: dict[str, Any]) -> float:
        left = row["right"] + place["dx"] - (wide if place["align"] == "right" else 0)
        middle = row["down"] + place["dy"]
        cut: float = max(-left, 0) + max(left + wide - WIDTH, 0) + max(middle - HEIGHT + FONT, 0)
        others = [one for one in rows if one is not row and (one["right"], one["down"]) != (row["right"], row["down"])]
        near = [one for one in others if left - 6 < one["right"] < left + wide + 6 and abs(one["down"] - middle) < FONT]
        names = [one for one in boxes if left < one[1] and one[0] < left + wide and abs(one[2] - middle) < FONT + 2]
        return cut + 5 * len(names) + sum(5 if one["kind"] != "beaten" else 1 for one in near)

    sides: list[tuple[str, int]] = [("left", 1), ("right", -1)]
    # Beside a point of the frontier its name would cover the line.
    beside = [(align, 10 * way, 0) for align, way in sides] if row["kind"] == "beaten" else []
    places = [*beside, *((align, 3 * way, dy) for align, way in sides for dy in (15, -15, 27, -27))]
    return min(({"align": align, "dx": dx, "dy": dy, "baseline": "middle"} for align, dx, dy in places), key=covered)


def _box(row: dict[str, Any], place: dict[str, Any]) -> tuple[float, float, float]:
    """Left, right and middle of a name."""
    wide = 0.52 * FONT * len(row["label"])
    left = row["right"] + place["dx"] - (wide if place["align"] == "right" else 0)
    return left, left + wide, row["down"] + place["dy"]


def curves(plan: Plan) -> Any:
    """The error over epsilon, else as in the plan: of the pick, of whoever is the best at some epsilon, and of the next."""
    errors = _errors(plan)
    shown = _telling(plan, errors)
    rows = [
        {"epsilon": epsilon, "error": errors[name][epsilon], "mechanism": name}
        for name in shown
        for epsilon in sorted(errors[name])
    ]
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
                legend=alt.Legend(symbolSize=500, labelLimit=400),
            ),
            strokeDash=alt.StrokeDash(
                "mechanism:N",
                title=None,
                sort=shown,
                scale=alt.Scale(domain=shown, range=dashes[: len(shown)]),
                legend=alt.Legend(symbolSize=500, labelLimit=400),
            ),
        )
    )
    return (here.encode(x=x) + lines).properties(width=WIDTH, height=HEIGHT)


def _near(plan: Plan) -> list[Candidate]:
    return [one for one in plan.candidates if one.predicted_error <= SHOWN * plan.pick.predicted_error]


def _errors(plan: Plan) -> dict[str, dict[float, float]]:
    """For every candidate shown its error at each epsilon of the chart where it has one."""
    errors: dict[str, dict[float, float]] = {one.label: {} for one in _near(plan)}
    for epsilon in np.geomspace(float(plan.epsilon) / 4, min(4 * float(plan.epsilon), 16.0), POINTS).tolist():
        for way in ways(plan.question, Epsilon(round(epsilon, 6)), slow=False):
            if not isinstance(way, Way) or way.label not in errors:
                continue
            try:
                error = way.predict(plan.users).error
            except DeniableError:
                continue
            if 0 < error < math.inf:
                errors[way.label][epsilon] = error
    return errors


def _telling(plan: Plan, errors: dict[str, dict[float, float]]) -> list[str]:
    """At most five names, as ranked: a curve that lies on one of another name would only hide it."""
    ranked = [one.label for one in _near(plan) if errors[one.label]]
    places = {epsilon for one in errors.values() for epsilon in one}
    best = {min((name for name in ranked if at in errors[name]), key=lambda name: errors[name][at]) for at in places}
    chosen: list[str] = []
    for name in [*ranked[:1], *(name for name in ranked if name in best), *ranked]:
        if len(chosen) < CURVES and not any(_same(errors[name], errors[other]) for other in chosen):
            chosen.append(name)
    return [name for name in ranked if name in chosen]


def _same(one: dict[float, float], other: dict[float, float]) -> bool:
    """Would the eye see one curve?"""
    return one.keys() == other.keys() and all(abs(one[at] / other[at] - 1) <= SEEN for at in one)


def _padded(values: list[float], below: float, above: float) -> list[float]:
    """A logarithmic range with room for the points and the names beside them."""
    return [min(values) / below, max(values) * above]
