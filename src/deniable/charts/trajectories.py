"""Movement in pictures: paths and their perturbed ones, density maps, errors over epsilon, and trips between cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from deniable.charts.theme import COLOURS, FAINT, INK, inline, themed
from deniable.errors import InvalidParameter
from deniable.studies import DensityMap, FineMap, Paths, PlaceTable

SIDE = 460
MOST_SHOWN = 2000
KINDS = ["true path", "perturbed path"]
SHADES = ["#f7f9fc", "#9ecae1", "#08306b"]
"""From nobody to many: nearly white is nothing, so that the empty parts of a map look empty."""


def path_chart(
    true: Paths, perturbed: Paths | None = None, *, shown: int = 3, title: str, subtitle: str = "", unit: str = ""
) -> Any:
    """The first `shown` paths and, dashed, their perturbed ones; a dot marks where each begins."""
    if perturbed is not None and len(perturbed) != len(true):
        raise InvalidParameter("there must be as many true as perturbed paths")
    size, unit = _readable(unit)
    rows, dots = [], []
    for kind, paths in zip(KINDS, (true, perturbed), strict=True):
        for number in range(min(shown, len(true)) if paths is not None else 0):
            assert paths is not None
            for step, (x, y) in enumerate((paths[number][:MOST_SHOWN] / size).tolist()):
                rows.append({"x": x, "y": y, "step": step, "path": str(number + 1), "kind": kind})
                if step == 0:
                    dots.append(rows[-1])
    if not rows:
        raise InvalidParameter("there are no places to draw")
    x_scale, y_scale, width, height = frame(np.array([[row["x"], row["y"]] for row in rows]), 12)
    kinds = KINDS if perturbed is not None else KINDS[:1]
    axes = {
        "x": alt.X("x:Q", title=_with_unit("east", unit), scale=x_scale, axis=alt.Axis(tickCount=5)),
        "y": alt.Y("y:Q", title=_with_unit("north", unit), scale=y_scale, axis=alt.Axis(tickCount=5)),
        "color": alt.Color("path:N", title="path", legend=alt.Legend(symbolType="stroke", symbolSize=300)),
    }
    lines = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=2, opacity=0.85, strokeJoin="round")
        .encode(
            **axes,
            order="step:Q",
            detail="kind:N",
            strokeDash=alt.StrokeDash(
                "kind:N",
                title=None,
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=[[1, 0], [3, 4]][: len(kinds)]),
                legend=alt.Legend(symbolType="stroke", symbolSize=600, symbolStrokeColor=INK),
            ),
        )
    )
    starts = alt.Chart(inline(dots)).mark_point(filled=True, size=90, opacity=1).encode(**axes)
    return themed(alt.layer(lines, starts).properties(width=width, height=height), title=title, subtitle=subtitle)


def density_map_chart(
    density: DensityMap | FineMap, *, title: str, subtitle: str = "", unit: str = "", mark: float | None = None
) -> Any:
    """The share of people in every cell of a map; with `mark`, hotspots above that share are framed (see DensityMap.hotspots)."""
    size, unit = _readable(unit)
    bounds = density.grid.bounds / size
    rows = [
        {"left": left, "lower": lower, "right": right, "upper": upper, "share": max(float(share), 0.0)}
        for (left, lower, right, upper), share in zip(bounds.tolist(), density.value.tolist(), strict=True)
    ]
    x_scale, y_scale, width, height = frame(bounds.reshape(-1, 2))
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "left:Q",
            title=_with_unit("east", unit),
            scale=x_scale,
            axis=alt.Axis(tickCount=5, grid=False),
        ),
        x2="right:Q",
        y=alt.Y(
            "lower:Q",
            title=_with_unit("north", unit),
            scale=y_scale,
            axis=alt.Axis(tickCount=5, grid=False),
        ),
        y2="upper:Q",
    )
    # A square root: one full cell would leave all others white.
    heat = base.mark_rect().encode(
        color=alt.Color(
            "share:Q",
            title="share of places",
            scale=alt.Scale(type="sqrt", range=SHADES, interpolate="rgb", domainMin=0),
            legend=alt.Legend(format=".1%", gradientLength=220, tickCount=4, titlePadding=12),
        )
    )
    layers = [heat]
    if mark is not None:
        if not isinstance(density, DensityMap):
            raise InvalidParameter("hotspots are marked on a density_map, which has intervals for all cells")
        spots = [
            dict(zip(("left", "lower", "right", "upper"), bounds[spot.cell].tolist(), strict=True))
            for spot in density.hotspots(mark)
        ]
        layers.append(
            alt.Chart(inline(spots))
            .mark_rect(filled=False, stroke=COLOURS[1], strokeWidth=2.5)
            .encode(x="left:Q", x2="right:Q", y="lower:Q", y2="upper:Q")
        )
    return themed(alt.layer(*layers).properties(width=width, height=height), title=title, subtitle=subtitle)


def trajectory_error_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    metric: str = "average_error",
    quantity: str = "average error",
    title: str,
    subtitle: str = "",
) -> Any:
    """A metric over epsilon, a line per mechanism, from rows as `deniable trajectory compare --json` gives them.

    A row has `mechanism`, `epsilon` and the metric; where it has the metric's `_standard_error` too, two of it are drawn.
    """
    if not rows:
        raise InvalidParameter("rows must hold at least one result")
    data: list[dict[str, Any]] = []
    for row in rows:
        value, spread = float(row[metric]), row.get(f"{metric}_standard_error")
        reach = 2 * float(spread) if spread is not None and np.isfinite(float(spread)) else 0.0
        data.append(
            {
                "mechanism": str(row["mechanism"]),
                "epsilon": float(row["epsilon"]),
                "value": value,
                # Errors and shares are never negative; half an axis for bars below 0 would say otherwise.
                "low": max(value - reach, min(value, 0.0)),
                "high": value + reach,
            }
        )
    largest = max(row["epsilon"] for row in data)
    ends = {row["mechanism"]: row["value"] for row in data if row["epsilon"] == largest}
    names = sorted({row["mechanism"] for row in data}, key=lambda name: (ends.get(name, 0.0), name))
    # More mechanisms than colours: the colours come again, dashed.
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    dashes = [[[1, 0], [6, 3], [2, 2]][i // len(COLOURS) % 3] for i in range(len(names))]
    base = alt.Chart(inline(data)).encode(
        x=alt.X(
            "epsilon:Q", title="ε per location", axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=False, nice=False, padding=12)
        ),
        color=alt.Color(
            "mechanism:N",
            title=None,
            sort=names,
            scale=alt.Scale(domain=names, range=colours),
            legend=alt.Legend(symbolType="stroke", symbolSize=300),
        ),
    )
    up = alt.Y("value:Q", title=quantity, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6, format="~g"))
    line = base.mark_line(strokeWidth=2.5, point={"size": 50, "filled": True}).encode(
        y=up, strokeDash=alt.StrokeDash("mechanism:N", title=None, sort=names, scale=alt.Scale(domain=names, range=dashes))
    )
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=quantity), y2="high:Q")
    return themed(alt.layer(bars, line).properties(width=600, height=340), title=title, subtitle=subtitle)


def trip_chart(
    table: PlaceTable, names: Sequence[str] | None = None, *, title: str, subtitle: str = "", level: float = 0.95
) -> Any:
    """Trips from rows to columns; a dot marks shares above 0 at this level for all together. Cells count from the lower left."""
    cells = len(table.grid)
    labels = [str(i + 1) for i in range(cells)] if names is None else list(names)
    if len(labels) != cells:
        raise InvalidParameter(f"names must have one entry per map cell, {cells}")
    # The level holds for all pairs at once: of many pairs some would look sure by chance.
    low, _ = table.interval(1 - (1 - level) / cells**2)
    possible = table.projected("simplex").value
    rows = [
        {"origin": labels[i // cells], "destination": labels[i % cells], "share": float(possible[i]), "sure": bool(low[i] > 0)}
        for i in range(cells**2)
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("destination:N", title="to", sort=labels, axis=alt.Axis(labelAngle=0 if names is None else -40)),
        y=alt.Y("origin:N", title="from", sort=labels[::-1]),
    )
    heat = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "share:Q",
            title="share of trips",
            scale=alt.Scale(type="sqrt", range=SHADES, interpolate="rgb", domainMin=0),
            legend=alt.Legend(format=".1%", gradientLength=200, tickCount=4, titlePadding=12),
        )
    )
    sure = base.mark_point(filled=True, size=30, opacity=1, color=INK, stroke=FAINT).transform_filter("datum.sure")
    step = max(18, min(44, SIDE // cells))
    chart = alt.layer(heat, sure).properties(width={"step": step}, height={"step": step})
    return themed(chart, title=title, subtitle=subtitle)


def frame(points: Any, margin: int = 0) -> tuple[Any, Any, int, int]:
    """Scales and a size that show both directions equally long."""
    low, high = points.min(axis=0), points.max(axis=0)
    sides = np.where(high > low, high - low, 1.0)
    # A very flat or very tall map would be a line: let one unit differ rather than that.
    ratio = float(np.clip(sides[1] / sides[0], 0.3, 2.0))
    width, height = (SIDE, round(SIDE * ratio)) if ratio <= 1 else (round(SIDE / ratio), SIDE)
    scales = [alt.Scale(domain=[float(low[i]), float(low[i] + sides[i])], nice=False, zero=False, padding=margin) for i in range(2)]
    return scales[0], scales[1], width, height


def _readable(unit: str) -> tuple[float, str]:
    """Metres are shown as kilometres."""
    return (1000.0, "km") if unit == "m" else (1.0, unit)


def _with_unit(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name
