"""A design in two pictures: what a report looks like at several values, and the error over the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from deniable.charts.theme import COLOURS, inline, themed
from deniable.core import Circle, Interval, Rectangle, mechanism_class
from deniable.errors import NotSupported
from deniable.estimators import dense, density, error_curve

if TYPE_CHECKING:
    from deniable.planning import Answer

BINS = 64
POINTS = 201
WIDTH = 640
MAP_BINS, MAP_WIDTH = 24, 220


def design_chart(answer: Answer, loss: str | float) -> Any:
    """Histograms of the report for four private values; below, the expected error beside the published mechanism and the bound.

    On a rectangle: maps of the report for three private places, and a map of the expected error.
    """
    mechanism = answer.mechanism
    if isinstance(mechanism.domain, Rectangle):
        both = alt.vconcat(_maps(answer), _error_map(answer, loss), spacing=28).resolve_scale(color="independent")
    elif isinstance(mechanism.domain, Interval | Circle):
        both = alt.vconcat(_histograms(answer), _errors(answer, loss), spacing=28).resolve_scale(color="independent")
    else:
        raise NotSupported("a design is drawn over an interval, a circle or a rectangle")
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
    names = ["this design", f"published ({published.name})", "bound for every mechanism"]
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


def _maps(answer: Answer) -> Any:
    """Where a report falls, for a corner, a place on the way and the middle: the share of reports in square bins."""
    domain, outputs, chances = _law(answer)
    indices = [domain.encode(_place(domain, share)) for share in (0.0, 0.25, 0.5)]
    edges = [np.linspace(float(axis.low), float(axis.high), MAP_BINS + 1) for axis in (domain.x, domain.y)]
    panels = []
    for share, row in zip((0.0, 0.25, 0.5), chances[indices], strict=True):
        heights = np.histogram2d(outputs[:, 0], outputs[:, 1], bins=edges, weights=row)[0]
        rows = [
            {"from": edges[0][i], "to": edges[0][i + 1], "low": edges[1][j], "high": edges[1][j + 1], "share": 100 * heights[i, j]}
            for i in range(MAP_BINS)
            for j in range(MAP_BINS)
            if heights[i, j] > 0
        ]
        place = _place(domain, share)
        true = alt.Chart(inline([{"from": place[0], "low": place[1]}])).mark_point(
            shape="cross", color=COLOURS[1], size=90, filled=True
        )
        shown = _rectangles(domain, rows, "share", "% of reports", "sqrt") + true.encode(x="from:Q", y="low:Q")
        panels.append(
            shown.properties(
                width=MAP_WIDTH,
                height=_height(domain, MAP_WIDTH),
                title=alt.TitleParams(f"true place ({place[0]:.3g}, {place[1]:.3g})", fontSize=13, fontWeight="normal"),
            )
        )
    return alt.hconcat(*panels, spacing=24).resolve_scale(color="shared")


def _error_map(answer: Answer, loss: str | float) -> Any:
    """The expected error at the middle of every cell."""
    domain, outputs, chances = _law(answer)
    exponent = {"absolute": 1.0, "squared": 2.0}.get(str(loss)) or float(loss)
    sides = float(domain.x.width) / domain.x.cells, float(domain.y.width) / domain.y.cells
    rows = []
    for index in range(domain.size):
        left = float(domain.x.low) + sides[0] * (index % domain.x.cells)
        bottom = float(domain.y.low) + sides[1] * (index // domain.x.cells)
        apart = np.hypot(outputs[:, 0] - left - sides[0] / 2, outputs[:, 1] - bottom - sides[1] / 2)
        error = float(chances[index] @ apart**exponent)
        rows.append({"from": left, "to": left + sides[0], "low": bottom, "high": bottom + sides[1], "error": error})
    what = f"expected {loss} error" if isinstance(loss, str) else f"expected error, exponent {loss:g}"
    return _rectangles(domain, rows, "error", what, "linear").properties(width=2 * MAP_WIDTH, height=_height(domain, 2 * MAP_WIDTH))


def _law(answer: Answer) -> tuple[Any, Any, Any]:
    """The domain, the reported places, and the probabilities of each for every true cell."""
    mechanism: Any = answer.mechanism
    outputs = np.array([mechanism.decode(output) for output in range(mechanism.channel.outputs)])
    return mechanism.domain, outputs, dense(mechanism.channel, np.arange(mechanism.domain.size))


def _place(domain: Any, share: float) -> tuple[float, float]:
    return float(domain.x.low) + share * float(domain.x.width), float(domain.y.low) + share * float(domain.y.width)


def _height(domain: Any, width: int) -> int:
    return round(min(max(width * float(domain.y.width / domain.x.width), width / 4), 2 * width))


def _rectangles(domain: Any, rows: list[dict[str, Any]], value: str, title: str, scale: Any) -> Any:
    across, up = ([float(axis.low), float(axis.high)] for axis in (domain.x, domain.y))
    return (
        alt.Chart(inline(rows))
        .mark_rect()
        .encode(
            x=alt.X("from:Q", title=None, scale=alt.Scale(domain=across), axis=alt.Axis(tickCount=5, grid=False)),
            x2="to:Q",
            y=alt.Y("low:Q", title=None, scale=alt.Scale(domain=up), axis=alt.Axis(tickCount=5, grid=False)),
            y2="high:Q",
            color=alt.Color(f"{value}:Q", title=title, scale=alt.Scale(type=scale, scheme="blues")),
        )
    )
