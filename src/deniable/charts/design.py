"""A design in two pictures: what a report looks like at several values, and the error over the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from deniable.charts.theme import COLOURS, inline, themed
from deniable.domains import Circle, Interval
from deniable.errors import NotSupported
from deniable.mechanisms import mechanism_class
from deniable.utility import density, error_curve

if TYPE_CHECKING:
    from deniable.design import Answer

BINS = 64
POINTS = 201
WIDTH = 640


def design_chart(answer: Answer, loss: str | float) -> Any:
    """Histograms of the report for four private values; below, the expected error beside the published mechanism and the bound."""
    mechanism = answer.mechanism
    if not isinstance(mechanism.domain, Interval | Circle):
        raise NotSupported("a design is drawn over an interval or a circle")
    both = alt.vconcat(_histograms(answer), _errors(answer, loss), spacing=28).resolve_scale(color="independent")
    published = f"{answer.published['name']} has {answer.published['worst_case']:.5g}"
    bound = f"no mechanism is below {answer.lower_bound:.5g}" if answer.lower_bound > 0 else answer.method
    return themed(
        both,
        title=f"{mechanism.name} at ε = {mechanism.privacy}: {answer.objective} {answer.worst_case:.5g}",
        subtitle=f"{published}; {bound}",
    )


def _histograms(answer: Answer) -> Any:
    """One small histogram per value; square-root heights, since atoms are far taller than the rest."""
    domain: Any = answer.mechanism.domain
    low, width = float(domain.low), float(domain.width)
    values = [low + width * share for share in (0.0, 0.2, 0.5, 0.9)]
    rows = []
    for value in values:
        curve = density(answer.mechanism, value, BINS)
        half = float(curve.values[1] - curve.values[0]) / 2 if len(curve.values) > 1 else width / BINS
        for place, height in zip(curve.values.tolist(), curve.heights.tolist(), strict=True):
            rows.append({"from": place - half, "to": place + half, "density": height, "base": 0, "value": f"{value:.3g}"})
    names = [f"{value:.3g}" for value in values]
    return (
        alt.Chart(inline(rows))
        .mark_rect()
        .encode(
            x=alt.X("from:Q", title="reported value", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=8)),
            x2="to:Q",
            y=alt.Y("density:Q", title="density", scale=alt.Scale(type="sqrt", zero=True), axis=alt.Axis(tickCount=3)),
            y2="base:Q",
            color=alt.Color("value:N", title="private value", sort=names),
            row=alt.Row("value:N", title=None, sort=names, header=None, spacing=8),
        )
        .properties(width=WIDTH, height=80)
    )


def _errors(answer: Answer, loss: str | float) -> Any:
    """Our error and the published one, and a dashed line at the bound."""
    mechanism = answer.mechanism
    published = mechanism_class(answer.published["name"])(domain=mechanism.domain, epsilon=mechanism.privacy)
    names = ["this design", f"published ({published.name})", "bound of every mechanism"]
    rows: list[dict[str, Any]] = []
    for name, each in zip(names, (mechanism, published), strict=False):
        curve = error_curve(each, loss, POINTS)
        rows += [
            {"value": value, "error": error, "curve": name}
            for value, error in zip(curve.values.tolist(), curve.errors.tolist(), strict=True)
        ]
    # A bound on an average says nothing about single values.
    bounded = answer.lower_bound > 0 and answer.objective.startswith("worst-case")
    if bounded:
        ends = (min(row["value"] for row in rows), max(row["value"] for row in rows))
        rows += [{"value": float(value), "error": answer.lower_bound, "curve": names[2]} for value in np.array(ends)]
    shown = names if bounded else names[:2]
    what = f"expected {loss} error" if isinstance(loss, str) else f"expected error, exponent {loss:g}"
    legend = alt.Color(
        "curve:N", title=None, sort=shown, scale=alt.Scale(domain=shown, range=[COLOURS[0], COLOURS[1], COLOURS[6]][: len(shown)])
    )
    return (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("value:Q", title="private value", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=8)),
            y=alt.Y("error:Q", title=what, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6)),
            color=legend,
            strokeDash=alt.StrokeDash(
                "curve:N", sort=shown, legend=None, scale=alt.Scale(domain=shown, range=[[1, 0], [1, 0], [6, 4]][: len(shown)])
            ),
        )
        .properties(width=WIDTH, height=260)
    )
