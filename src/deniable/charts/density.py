"""What a reported number looks like, for several private values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np

from deniable.charts.theme import COLOURS, INK, inline, themed
from deniable.core import Mechanism
from deniable.estimators import density, pmf

POINTS = 2048
"""Fine, so that a bin cut by a window's edge is not seen as a step of its own."""
MOST_POINTS = 1 << 15
FEW_OUTPUTS = 16
"""Up to so many different reports are drawn as bars."""
SHOWN_MASS = 0.99
"""How much of every private value's reports the axis must hold, where reports reach far beyond the domain."""
ATOM = 6.0
"""A bin so many times as tall as its neighbours is a single report of its own, not a density."""
LEVEL = 1e-2
"""Two bins whose heights differ by less than this part of a jump beside them are one level."""
SNAP = 0.004
"""An axis that ends this near to the domain's end, in parts of its width, ends there."""
BAR = 17
"""The height of one bar beside a single report."""


def promise(mechanism: Mechanism) -> str:
    """What the certificate says, in one line under the title."""
    pure = "any report is at most e^ε times as likely for one private value as for another"
    spent = mechanism.certificate().delta
    return f"{pure}, up to a total probability of δ = {float(spent):.3g}" if spent else pure


def density_chart(mechanism: Mechanism, values: Sequence[Any]) -> Any:
    """The density of the reported number for each private value, from the mechanism's own weights.

    Single reports that many cells share (clipped ends, two-point mechanisms) have no density: they are bars in a panel of their
    own, below. Where reports reach far beyond the domain, the axis ends where 99 % of them lie, and the subtitle says so.
    """
    title = f"{mechanism.name} at ε = {mechanism.privacy}"
    if mechanism.channel.outputs <= FEW_OUTPUTS:
        return themed(_bars(mechanism, values), title=title, subtitle=promise(mechanism))
    # One bin for each output where that is possible: bins that hold now one output, now two, would look like stripes.
    points = mechanism.channel.outputs if mechanism.channel.outputs <= MOST_POINTS else POINTS
    curves = [density(mechanism, value, points) for value in values]
    low, high, beyond = _window(mechanism, curves)
    names = [f"{float(value):g}" for value in values]
    steps: list[dict[str, Any]] = []
    spikes: list[dict[str, Any]] = []
    for name, curve in zip(names, curves, strict=True):
        places, heights = _thinned(curve, low, high)
        width = places[1] - places[0] if len(places) > 1 else 1.0
        rest, single = _atoms(heights, width)
        spikes += [
            {
                "report": _tallest(curve, places[i], width, (low, high)),
                "probability": share,
                "text": f"{100 * share:.3g} %",
                "value": name,
            }
            for i, share in single
        ]
        steps += [{"report": min(max(at, low), high), "density": height, "value": name} for at, height in edges(places, rest)]
    most = max((row["density"] for row in steps), default=1.0) or 1.0
    across = alt.X(
        "report:Q", title="reported value", scale=alt.Scale(nice=False, domain=[low, high]), axis=alt.Axis(tickCount=8, grid=False)
    )
    up = alt.Y(
        "density:Q",
        title="probability density, per unit of the value",
        scale=alt.Scale(domain=[0, 1.08 * most]),
        axis=alt.Axis(tickCount=6),
    )
    colour = alt.Color("value:N", title="private value", sort=names, scale=alt.Scale(domain=names, range=COLOURS[: len(names)]))
    layers = [
        alt.Chart(inline(steps))
        .mark_line(interpolate="step-after", strokeWidth=2.5, opacity=0.9)
        .encode(x=across, y=up, color=colour)
    ]
    subtitle = [promise(mechanism)]
    if spikes:
        marked = sorted({float(row["report"]) for row in spikes})
        layers.append(
            alt.Chart(inline([{"report": place} for place in marked]))
            .mark_rule(strokeWidth=1.5, strokeDash=[4, 4], color="#777777")
            .encode(x="report:Q")
        )
        subtitle.append("a dashed line marks a single report with a probability of its own, shown below")
    if beyond:
        subtitle.append(f"the axis holds at least {100 * SHOWN_MASS:g} % of the reports; all lie between {_range(curves)}")
    picture: Any = alt.layer(*layers).properties(width=640, height=320)
    if spikes:
        picture = alt.vconcat(picture, _singles(spikes, names, colour), spacing=18)
    return themed(picture, title=title, subtitle="\n".join(subtitle))


def _bars(mechanism: Mechanism, values: Sequence[Any]) -> Any:
    """A few possible reports: how likely each is."""
    reports = [float(mechanism.decode(output)) for output in range(mechanism.channel.outputs)]
    order = [_short(report) for report in sorted(reports)]
    rows = [
        {"report": _short(report), "probability": float(share), "value": f"{float(value):g}"}
        for value in values
        for report, share in zip(reports, pmf(mechanism, value).tolist(), strict=True)
    ]
    names = [f"{float(value):g}" for value in values]
    return (
        alt.Chart(inline(rows))
        .mark_bar()
        .encode(
            x=alt.X("report:N", title="reported value", sort=order, axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("value:N", sort=names),
            y=alt.Y("probability:Q", title="probability of the report", axis=alt.Axis(format=".0%", tickCount=6)),
            color=alt.Color(
                "value:N", title="private value", sort=names, scale=alt.Scale(domain=names, range=COLOURS[: len(names)])
            ),
        )
        .properties(width=640, height=320)
    )


def _window(mechanism: Mechanism, curves: Sequence[Any]) -> tuple[float, float, bool]:
    """Where to look: everything, unless the reports reach far beyond the domain."""
    places = curves[0].values
    half = float(places[1] - places[0]) / 2
    low, high = float(places[0]) - half, float(places[-1]) + half
    domain: Any = mechanism.domain
    first, last = float(domain.low), float(domain.low + domain.width)
    # Reports are middles of cells: an axis from 0.0005 to 0.9995 would have no mark at 0 and 1.
    low = first if abs(low - first) < SNAP * (last - first) else low
    high = last if abs(high - last) < SNAP * (last - first) else high
    if high - low <= 3 * float(domain.width):
        return low, high, False
    least, most = first, last
    for curve in curves:
        sums = np.cumsum(curve.heights) / curve.heights.sum()
        tail = (1 - SHOWN_MASS) / 2
        least = min(least, float(places[min(int(np.searchsorted(sums, tail)), len(places) - 1)]))
        most = max(most, float(places[min(int(np.searchsorted(sums, 1 - tail)), len(places) - 1)]))
    if most - least > 0.8 * (high - low):
        return low, high, False
    return max(low, least), min(high, most), True


def _thinned(curve: Any, low: float, high: float) -> tuple[list[float], list[float]]:
    """The part of the curve to be seen, neighbours averaged where there are more than can be seen."""
    seen = (curve.values >= low) & (curve.values <= high)
    places, heights = curve.values[seen], curve.heights[seen]
    each = -(-len(places) // POINTS)
    whole = len(places) // each * each
    return places[:whole].reshape(-1, each).mean(axis=1).tolist(), heights[:whole].reshape(-1, each).mean(axis=1).tolist()


def _range(curves: Sequence[Any]) -> str:
    ends = (float(curves[0].values[0]), float(curves[0].values[-1]))
    return " and ".join(map(_short, ends))


def _short(number: float) -> str:
    return f"{number:.4g}".replace("-", "\N{MINUS SIGN}")


def _atoms(heights: list[float], width: float) -> tuple[list[float], list[tuple[int, float]]]:
    """The density without its single reports, and those with their probabilities."""
    rest, single = list(heights), []
    for i, height in enumerate(heights):
        around = [heights[j] for j in (i - 1, i + 1) if 0 <= j < len(heights)]
        if height * width > 1e-4 and all(height > ATOM * other for other in around) and max(around) >= 0:
            level = max(around)
            single.append((i, (height - level) * width))
            rest[i] = level
    if len(single) > FEW_OUTPUTS:  # a lattice of reports, not a density with a few spikes
        return heights, []
    return rest, single


def _tallest(curve: Any, place: float, width: float, span: tuple[float, float]) -> float:
    """The single report inside a bin; an end of the axis where it is as near as nothing."""
    near = np.abs(curve.values - place) <= 0.51 * width
    at = float(curve.values[near][np.argmax(curve.heights[near])])
    return next((end for end in span if abs(at - end) < SNAP * (span[1] - span[0])), at)


def _singles(spikes: list[dict[str, Any]], names: list[str], colour: Any) -> Any:
    """Single reports, each with a bar for every private value."""
    rows = [{**row, "report": _short(row["report"])} for row in sorted(spikes, key=lambda row: row["report"])]
    order = list(dict.fromkeys(row["report"] for row in rows))
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("report:N", title="single report", sort=order, axis=alt.Axis(ticks=False), scale=alt.Scale(paddingInner=0.25)),
        yOffset=alt.YOffset("value:N", sort=names),
        x=alt.X(
            "probability:Q",
            title="probability of that report",
            scale=alt.Scale(domain=[0, 1.12 * max(row["probability"] for row in rows)], nice=False),
            axis=alt.Axis(format=".0%", tickCount=6),
        ),
    )
    bars = base.mark_bar().encode(color=colour)
    texts = base.mark_text(align="left", dx=5, fontSize=12, color=INK).encode(text="text:N")
    return alt.layer(bars, texts).properties(width=640, height=BAR * (len(names) + 1) * len(order))


def edges(places: list[float], heights: list[float]) -> Iterator[tuple[float, float]]:
    """Where the curve changes, each with the height from there on, and its right end.

    A bin between two levels is cut by an edge of the law: the edge is put where the bin's area says, so no step of its own is seen.
    """
    width = places[1] - places[0] if len(places) > 1 else 1.0
    left = places[0] - width / 2
    yield left, heights[0]
    for i in range(1, len(heights)):
        before, here = heights[i - 1], heights[i]
        if math.isclose(here, before, rel_tol=1e-9):
            continue
        if _cut(heights, i):
            after = heights[i + 1]
            yield left + width * (i + (here - after) / (before - after)), after
        elif not _cut(heights, i - 1):  # else the change into this bin was drawn with the one before
            yield left + width * i, here
    yield left + width * len(heights), heights[-1]


def _cut(heights: list[float], i: int) -> bool:
    if not 2 <= i < len(heights) - 2:
        return False
    before, here, after = heights[i - 1 : i + 2]
    jump = abs(after - before)
    level = abs(before - heights[i - 2]) < LEVEL * jump and abs(after - heights[i + 2]) < LEVEL * jump
    return level and min(before, after) < here < max(before, after)
