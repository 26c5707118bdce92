"""What a reported number looks like, for several private values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
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
PROMISE = "any report is at most e^ε times as likely for one private value as for another"


def density_chart(mechanism: Mechanism, values: Sequence[Any]) -> Any:
    """The density of the reported number for each private value, from the mechanism's own weights.

    Single reports that many cells share (clipped ends, two-point mechanisms) are spikes with their probability. Where reports
    reach far beyond the domain, the axis ends where 99 % of them lie, and the subtitle says so.
    """
    title = f"{mechanism.name} at ε = {mechanism.privacy}"
    if mechanism.channel.outputs <= FEW_OUTPUTS:
        return themed(_bars(mechanism, values), title=title, subtitle=PROMISE)
    # One bin for each output where that is possible: bins that hold now one output, now two, would look like stripes.
    points = mechanism.channel.outputs if mechanism.channel.outputs <= MOST_POINTS else POINTS
    curves = [density(mechanism, value, points) for value in values]
    low, high, beyond = _window(mechanism, curves)
    names = [f"{float(value):g}" for value in values]
    steps, spikes = [], []
    for name, curve in zip(names, curves, strict=True):
        places, heights = _thinned(curve, low, high)
        half = (places[1] - places[0]) / 2 if len(places) > 1 else 0.5
        rest, single = _atoms(heights, 2 * half)
        spikes += [{"report": places[i], "text": f"{100 * share:.3g} %", "value": name} for i, share in single]
        steps += [{**row, "report": min(max(row["report"], low), high)} for row in _steps(places, rest, half, name)]
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
    subtitle = [PROMISE]
    if spikes:
        layers += _spikes(spikes, names, most, (low, high), colour)
        subtitle.append("dashed lines are single reports with their probability")
    if beyond:
        subtitle.append(f"the axis holds at least {100 * SHOWN_MASS:g} % of the reports; all lie between {_range(curves)}")
    return themed(alt.layer(*layers).properties(width=640, height=320), title=title, subtitle="\n".join(subtitle))


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
    if high - low <= 3 * float(domain.width):
        return low, high, False
    least, most = float(domain.low), float(domain.low + domain.width)
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


def _spikes(spikes: list[dict[str, Any]], names: list[str], most: float, span: tuple[float, float], colour: Any) -> list[Any]:
    """Dashed lines from top to bottom, side by side where several private values share a place, each with its probability."""
    width = span[1] - span[0]
    rows = []
    for spike in spikes:
        place = names.index(spike["value"])
        at = min(max(spike["report"], span[0]), span[1]) + (place - (len(names) - 1) / 2) * 0.004 * width
        rows.append(
            {**spike, "report": at, "bottom": 0.0, "top": most * (1.04 - 0.07 * place), "right": spike["report"] > sum(span) / 2}
        )
    data = alt.Chart(inline(rows))
    rules = data.mark_rule(strokeWidth=2, strokeDash=[5, 3]).encode(x="report:Q", y="bottom:Q", y2="top:Q", color=colour)
    texts = [
        data.transform_filter(f"datum.right === {'true' if right else 'false'}")
        .mark_text(align="right" if right else "left", dx=-7 if right else 7, fontSize=12, color=INK)
        .encode(x="report:Q", y="top:Q", text="text:N")
        for right in (False, True)
    ]
    return [rules, *texts]


def _steps(places: list[float], heights: list[float], half: float, name: str) -> Iterator[dict[str, Any]]:
    """The curve's left edges, without those where nothing changes, and its right end."""
    yield {"report": places[0] - half, "density": heights[0], "value": name}
    for (_, before), (place, height) in pairwise(zip(places, heights, strict=True)):
        if not math.isclose(height, before, rel_tol=1e-9):
            yield {"report": place - half, "density": height, "value": name}
    yield {"report": places[-1] + half, "density": heights[-1], "value": name}
